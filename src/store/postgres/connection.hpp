// libpq with destructors and our errors.
#pragma once

#include "store/postgres/binary_array.hpp"

#include <assent/postgres.hpp>
#include <assent/result.hpp>

#include <libpq-fe.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace assent::postgres {

/// What the server, or the way to it, said no to. Caught at the store's members and returned as a Failure.
class Error : public std::runtime_error {
public:
    Error(std::string state, const std::string& message, bool connection_lost)
        : std::runtime_error(message), state_(std::move(state)), connection_lost_(connection_lost) {}
    /// SQLSTATE; empty where the server said nothing.
    [[nodiscard]] const std::string& state() const noexcept { return state_; }
    /// Nothing more can be asked on this connection, and what it was doing may or may not have been done.
    [[nodiscard]] bool connection_lost() const noexcept { return connection_lost_; }

private:
    std::string state_;
    bool connection_lost_;
};

/// A failure kind `database` with words for people.
[[nodiscard]] Failure failure_of(const Error& error);

/// An array of bytes, as statements take them.
std::string_view bytes_of(const auto& array) {
    return {reinterpret_cast<const char*>(array.data()), array.size()};
}

/// Throws Error for a text that the server would not keep as it is.
void check_text(std::string_view text);

/// Values for the `$1`, `$2`, … of a statement. Texts are kept as copies, and checked; numbers as their digits.
class Parameters {
public:
    Parameters& add(std::int64_t value);
    Parameters& add(int value) { return add(static_cast<std::int64_t>(value)); }
    Parameters& add(std::string_view text);
    Parameters& add_bytes(std::string_view bytes);
    Parameters& add_boolean(bool value) { return add(std::string_view(value ? "t" : "f")); }
    Parameters& add_null();
    /// Null if it is empty.
    Parameters& add(const BinaryArray& array) { return array.empty() ? add_null() : add_bytes(array.bytes()); }

    [[nodiscard]] int count() const noexcept { return static_cast<int>(values_.size()); }
    struct Raw {
        std::vector<const char*> values;
        std::vector<int> lengths;
        std::vector<int> formats;
    };
    [[nodiscard]] Raw raw() const;

private:
    struct Value {
        std::optional<std::string> bytes;
        bool binary = false;
    };
    std::vector<Value> values_;
};

/// The rows a statement gave.
class Rows {
public:
    explicit Rows(PGresult* result) : result_(result) {}
    [[nodiscard]] int count() const noexcept { return PQntuples(result_.get()); }
    [[nodiscard]] bool is_null(int row, int column) const noexcept {
        return PQgetisnull(result_.get(), row, column) == 1;
    }
    [[nodiscard]] std::int64_t integer(int row, int column) const;
    [[nodiscard]] std::string text(int row, int column) const;
    [[nodiscard]] std::string bytes(int row, int column) const;
    [[nodiscard]] bool boolean(int row, int column) const;
    /// Rows that a statement changed.
    [[nodiscard]] std::int64_t changed() const;

private:
    struct Clear {
        void operator()(PGresult* result) const noexcept { PQclear(result); }
    };
    std::unique_ptr<PGresult, Clear> result_;
};

class Connection {
public:
    /// Connects. Throws Error. Of the options: `connect_ms`, `answer_ms`, `prepared`.
    Connection(const std::string& url, const PostgresOptions& options);

    /// `sql` must live for ever: prepared statements are known by its address.
    Rows run(const char* sql, const Parameters& parameters = {});
    /// Several statements without parameters, however long they take.
    void execute(const std::string& sql);

    /// Where the tables are, what transactions see, that no statement is worth being compiled, and that rows are found
    /// by their keys: a plan that was made while a table was small stays right. Not through a pooler: what is set stays
    /// with a connection of the server that others use next.
    void prepare_session(const std::string& schema) {
        execute("SET search_path TO \"" + schema +
                "\"; SET default_transaction_isolation TO 'read committed';"
                " SET jit TO off; SET enable_seqscan TO off");
    }

    /// Statements that are sent together and answered together: one way there and back for all of them.
    class Pipeline {
    public:
        explicit Pipeline(Connection& connection);
        Pipeline(const Pipeline&) = delete;
        Pipeline& operator=(const Pipeline&) = delete;
        ~Pipeline();
        void add(const char* sql, const Parameters& parameters = {});
        /// Results in order. Throws what the first that failed said; those behind it were not run.
        std::vector<Rows> finish();

    private:
        Connection& connection_;
        std::vector<const char*> sent_;  // the statement that is prepared; null: one that is run
        bool finished_ = false;
    };

    /// Hears of notices on this channel from now on.
    void listen(const std::string& channel);
    [[nodiscard]] bool listens() const noexcept { return listens_; }
    /// What came since, but for notices of this connection itself. Throws Error where it was lost.
    std::vector<std::string> notices();
    [[nodiscard]] int socket() const noexcept { return PQsocket(connection_.get()); }
    /// Whether the server asked for a password.
    [[nodiscard]] bool used_password() const noexcept { return PQconnectionUsedPassword(connection_.get()) == 1; }
    [[nodiscard]] bool encrypted() const noexcept { return PQsslInUse(connection_.get()) == 1; }
    /// Whether it goes through a socket of this machine, not through a network.
    [[nodiscard]] bool local() const noexcept;
    /// libpq's sslmode, such as "verify-full".
    [[nodiscard]] std::string ssl_mode() const;
    /// The process that whoever answered names as its own; that of a pooler is not the server's.
    [[nodiscard]] int process() const noexcept { return PQbackendPID(connection_.get()); }

    /// Ready for another use: connected, and in no transaction.
    [[nodiscard]] bool usable() const noexcept;
    [[nodiscard]] bool in_transaction() const noexcept;

private:
    [[nodiscard]] Error error(const PGresult* result) const;
    void wait_for_answer();
    static std::string name_of(const char* sql);

    struct Finish {
        void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
    };
    std::unique_ptr<PGconn, Finish> connection_;
    bool prepared_;
    std::int64_t answer_ms_;
    bool given_up_ = false;  // it did not answer: what comes now would answer something else
    bool listens_ = false;
    std::set<const char*> known_;
};

/// Rolls back unless committed.
class Transaction {
public:
    explicit Transaction(Connection& connection) : connection_(connection) {}
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction();

private:
    Connection& connection_;
};

}  // namespace assent::postgres
