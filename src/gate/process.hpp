// Telling processes apart across restarts: pid, start time, boot and host.
#pragma once

#include "journal/events.hpp"

namespace assent {

[[nodiscard]] journal::ProcessMark this_process();

enum class ProcessLife { alive, dead, unknown };
/// Whether the process of `mark` still lives. Unknown when it ran on another host.
[[nodiscard]] ProcessLife life_of(const journal::ProcessMark& mark);

}  // namespace assent
