// The rows of the tables: read, and written in transactions.
#pragma once

#include "store/postgres/append_call.hpp"
#include "store/postgres/connection.hpp"

#include <assent/checkpointer.hpp>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assent::postgres {

/// All members throw Error.
class Tables {
public:
    /// `schema`: set for each transaction, for poolers that give each to another connection; empty: it was set
    /// for the connection. `server_time`: as in PostgresOptions.
    Tables(Connection& connection, std::string schema, bool server_time)
        : connection_(connection), schema_(std::move(schema)), server_time_(server_time) {}

    [[nodiscard]] Connection& connection() const noexcept { return connection_; }

    /// One append, in a transaction of its own. Refused, it has written nothing. `uncertain` where the connection
    /// was lost while it was made; its fence is then the one of the thread if it was kept. A failure: `runner` may not
    /// take threads any more.
    Result<AppendResult> write(const Append& append, std::int64_t runner);
    /// What was asked for together.
    struct Together {
        /// Those of the threads that are there, in any order; none: something went wrong with an append.
        std::optional<std::vector<ThreadHead>> heads;
        WrittenTogether written;
    };
    /// Threads with these ids, and several appends in one transaction, none of which has threads above it: each
    /// is_one_statement, of a thread of its own, in the order of their ids. One that is refused, or not done, leaves
    /// the others as they are. The threads are read as they were before.
    Together together(std::span<const std::string> ids, std::span<const RowAppend* const> appends);
    /// Whether `write` sends all at once, at first at least: what does not come back may still be under way then, and
    /// no lock tells whether it is. Such an append says at which event the thread stands, so it can be made only once.
    [[nodiscard]] static bool is_one_statement(const Append& append);
    /// What became of such an append: it has its row; it can have none any more, since the thread has gone on; or it
    /// may still be made, as far as the thread tells.
    enum class Fate { kept, over, open };
    Fate fate_of(const Append& append);

    std::optional<ThreadHead> find_thread(const std::string& id);
    std::vector<ThreadHead> threads();
    std::vector<ThreadHead> descendants(const std::string& thread_id);
    /// Rows of the thread with this number after position `after`, oldest first.
    std::vector<JournalRow> journal(std::int64_t thread_no, std::int64_t after);
    std::vector<OpenApproval> open_approvals(const std::string& thread_id, std::int64_t after, std::size_t limit);
    OpenCount count_open();
    std::optional<ApprovalPlace> find_approval(std::int64_t number);
    std::optional<std::string> schema_text(const std::string& digest);
    std::optional<Snapshot> snapshot(const std::string& thread_id);
    /// If `runner` holds it under this fence. `goes_on`: a worker should go on with it. False: nobody has taken it
    /// under this fence yet.
    bool give_back(const std::string& thread_id, std::int64_t fence, std::int64_t runner, bool goes_on);
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
    static void add_thread(Connection::Pipeline& pipeline, const Append& append);
    Together call(std::span<const std::string> ids, std::span<const RowAppend* const> appends, bool waits);
    Result<AppendResult> write_locked(const Append& append, std::int64_t runner);
    /// What the statements say, or that nobody knows what became of the append.
    static Result<AppendResult> finish(Connection::Pipeline& pipeline, const RowAppend& row,
                                       const std::function<Result<AppendResult>(const std::vector<Rows>&)>& result_in);

    Connection& connection_;
    std::string schema_;
    bool server_time_;
};

}  // namespace assent::postgres
