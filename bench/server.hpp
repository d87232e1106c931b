// A PostgreSQL server of the benchmark's own, with its data in the benchmark's folder and every setting as it comes:
// each commit is synced.
#pragma once

#include "place.hpp"

#include <libpq-fe.h>

#include <cstdint>
#include <memory>
#include <string>

namespace bench {

class PostgresServer {
public:
    /// Starts it by tools/postgres-server. Throws NotHere where PostgreSQL is not installed.
    explicit PostgresServer(const Place& place);
    PostgresServer(const PostgresServer&) = delete;
    PostgresServer& operator=(const PostgresServer&) = delete;
    /// Stops it.
    ~PostgresServer();

    [[nodiscard]] const std::string& url() const noexcept { return url_; }
    /// The path of one of its programs, such as pgbench.
    [[nodiscard]] std::string program(const std::string& name) const;

    // On a connection of their own, from one thread. Throw std::runtime_error.
    void execute(const std::string& sql) const { (void)text(sql); }
    [[nodiscard]] std::string text(const std::string& sql) const;
    [[nodiscard]] std::int64_t number(const std::string& sql) const { return std::stoll(text(sql)); }

    /// What its processes used so far.
    [[nodiscard]] double cpu_seconds() const;

private:
    void start();
    void stop() const noexcept;

    struct Finish {
        void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
    };
    std::string folder_;     // what tools/postgres-server keeps there
    std::string temporary_;  // and where it keeps the data
    std::string url_;
    std::string main_process_;
    std::unique_ptr<PGconn, Finish> connection_;
};

}  // namespace bench
