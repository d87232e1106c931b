// Writing the receipt. Its file was made and locked by the runner before this program began; the lock is
// held until this program ends, and by nothing that it starts.
#pragma once

#include <string_view>

namespace assent {

/// The descriptors of the receipt are not for the shell.
void keep_receipt_from_tools();

/// The receipt of `attempt` is durable and has its final name when this returns; or, if the disk is full
/// say, there is none: it proves an outcome, it is no condition for one.
void write_receipt(std::string_view attempt, std::string_view bytes);

}  // namespace assent
