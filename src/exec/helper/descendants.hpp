// The processes below this one, found in /proc.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

namespace assent {

struct Descendant {
    pid_t pid = 0;
    pid_t parent = 0;
};

/// All of them, parents before children; nothing if /proc cannot be read.
[[nodiscard]] std::optional<std::vector<Descendant>> descendants();

/// Sends `signal`, unless the process ended meanwhile and its number belongs to another.
void signal_descendant(const Descendant& process, int signal);

}  // namespace assent
