// Which processes are alive: each holds a lock on its own byte of a side file.
//
// Open-file-description locks: they vanish with the process, however it ends, and are not dropped when
// some other part of the process opens and closes the same file. The database file itself is never
// opened here: that would drop SQLite's own locks.
#pragma once

#include <assent/result.hpp>

#include <cstdint>
#include <string>

namespace assent::sqlite {

/// The boot id and host of this machine, and a way to name this process for people.
[[nodiscard]] std::string boot_id();
[[nodiscard]] std::string host_name();

class RunnerLocks {
public:
    /// Opens or makes `path` with mode 0600.
    static Result<RunnerLocks> open(const std::string& path);
    RunnerLocks(RunnerLocks&& other) noexcept;
    RunnerLocks& operator=(RunnerLocks&&) = delete;
    RunnerLocks(const RunnerLocks&) = delete;
    RunnerLocks& operator=(const RunnerLocks&) = delete;
    ~RunnerLocks();

    /// Holds the byte of runner `no` until this object is destroyed. False if it is held already.
    [[nodiscard]] bool hold(std::int64_t no) noexcept;
    void release(std::int64_t no) noexcept;
    /// True if some live process holds the byte of runner `no`. Not for the own byte.
    [[nodiscard]] bool held(std::int64_t no) const noexcept;

private:
    explicit RunnerLocks(int fd) noexcept : fd_(fd) {}
    int fd_;
};

}  // namespace assent::sqlite
