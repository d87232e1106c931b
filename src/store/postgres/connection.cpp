#include "store/postgres/connection.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

namespace assent::postgres {
namespace {

// libpq writes several lines, and what matters stands in the first.
std::string first_line(const char* message) {
    const std::string_view text = message == nullptr ? "" : message;
    return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

Failure failure_of(const Error& error) {
    struct Words {
        std::string_view state;  // or the class of states it begins with
        const char* text;
    };
    static constexpr Words known[] = {
        {"28", "refuses this user; check the user and password of the address"},
        {"3D000", "does not exist on this server; make it or give another one"},
        {"42501", "may not be used by this role; grant it what docs/guides/postgresql.md lists"},
        {"53100", "cannot grow, the disk of the server is full; free some space"},
        {"53300", "has no connection free; raise max_connections or use fewer"},
        {"57P", "is shutting down or starting; try again in a moment"},
        {"25006", "is read-only; connect to the primary server"},
    };
    const std::string where = "the PostgreSQL database ";
    for (const auto& words : known) {
        if (error.state().starts_with(words.state)) return {FailureKind::database, where + words.text};
    }
    if (error.state().empty())
        return {FailureKind::database,
                where + "cannot be reached: " + error.what() + "; check its address and that it runs"};
    return {FailureKind::database, where + "failed: " + error.what()};
}

Parameters& Parameters::add(std::int64_t value) {
    values_.push_back({.bytes = std::to_string(value)});
    return *this;
}

void check_text(std::string_view text) {
    // The server ends a text there, and would keep another one than was meant.
    if (text.contains('\0')) throw Error("22021", "a text with a zero byte cannot be kept", false);
}

Parameters& Parameters::add(std::string_view text) {
    check_text(text);
    values_.push_back({.bytes = std::string(text)});
    return *this;
}

Parameters& Parameters::add_bytes(std::string_view bytes) {
    values_.push_back({.bytes = std::string(bytes), .binary = true});
    return *this;
}

Parameters& Parameters::add_null() {
    values_.push_back({});
    return *this;
}

Parameters::Raw Parameters::raw() const {
    Raw raw;
    for (const auto& value : values_) {
        raw.values.push_back(value.bytes ? value.bytes->c_str() : nullptr);
        raw.lengths.push_back(value.bytes ? static_cast<int>(value.bytes->size()) : 0);
        raw.formats.push_back(value.binary ? 1 : 0);
    }
    return raw;
}

std::int64_t Rows::integer(int row, int column) const {
    const auto digits = text(row, column);
    std::int64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

std::string Rows::text(int row, int column) const {
    return {PQgetvalue(result_.get(), row, column), static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

std::string Rows::bytes(int row, int column) const {
    std::size_t size = 0;
    const std::unique_ptr<unsigned char, void (*)(void*)> raw(
        PQunescapeBytea(reinterpret_cast<const unsigned char*>(PQgetvalue(result_.get(), row, column)), &size),
        &PQfreemem);
    if (raw == nullptr) throw std::bad_alloc();
    return {reinterpret_cast<const char*>(raw.get()), size};
}

bool Rows::boolean(int row, int column) const {
    return text(row, column) == "t";
}

std::int64_t Rows::changed() const {
    const std::string_view digits = PQcmdTuples(result_.get());
    std::int64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

Connection::Connection(const std::string& url, const PostgresOptions& options)
    : prepared_(options.prepared), answer_ms_(options.answer_ms) {
    const auto seconds =
        std::to_string(std::max<std::int64_t>(2, (options.connect_ms + 999) / 1000));  // libpq's own least
    const auto silence = std::to_string(options.answer_ms);
    // What stands before the address gives way to what the address says.
    const char* const keys[] = {"keepalives_idle",
                                "keepalives_interval",
                                "keepalives_count",
                                "tcp_user_timeout",
                                "dbname",
                                "connect_timeout",
                                "fallback_application_name",
                                "client_encoding",
                                nullptr};
    const char* const values[] = {"10",     "5",    "3",    silence.c_str(), url.c_str(), seconds.c_str(),
                                  "assent", "UTF8", nullptr};
    constexpr int expand_url = 1;
    connection_.reset(PQconnectdbParams(keys, values, expand_url));
    if (connection_ == nullptr) throw std::bad_alloc();
    if (PQstatus(connection_.get()) != CONNECTION_OK) throw error(nullptr);
    // Notices are for people at a prompt.
    PQsetNoticeReceiver(connection_.get(), [](void*, const PGresult*) {}, nullptr);
}

Error Connection::error(const PGresult* result) const {
    const char* state = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    // With these the server says that it closes the connection, which libpq notices later. A server that ends says so
    // also about what it has committed.
    static constexpr std::string_view ends[] = {"57P", "08", "25P03"};
    const bool told = state != nullptr && std::ranges::any_of(ends, [&](std::string_view end) {
                          return std::string_view(state).starts_with(end);
                      });
    const bool lost = told || PQstatus(connection_.get()) != CONNECTION_OK;
    const char* primary = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    return {state == nullptr ? "" : state, first_line(primary != nullptr ? primary : PQerrorMessage(connection_.get())),
            lost};
}

bool Connection::usable() const noexcept {
    return !given_up_ && PQstatus(connection_.get()) == CONNECTION_OK &&
           PQtransactionStatus(connection_.get()) == PQTRANS_IDLE &&
           PQpipelineStatus(connection_.get()) == PQ_PIPELINE_OFF;
}

bool Connection::in_transaction() const noexcept {
    const auto status = PQtransactionStatus(connection_.get());
    return !given_up_ && (status == PQTRANS_INTRANS || status == PQTRANS_INERROR);
}

// A server that hangs, or a way to it that swallows all, would hold whoever asks for ever.
void Connection::wait_for_answer() {
    auto* raw = connection_.get();
    while (PQisBusy(raw) == 1) {
        pollfd waits{.fd = PQsocket(raw), .events = POLLIN};
        const int ready = poll(&waits, 1, static_cast<int>(answer_ms_));
        if (ready < 0 && errno == EINTR) continue;
        if (ready == 0) {
            given_up_ = true;
            throw Error("", "it does not answer", true);
        }
        if (PQconsumeInput(raw) != 1) return;  // the next result says why
    }
}

bool Connection::local() const noexcept {
    const char* host = PQhost(connection_.get());
    return host != nullptr && (*host == '/' || *host == '@');
}

std::string Connection::ssl_mode() const {
    const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> options(PQconninfo(connection_.get()),
                                                                                 &PQconninfoFree);
    for (const auto* option = options.get(); option != nullptr && option->keyword != nullptr; ++option) {
        if (std::string_view(option->keyword) == "sslmode" && option->val != nullptr) return option->val;
    }
    return {};
}

std::string Connection::name_of(const char* sql) {
    return "s" + std::to_string(reinterpret_cast<std::uintptr_t>(sql));
}

Rows Connection::run(const char* sql, const Parameters& parameters) {
    Pipeline pipeline(*this);
    pipeline.add(sql, parameters);
    auto results = pipeline.finish();
    return std::move(results.front());
}

void Connection::execute(const std::string& sql) {
    const std::unique_ptr<PGresult, void (*)(PGresult*)> result(PQexec(connection_.get(), sql.c_str()), &PQclear);
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY)
        throw error(result.get());
}

void Connection::listen(const std::string& channel) {
    execute("LISTEN " + channel);
    listens_ = true;
}

std::vector<std::string> Connection::notices() {
    auto* raw = connection_.get();
    if (PQconsumeInput(raw) != 1) throw error(nullptr);
    std::vector<std::string> all;
    while (true) {
        const std::unique_ptr<PGnotify, void (*)(void*)> notice(PQnotifies(raw), &PQfreemem);
        if (notice == nullptr) break;
        if (notice->be_pid != PQbackendPID(raw)) all.emplace_back(notice->extra);
    }
    return all;
}

Connection::Pipeline::Pipeline(Connection& connection) : connection_(connection) {
    if (PQenterPipelineMode(connection_.connection_.get()) != 1) throw connection_.error(nullptr);
}

Connection::Pipeline::~Pipeline() {
    // Left before its end: what was sent is answered first, and nobody asks what.
    if (!finished_) {
        try {
            (void)finish();
        } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the exception under way tells more
        }
    }
}

void Connection::Pipeline::add(const char* sql, const Parameters& parameters) {
    auto* raw = connection_.connection_.get();
    const auto values = parameters.raw();
    constexpr int text_results = 0;
    int sent = 0;
    if (!connection_.prepared_) {
        sent = PQsendQueryParams(raw, sql, parameters.count(), nullptr, values.values.data(), values.lengths.data(),
                                 values.formats.data(), text_results);
    } else {
        const auto name = name_of(sql);
        if (!connection_.known_.contains(sql) && std::find(sent_.begin(), sent_.end(), sql) == sent_.end()) {
            if (PQsendPrepare(raw, name.c_str(), sql, 0, nullptr) != 1) throw connection_.error(nullptr);
            sent_.push_back(sql);
        }
        sent = PQsendQueryPrepared(raw, name.c_str(), parameters.count(), values.values.data(), values.lengths.data(),
                                   values.formats.data(), text_results);
    }
    if (sent != 1) throw connection_.error(nullptr);
    sent_.push_back(nullptr);
}

std::vector<Rows> Connection::Pipeline::finish() {
    finished_ = true;
    auto* raw = connection_.connection_.get();
    std::optional<Error> failed;
    std::vector<Rows> results;
    const auto next_result = [&] {
        connection_.wait_for_answer();
        return PQgetResult(raw);
    };
    if (PQpipelineSync(raw) != 1) failed = connection_.error(nullptr);
    for (const char* prepared : sent_) {
        if (failed && failed->connection_lost()) break;
        PGresult* result = next_result();
        if (result == nullptr) {
            failed = connection_.error(nullptr);
            break;
        }
        Rows rows(result);
        const auto status = PQresultStatus(result);
        const bool done = status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
        // What stands behind the first that failed was not run.
        if (!done && !failed) failed = connection_.error(result);
        PQclear(next_result());  // each statement ends with an empty one
        if (prepared == nullptr) {
            results.push_back(std::move(rows));
        } else if (done) {
            connection_.known_.insert(prepared);
        }
    }
    // What stands alone is committed when the server comes to the end of all, after it has said how each went: there
    // may be an error, with an empty result behind it, before the end.
    bool synced = false;
    for (int left = 3; left > 0 && !synced && !(failed && failed->connection_lost()); --left) {
        const std::unique_ptr<PGresult, void (*)(PGresult*)> end(next_result(), &PQclear);
        synced = PQresultStatus(end.get()) == PGRES_PIPELINE_SYNC;
        const bool ended = PQstatus(raw) != CONNECTION_OK;
        if (!synced && (ended || (end != nullptr && !failed))) failed = connection_.error(end.get());
    }
    if (!synced && !(failed && failed->connection_lost())) failed = Error("", "it does not answer as it should", true);
    PQexitPipelineMode(raw);
    if (failed) throw std::move(*failed);
    return results;
}

Transaction::~Transaction() {
    if (!connection_.in_transaction()) return;
    try {
        connection_.execute("ROLLBACK");
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the pool drops a connection that cannot
    }
}

}  // namespace assent::postgres
