// doctor: says what keeps an agent from answering its own questions on this machine, and tries it.
#pragma once

#include "cli/context.hpp"

#include <string>
#include <vector>

namespace assent::cli {

enum class Standing {
    ok,
    weak,     ///< Holds less than it could; the line says against what it does not.
    missing,  ///< Does not hold.
};

struct Check {
    std::string name;
    Standing standing = Standing::ok;
    std::string says;
    std::string next;  ///< What to do about it; empty if nothing.
};

/// One line for each protection. Exit status 1 if one is missing.
int doctor_command(Context& context);

/// What can be read off this machine and this process.
[[nodiscard]] std::vector<Check> standing_checks(const Context& context);
/// What the PostgreSQL server says that the database's address names.
[[nodiscard]] std::vector<Check> server_checks(const Context& context);
/// Calls that must be denied, really made: the built-in guard is asked, and a command that tries is run
/// by the helper in a folder of its own, under the same rules as any other.
[[nodiscard]] std::vector<Check> denied_calls(const Context& context);

}  // namespace assent::cli
