#include "exec/helper/confinement.hpp"

#include "base/test_switch.hpp"
#include "exec/helper/privileges.hpp"
#include "exec/helper/temporary_folder.hpp"
#include "exec/helper_protocol.hpp"
#include "exec/tool_mark.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

namespace assent {

Reach take_reach(int& argc, char**& argv) {
    Reach reach;
    for (; argc > 1; --argc, ++argv) {
        const char* argument = argv[1];
        if (*argument == helper_closed_mark) {
            reach.closed.emplace_back(argument + 1);
        } else if (*argument == helper_writable_mark) {
            reach.writable.emplace_back(argument + 1);
        } else {
            break;
        }
    }
    return reach;
}

Confinement::~Confinement() {
    if (!temporary_.empty()) remove_temporary_folder(temporary_);
}

const char* Confinement::prepare() {
    if (!mark_tools()) return "mark";
    temporary_ = make_temporary_folder();
    if (temporary_.empty()) return "temporary";
    make_environment();
    // Without links, which Landlock does not follow.
    const std::unique_ptr<char, decltype(&std::free)> workspace(realpath(".", nullptr), &std::free);
    if (workspace == nullptr) return "folder";
    reach_.writable.insert(reach_.writable.end(), {workspace.get(), temporary_});
    ruleset_ = make_ruleset(reach_);
    return ruleset_ == -1 ? "landlock" : nullptr;
}

bool Confinement::enter() const {
    drop_privileges();
    return !ruleset_ || enter_domain(*ruleset_);
}

// The runner has cleaned what we were given.
void Confinement::make_environment() {
    temporary_variable_ = "TMPDIR=" + temporary_;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const auto name = std::string_view(*entry).substr(0, std::strcspn(*entry, "="));
        if (name != "TMPDIR" && name != test_switch_name) environment_.push_back(*entry);
    }
    environment_.push_back(temporary_variable_.data());
    environment_.push_back(nullptr);
}

}  // namespace assent
