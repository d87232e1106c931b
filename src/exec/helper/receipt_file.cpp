#include "exec/helper/receipt_file.hpp"

#include "exec/helper/helper_point.hpp"
#include "exec/helper_protocol.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace assent {
namespace {

bool write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto done = write(fd, bytes.data(), bytes.size());
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(done));
    }
    return true;
}

}  // namespace

void keep_receipt_from_tools() {
    for (const int fd : {helper_receipt_fd, helper_receipts_fd}) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void write_receipt(std::string_view attempt, std::string_view bytes) {
    const std::string name(attempt);
    if (!write_all(helper_receipt_fd, bytes) || fsync(helper_receipt_fd) != 0) return;
    helper_point("receipt:written");
    const auto open_name = name + receipt_open_end;
    if (renameat(helper_receipts_fd, open_name.c_str(), helper_receipts_fd, name.c_str()) != 0) return;
    helper_point("receipt:named");
    fsync(helper_receipts_fd);
}

}  // namespace assent
