// How a process finds out that it runs below a shell tool: by its ancestors, and by a mark.
//
// The helper is the reaper of everything the line starts, so whoever detaches itself has it as an
// ancestor all the same; but a process name space of one's own hides ancestors. The mark is a resource
// limit of zero: inherited by everything, lowered no further, and raised only by root. What it limits,
// message queues of the kernel, tools do without.
#pragma once

namespace assent {

/// Name by which the helper is known among the ancestors, whatever its file is called. Its executable
/// cannot be asked for: the helper lets nobody look into it.
inline constexpr const char* helper_process_name = "assent-exec";

/// For the helper: names itself, and marks itself and all that come from it. False with errno.
[[nodiscard]] bool mark_tools();

}  // namespace assent
