// The version and how it was built.
#pragma once

#include <string>

namespace assent::cli {

[[nodiscard]] std::string version_text();
/// The number alone.
[[nodiscard]] std::string program_version();

}  // namespace assent::cli
