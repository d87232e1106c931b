// The version and how it was built.
#pragma once

#include <string>

namespace assent::cli {

[[nodiscard]] std::string version_text();

}  // namespace assent::cli
