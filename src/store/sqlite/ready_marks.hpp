// Which threads somebody should go on with: marks, one a thread, oldest first.
//
// Whoever looks for work reads these few rows and not all the threads that wait for people.
#pragma once

#include "store/sqlite/database.hpp"

#include <assent/checkpointer.hpp>

#include <functional>
#include <string>
#include <vector>

namespace assent::sqlite {

/// All members throw Error. Which runners live is not a matter of rows.
class ReadyMarks {
public:
    using Alive = std::function<bool(std::int64_t)>;

    ReadyMarks(Database& database, const Alive& alive) noexcept : database_(database), alive_(alive) {}

    /// What an append says of its thread, inside its transaction and behind what it writes there. A mark stays as long
    /// as the thread is not taken by somebody who knows of all its events.
    static void note(Database& database, const Append& append, const ThreadHead& head);

    /// Threads without a mark whose runner died, or with an approval whose deadline is before `now`; for one that
    /// works for another, the one that works for none.
    std::vector<std::int64_t> left_alone(UnixMillis now);
    /// Inside a transaction, as the next two.
    void mark(const std::vector<std::int64_t>& threads);
    /// Gives marks to a runner.
    void take(const std::vector<ReadyThread>& ready, std::int64_t runner);
    void put_back(const std::string& thread_id, UnixMillis due);

    /// At most `limit` that nobody alive runs or has taken and that are due at `clock`.
    std::vector<ReadyThread> free(std::size_t limit, UnixMillis clock);

private:
    std::vector<std::int64_t> dead_runners();
    void add_unmarked(std::vector<std::int64_t>& threads, const std::string& id, bool also_aborted);

    Database& database_;
    const Alive& alive_;
};

}  // namespace assent::sqlite
