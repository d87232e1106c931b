// A call of append_rows: what it is given, and what it says.
#pragma once

#include "journal/encoding.hpp"
#include "store/postgres/connection.hpp"

#include <assent/checkpointer.hpp>

#include <optional>
#include <span>
#include <vector>

namespace assent::postgres {

/// An append as the function takes it. What takes time is done when it is made, before its turn comes.
struct RowAppend {
    /// By this runner, of a thread that stands at this event and, if it is taken, under this fence.
    RowAppend(const Append& wanted, std::int64_t by, std::int64_t at_seq, std::int64_t under);

    const Append& append;
    std::int64_t runner;
    std::int64_t seq;
    std::int64_t fence;
    journal::HeaderParts header;  ///< Empty without events.
};

/// The result of one of which nobody heard: under which fence it would hold its thread, and why, for people.
[[nodiscard]] AppendResult doubtful(const RowAppend& row, const std::string& why);

/// The statement, and its parameters for at least one append. Their threads differ, and are in the order of their ids;
/// what has threads above it is called alone. `waits`: for whoever is at a thread. Throws Error for a text that the
/// server would not keep.
extern const char* const append_rows;
[[nodiscard]] Parameters parameters_of(std::span<const RowAppend* const> appends, bool waits, bool server_time);
/// In their order. Nothing: not done, because somebody is at its thread or it stands under another fence. A failure:
/// its runner may not take threads any more.
using WrittenTogether = std::vector<std::optional<Result<AppendResult>>>;
[[nodiscard]] WrittenTogether read_results(const Rows& rows);

/// The beginning of the first prompt, as the server keeps texts.
[[nodiscard]] std::string task_of(const Append& append);

}  // namespace assent::postgres
