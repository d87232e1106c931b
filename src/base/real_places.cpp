#include "base/real_places.hpp"

#include <algorithm>
#include <filesystem>

namespace assent {
namespace {

namespace fs = std::filesystem;

void add(std::vector<std::string>& places, const fs::path& place) {
    auto text = place.lexically_normal().string();
    if (text.size() > 1 && text.ends_with('/')) text.pop_back();
    if (std::find(places.begin(), places.end(), text) == places.end()) places.push_back(std::move(text));
}

}  // namespace

std::vector<std::string> real_places(const std::vector<std::string>& paths) {
    std::vector<std::string> places;
    for (const auto& path : paths) {
        if (path.empty()) continue;
        std::error_code error;
        // Not made shorter as a text: behind a link `..` is not where it was written.
        auto absolute = fs::absolute(path, error);
        if (!absolute.has_filename()) absolute = absolute.parent_path();
        // A place that cannot be looked up, for want of a permission, is taken as it is written.
        const auto real = fs::weakly_canonical(absolute, error);
        add(places, error ? absolute : real);
        const auto name = absolute.filename();
        if (name.empty() || name == "." || name == "..") continue;
        const auto folder = fs::weakly_canonical(absolute.parent_path(), error);
        if (!error) add(places, folder / name);
    }
    return places;
}

}  // namespace assent
