// A folder for temporary files that ends with the line that used it.
#pragma once

#include <string>

namespace assent {

/// Makes one for this user alone in the folder that TMPDIR names, in /tmp if that cannot be, and returns its path
/// without links; empty with errno if that fails.
[[nodiscard]] std::string make_temporary_folder();

/// Removes it and all in it. Follows no link; what cannot be removed is left.
void remove_temporary_folder(const std::string& path);

}  // namespace assent
