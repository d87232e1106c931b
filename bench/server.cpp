#include "server.hpp"

#include "child.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* tool = "tools/postgres-server";

// The words behind the name of a process in /proc/PID/stat, which may hold blanks itself.
std::vector<std::string> stat_of(const fs::path& process) {
    std::ifstream file(process / "stat");
    std::string line;
    std::getline(file, line);
    std::vector<std::string> fields;
    std::istringstream words(line.substr(std::min(line.rfind(')') + 1, line.size())));
    for (std::string word; words >> word;) fields.push_back(word);
    return fields;
}

}  // namespace

PostgresServer::PostgresServer(const Place& place)
    : folder_(place.path("server")), temporary_(place.folder().string()) {
    try {
        start();
    } catch (...) {
        stop();
        throw;
    }
}

PostgresServer::~PostgresServer() {
    connection_.reset();
    stop();
}

void PostgresServer::start() {
    if (!fs::exists(tool)) throw NotHere(std::string(tool) + " is not here; run from the top folder of the sources");
    try {
        (void)run_child({"/usr/bin/env", "TMPDIR=" + temporary_, tool, "start", folder_});
    } catch (const std::runtime_error&) {
        throw NotHere("no PostgreSQL server can be started; see above");
    }
    std::ifstream file(folder_ + "/url");
    std::getline(file, url_);
    connection_.reset(PQconnectdb(url_.c_str()));
    std::ifstream process(text("SHOW data_directory") + "/postmaster.pid");
    process >> main_process_;
}

void PostgresServer::stop() const noexcept {
    try {
        (void)run_child({tool, "stop", folder_});
    } catch (const std::exception& problem) {
        std::cerr << "bench: the server is not stopped: " << problem.what() << "\n";
    }
}

std::string PostgresServer::program(const std::string& name) const {
    return text("SELECT setting FROM pg_config WHERE name = 'BINDIR'") + "/" + name;
}

std::string PostgresServer::text(const std::string& sql) const {
    const std::unique_ptr<PGresult, void (*)(PGresult*)> result(PQexec(connection_.get(), sql.c_str()), &PQclear);
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        throw std::runtime_error("the server refuses: " + std::string(PQerrorMessage(connection_.get())));
    return PQntuples(result.get()) == 0 ? "" : PQgetvalue(result.get(), 0, 0);
}

// The main process has counted those of its children that have ended.
double PostgresServer::cpu_seconds() const {
    constexpr std::size_t parent = 1;
    constexpr std::size_t user = 11;
    constexpr std::size_t children_system = 14;
    double ticks = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const auto name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        const auto fields = stat_of(entry.path());
        if (fields.size() <= children_system || (name != main_process_ && fields[parent] != main_process_)) continue;
        for (auto field = user; field <= children_system; ++field) ticks += std::stod(fields[field]);
    }
    return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace bench
