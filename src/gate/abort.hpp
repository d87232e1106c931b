// Aborting threads: one, and after it those that work for it.
#pragma once

#include "gate/session.hpp"

#include <assent/approvals.hpp>

#include <optional>
#include <string>

namespace assent {

/// Appends `aborted` unless the thread has ended. Failure kinds unknown_thread, database.
Result<AbortResult> abort_thread(ThreadSession& session, const journal::Aborted& event);

/// The same for every thread that works for a call of turn `turn_max` of `thread` or of an earlier one, and has
/// not ended. Gives how many of their calls had been started. None appears any more, since `thread` itself was
/// aborted before.
Result<int> abort_below(Checkpointer& store, const Clock& clock, Random& random, const std::string& thread,
                        int turn_max, const journal::Aborted& event);

}  // namespace assent
