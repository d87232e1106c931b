// The rows of the tables: read, and written in transactions.
#pragma once

#include "store/postgres/connection.hpp"

#include <assent/checkpointer.hpp>

#include <optional>
#include <string>
#include <vector>

namespace assent::postgres {

/// All members throw Error.
class Tables {
public:
    /// What an append needs to know of its thread and of what it closes.
    struct Closing {
        std::int64_t number = 0;
        std::optional<UnixMillis> deadline;
        bool is_past = false;  ///< By the server's clock, after the thread was locked.
    };
    struct Standing {
        ThreadHead head;
        std::string runner_words;
        std::vector<Closing> open;
        bool stopped = false;      ///< A thread above was aborted.
        bool taker_lives = false;  ///< Whose append it is has the right to run threads.
    };

    /// `schema`: set for each transaction, for poolers that give each to another connection; empty: it was set
    /// for the connection. `server_time`: as in PostgresOptions.
    Tables(Connection& connection, std::string schema, bool server_time)
        : connection_(connection), schema_(std::move(schema)), server_time_(server_time) {}

    [[nodiscard]] Connection& connection() const noexcept { return connection_; }

    /// One append, in a transaction of its own. Refused, it has written nothing. `uncertain` where the connection
    /// was lost while it was committed.
    AppendResult write(const Append& append, std::int64_t runner);

    std::optional<ThreadHead> find_thread(const std::string& id);
    std::vector<ThreadHead> threads();
    std::vector<ThreadHead> descendants(const std::string& thread_id);
    std::vector<JournalRow> load(const std::string& thread_id, std::int64_t after);
    std::vector<OpenApproval> open_approvals(const std::string& thread_id, std::int64_t after, std::size_t limit);
    OpenCount count_open();
    std::optional<ApprovalPlace> find_approval(std::int64_t number);
    std::optional<std::string> schema_text(const std::string& digest);
    std::optional<Snapshot> snapshot(const std::string& thread_id);
    /// If `runner` holds it under this fence. `goes_on`: a worker should go on with it.
    void give_back(const std::string& thread_id, std::int64_t fence, std::int64_t runner, bool goes_on);
    /// Returns when an append that was sent before on another connection, and whose end nobody heard of, is over:
    /// what is read afterwards shows whether it was kept.
    void wait_for_append(const Append& append);

    /// Marks threads as ready whose runner died, or with an approval whose deadline is before `now`; removes the
    /// marks of those that have ended.
    void sweep(UnixMillis now);
    /// At most `limit` that are ready, for `runner`. The same `token` when it is tried again: what was taken for it
    /// is given again.
    std::vector<std::string> take_ready(std::size_t limit, std::int64_t runner, std::int64_t token);
    void put_back(const std::string& thread_id, std::int64_t delay_ms);

    /// A new runner, alive for `lease_ms`.
    std::int64_t add_runner(const std::string& host, std::int64_t pid, std::int64_t lease_ms);
    /// Alive for `lease_ms` from now. False: too late.
    bool renew_runner(std::int64_t runner, std::int64_t lease_ms);
    /// Dead from now.
    void end_runner(std::int64_t runner);

private:
    void begin(Connection::Pipeline& pipeline) const;
    Rows read(const char* sql, const Parameters& parameters);
    Standing lock(const Append& append, std::int64_t runner);
    static void add_thread(Connection::Pipeline& pipeline, const Append& append);
    std::int64_t next_numbers(std::size_t count);
    static void add_questions(Connection::Pipeline& pipeline, const Append& append, std::int64_t thread,
                              std::int64_t number);
    static void add_ready(Connection::Pipeline& pipeline, const Append& append, const ThreadHead& head);
    void add_rows(Connection::Pipeline& pipeline, const Append& append, ThreadHead& head, std::int64_t first_number);

    Connection& connection_;
    std::string schema_;
    bool server_time_;
};

}  // namespace assent::postgres
