#include "exec/landlock_abi.hpp"

#include "base/test_switch.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace assent::landlock {

int abi() noexcept {
    if (switched_off("landlock")) return 0;
    constexpr unsigned ask_version = 1;
    const auto version = static_cast<int>(syscall(SYS_landlock_create_ruleset, nullptr, 0, ask_version));
    if (switched_off("landlock-from-3")) return std::clamp(version, 0, 2);
    return std::max(version, 0);
}

std::uint64_t file_rights(int abi) noexcept {
    if (abi < 1) return 0;
    std::uint64_t rights = all_of_abi_1;
    if (abi >= 2) rights |= refer;
    if (abi >= 3) rights |= truncate;
    if (abi >= 5) rights |= ioctl_dev;
    return rights;
}

std::uint64_t scopes(int abi) noexcept {
    return abi >= 6 ? scope_abstract_socket | scope_signal : 0;
}

}  // namespace assent::landlock
