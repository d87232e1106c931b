// What surrounds the line: what it may reach, its environment, its temporary folder.
#pragma once

#include "exec/helper/landlock.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assent {

/// The paths at the beginning of the helper's arguments, which are taken off them.
[[nodiscard]] Reach take_reach(int& argc, char**& argv);

class Confinement {
public:
    explicit Confinement(Reach reach) : reach_(std::move(reach)) {}
    Confinement(const Confinement&) = delete;
    Confinement& operator=(const Confinement&) = delete;
    /// Ends with the helper: the temporary folder goes.
    ~Confinement();

    /// In the helper, once it is where the line will begin, and before it starts anything. The name of the
    /// step that failed, with errno; null if none did.
    [[nodiscard]] const char* prepare();
    /// In the child, as the last thing before it becomes the shell. False with errno.
    [[nodiscard]] bool enter() const;
    /// For the child, to become the shell with.
    [[nodiscard]] char* const* environment() const noexcept { return environment_.data(); }

private:
    void make_environment();

    Reach reach_;
    std::string temporary_;
    std::string temporary_variable_;
    std::vector<char*> environment_;
    std::optional<int> ruleset_;
};

}  // namespace assent
