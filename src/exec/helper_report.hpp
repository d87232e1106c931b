// What the helper program said at its end.
#pragma once

#include "exec/process.hpp"

#include <string>

namespace assent {

/// How it ended, by the helper's status (see helper_protocol.hpp); without the streams. What is not, to
/// the byte, a line that the helper writes says nothing: then it is unknown how it ended. Failure kind
/// `tool` if nothing was run.
Result<ShellEnd> read_helper_report(const std::string& status);

}  // namespace assent
