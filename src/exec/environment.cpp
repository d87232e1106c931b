#include "exec/process.hpp"

#include "base/test_point.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

namespace assent {
namespace {

constexpr std::array<std::string_view, 9> usual_names{"PATH", "HOME",    "LANG",  "TZ",    "TERM",
                                                      "USER", "LOGNAME", "SHELL", "TMPDIR"};
constexpr std::string_view usual_path = "PATH=/usr/local/bin:/usr/bin:/bin";

}  // namespace

std::vector<std::string> tool_environment(const std::vector<std::string>& extra_names) {
    std::vector<std::string> out;
    bool path_seen = false;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const auto name = text.substr(0, text.find('='));
        const bool usual = std::find(usual_names.begin(), usual_names.end(), name) != usual_names.end();
        const bool extra = std::find(extra_names.begin(), extra_names.end(), name) != extra_names.end();
        const bool of_test = test_points_compiled && name.starts_with("ASSENT_HELPER_");
        if (!usual && !extra && !of_test && !name.starts_with("LC_")) continue;
        path_seen = path_seen || name == "PATH";
        out.emplace_back(text);
    }
    if (!path_seen) out.emplace_back(usual_path);
    return out;
}

}  // namespace assent
