// A workspace with places that threads swap under the feet of the tools: now a folder or file that all may
// use, now a link to what is denied, to what a person has to be asked about, or out of the workspace.
#pragma once

#include "support/dice.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assent::soak {

/// In every file that no tool may read, and in no other.
inline constexpr std::string_view denied_text = "DENIED-TEXT";
/// In the name of an entry of every denied folder; no request names it.
inline constexpr std::string_view denied_name = "denied-name";

/// One place that is swapped by one thread alone.
class SwappedPlace {
public:
    /// What takes the place is made beside the workspace's other folders, in `/spare`.
    SwappedPlace(const std::filesystem::path& root, int number, std::uint64_t seed);

    /// The folder that requests name, as they write it.
    [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
    /// What is swapped, as requests write it: the folder, a folder above it or the file `key` in it.
    [[nodiscard]] const std::string& swapped() const noexcept { return swapped_; }
    [[nodiscard]] std::uint64_t swaps() const noexcept { return swaps_; }

    /// Puts something else in its place, at once. Makes again what tools have deleted.
    void swap();

private:
    void make(const std::filesystem::path& at, bool first);
    void mend(const std::filesystem::path& at);

    std::filesystem::path root_;
    std::string folder_;
    std::string swapped_;
    std::vector<std::string> links_;  // where links in its place lead to
    bool file_ = false;
    std::vector<std::filesystem::path> slots_;  // the place, then the spares
    test::Dice dice_;
    std::atomic<std::uint64_t> swaps_ = 0;
};

/// The folders of the workspace, and what must stay as it is in them.
class World {
public:
    World(const std::filesystem::path& base, int places, std::uint64_t seed);

    [[nodiscard]] std::filesystem::path root() const { return base_ / "workspace"; }
    [[nodiscard]] std::vector<std::unique_ptr<SwappedPlace>>& places() noexcept { return places_; }
    /// What has changed in places where no tool may write; empty: nothing.
    [[nodiscard]] std::string changed() const;

private:
    using Facts = std::map<std::string, std::string>;
    [[nodiscard]] Facts facts() const;

    std::filesystem::path base_;
    std::vector<std::unique_ptr<SwappedPlace>> places_;
    Facts before_;
};

}  // namespace assent::soak
