// Runs all files of cases in a folder.
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

namespace assent::conformance {

/// A case that may fail.
struct Exception {
    std::string file;
    std::string where;  ///< The case's name, or its line number where cases have none.
    std::string reason;
};

/// Reads a list of exceptions; throws std::runtime_error if a line has not its form.
[[nodiscard]] std::vector<Exception> read_exceptions(const std::filesystem::path& file);

/// Prints a line for each kind of file and what failed. Returns the exit status: 0 all passed, 1 a case
/// failed or a file is not known, 2 there is no such folder.
int run_folder(const std::filesystem::path& folder, const std::vector<Exception>& exceptions, std::ostream& out);

}  // namespace assent::conformance
