// The files of a thread while calls of it run: what is stored, and over it what those calls have changed and
// whose outcome is not stored yet.
#pragma once

#include "journal/thread.hpp"

#include <assent/thread_files.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assent {

class OpenFiles {
public:
    /// Takes in what is stored now, and forgets changes of starts whose calls have ended without them.
    void update(const journal::ThreadState& state);
    enum class Changes { stored, dropped };
    /// The outcome of this start is stored, and its changes with it or not.
    void settle(const std::string& attempt, const journal::ThreadState& state, Changes changes);
    /// What this start makes of the stored files, by path. Left out is what another change that is stored
    /// already was made upon.
    [[nodiscard]] std::vector<journal::FileChange> changes(const std::string& attempt,
                                                           const journal::Files& stored) const;

    [[nodiscard]] std::optional<ThreadFiles::File> read(std::string_view path) const;
    [[nodiscard]] std::vector<std::string> paths() const;
    Result<void> write(const std::string& attempt, std::string_view path, std::string text,
                       std::optional<std::uint64_t> expected);
    Result<void> remove(const std::string& attempt, std::string_view path);

private:
    struct Pending {
        std::string attempt;
        std::string path;
        std::uint64_t number = 0;
        std::shared_ptr<const std::string> text;  ///< Null: removed.
    };

    // With the lock held.
    [[nodiscard]] bool counts(const Pending& change) const;
    [[nodiscard]] journal::Files all() const;
    [[nodiscard]] std::uint64_t revision(std::string_view path) const;
    [[nodiscard]] static Result<void> check_limits(const journal::Files& files, std::string_view path,
                                                   std::size_t bytes);

    mutable std::mutex mutex_;
    journal::Files stored_;
    std::vector<Pending> pending_;                                 // oldest first
    std::map<std::string, std::uint64_t, std::less<>> revisions_;  // of what is stored
    std::uint64_t last_number_ = 0;
};

/// The files as the call of one start sees and changes them. Without an attempt: only to look at.
class FilesOfCall final : public ThreadFiles {
public:
    FilesOfCall(std::shared_ptr<OpenFiles> files, std::string attempt)
        : files_(std::move(files)), attempt_(std::move(attempt)) {}

    [[nodiscard]] std::optional<File> read(std::string_view path) const override { return files_->read(path); }
    [[nodiscard]] std::vector<std::string> paths() const override { return files_->paths(); }
    Result<void> write(std::string_view path, std::string text, std::optional<std::uint64_t> expected) override;
    Result<void> remove(std::string_view path) override;

private:
    std::shared_ptr<OpenFiles> files_;
    std::string attempt_;
};

}  // namespace assent
