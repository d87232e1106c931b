// What the kernel's Landlock can do: asked at run time, since a program outlives the kernel it was built for.
//
// Rights and structures are written down here and not taken from the system's header, which knows only
// those of its own age. The numbers are the kernel's interface and never change.
#pragma once

#include <cstdint>

namespace assent::landlock {

inline constexpr std::uint64_t execute = 1U << 0;
inline constexpr std::uint64_t write_file = 1U << 1;
inline constexpr std::uint64_t read_file = 1U << 2;
inline constexpr std::uint64_t read_dir = 1U << 3;
inline constexpr std::uint64_t make_char = 1U << 6;
inline constexpr std::uint64_t make_block = 1U << 11;
inline constexpr std::uint64_t refer = 1U << 13;      ///< From ABI 2: link or rename between folders.
inline constexpr std::uint64_t truncate = 1U << 14;   ///< From ABI 3.
inline constexpr std::uint64_t ioctl_dev = 1U << 15;  ///< From ABI 5.
inline constexpr std::uint64_t all_of_abi_1 = (1U << 13) - 1;

inline constexpr std::uint64_t scope_abstract_socket = 1U << 0;  ///< From ABI 6, as is the next.
inline constexpr std::uint64_t scope_signal = 1U << 1;

/// The version of the interface, or 0 if this kernel has no Landlock or has it switched off.
[[nodiscard]] int abi() noexcept;

/// All rights to files that this version can take away.
[[nodiscard]] std::uint64_t file_rights(int abi) noexcept;
/// What else it can keep a process from reaching.
[[nodiscard]] std::uint64_t scopes(int abi) noexcept;

}  // namespace assent::landlock
