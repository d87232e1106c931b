// Receipts: what the helper wrote of an attempt, so that how it ended is known after its runner died.
//
// A receipt is a file of the folder, called by its attempt. The runner makes and locks it before it
// starts the helper, which inherits the lock, fills the file and gives it its final name before it
// reports. So an unlocked file that is not complete has no writer any more, and without a file no helper
// was started. A file is believed only if nobody but this user can have made it.
//
// Thread-safety: all of it may be used from several threads and processes at once.
#pragma once

#include "base/unique_fd.hpp"
#include "exec/helper_report.hpp"

#include <assent/clock.hpp>
#include <assent/result.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace assent {

/// How long a helper that outlived its runner is waited for: it has to kill, and to write.
inline constexpr std::chrono::milliseconds receipt_wait{10'000};
/// Receipts that nobody asked for in this time are removed.
inline constexpr std::int64_t receipt_age_max_ms = 30LL * 24 * 60 * 60 * 1000;

/// What was found of one attempt.
struct FoundReceipt {
    enum class State : std::uint8_t {
        none,      ///< No helper was started for it, or its receipt is gone.
        unended,   ///< A helper was started and died before it was done.
        alive,     ///< A helper was started and still lives.
        doubtful,  ///< There is one that must not be believed: `why`.
        complete,  ///< `report`
    };
    State state = State::none;
    HelperReport report;
    std::string why;
};

class Receipts {
public:
    /// Makes the folder if only that is missing. Failure kind `tool`: it is not this user's alone.
    static Result<Receipts> open(const std::string& path);

    /// The file for a new receipt, locked until the last copy of the descriptor is closed.
    Result<UniqueFd> begin(std::string_view attempt) const;
    /// What is known of an attempt whose runner is dead. Waits up to `wait` for a helper that still lives.
    [[nodiscard]] FoundReceipt find(std::string_view attempt, std::chrono::milliseconds wait = receipt_wait) const;
    /// Removes it, unless a helper still lives.
    void remove(std::string_view attempt) const;
    /// Removes receipts that are older than `receipt_age_max_ms` and have no writer.
    void remove_older(UnixMillis now) const;

    [[nodiscard]] int folder() const noexcept { return folder_.get(); }

private:
    explicit Receipts(UniqueFd folder) noexcept : folder_(std::move(folder)) {}
    [[nodiscard]] FoundReceipt read(const std::string& name, std::string_view attempt) const;
    UniqueFd folder_;
};

}  // namespace assent
