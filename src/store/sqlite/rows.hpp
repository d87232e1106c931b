// The rows of the tables: read, and written inside a transaction of the caller.
#pragma once

#include "store/sqlite/database.hpp"

#include <assent/checkpointer.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assent::sqlite {

/// All members throw Error. Whether a runner lives is not a matter of rows: heads are given without.
class Rows {
public:
    explicit Rows(Database& database) noexcept : database_(database) {}

    /// Checks the preconditions of one append and writes its rows. Refused, it has written nothing.
    /// `body_digest`: of its salt and body, see journal::Header.
    AppendResult write(const Append& append, const std::string& body_digest, std::int64_t runner,
                       const std::function<bool(std::int64_t)>& alive);

    std::optional<ThreadHead> find_thread(const std::string& id);
    std::vector<ThreadHead> threads();
    std::vector<ThreadHead> descendants(const std::string& thread_id);
    std::vector<JournalRow> load(const std::string& thread_id, std::int64_t after);
    std::vector<OpenApproval> open_approvals(const std::string& thread_id, std::int64_t after, std::size_t limit);
    OpenCount count_open();
    std::optional<ApprovalPlace> find_approval(std::int64_t number);
    std::optional<std::string> schema(const std::string& digest);
    std::optional<Snapshot> snapshot(const std::string& thread_id);
    void give_back(const std::string& thread_id, std::int64_t fence, std::int64_t runner);

private:
    ThreadHead head_of(const std::string& id);
    AppendStatus check(const Append& append, const ThreadHead& head, const std::function<bool(std::int64_t)>& alive,
                       AppendResult& result);
    bool any_aborted(const std::vector<std::string>& threads);
    std::int64_t make_thread(const Append& append);
    void close_approvals(const Append& append, std::int64_t thread);
    std::int64_t next_number();
    void write_row(const Append& append, const std::string& body_digest, ThreadHead& head, std::int64_t first_number);
    void open_approvals_of(const Append& append, const ThreadHead& head, std::int64_t number);
    void keep_extras(const Append& append, const ThreadHead& head);
    void prune(const ThreadHead& head, std::int64_t upto);
    void update_thread(const ThreadHead& head);
    std::string describe_runner(std::int64_t runner);

    Database& database_;
};

}  // namespace assent::sqlite
