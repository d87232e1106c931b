// Telling processes apart across restarts: pid, start time, boot and host.
#pragma once

#include "journal/events.hpp"

namespace assent {

[[nodiscard]] journal::ProcessMark this_process();

enum class ProcessLife { alive, dead, unknown };
/// Whether the process of `mark` still lives. Unknown when it ran on another host.
[[nodiscard]] ProcessLife life_of(const journal::ProcessMark& mark);

#ifdef ASSENT_TEST_POINTS
/// Stands in for the system, so that one process can play several.
class PlayedProcesses {
public:
    virtual ~PlayedProcesses() = default;
    [[nodiscard]] virtual journal::ProcessMark self() const = 0;
    [[nodiscard]] virtual ProcessLife life_of(const journal::ProcessMark& mark) const = 0;
};
/// Null: the system again. Set while no gate is in use.
void play_processes(const PlayedProcesses* played) noexcept;
#endif

}  // namespace assent
