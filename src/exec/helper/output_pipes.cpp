#include "exec/helper/output_pipes.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace assent {

bool OutputPipe::make() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read_.reset(ends[0]);
    write_.reset(ends[1]);
    return fcntl(read_.get(), F_SETFL, O_NONBLOCK) == 0;
}

bool OutputPipe::become(int stream) const {
    return dup2(write_.get(), stream) >= 0;
}

void OutputPipe::drain() {
    std::array<char, 16 * 1024> buffer{};
    for (int pieces = 0; read_.open() && pieces < 64; ++pieces) {
        const auto size = read(read_.get(), buffer.data(), buffer.size());
        if (size > 0) {
            kept_.add({buffer.data(), static_cast<std::size_t>(size)});
        } else if (size == 0) {
            read_.reset();
        } else if (errno != EINTR) {
            if (errno != EAGAIN) read_.reset();
            return;
        }
    }
}

}  // namespace assent
