// What the line writes: read here and not by the runner, so that it outlives a runner that dies.
#pragma once

#include "base/unique_fd.hpp"
#include "exec/captured_stream.hpp"

namespace assent {

class OutputPipe {
public:
    explicit OutputPipe(std::size_t bytes_max) : kept_(bytes_max) {}

    /// False with errno.
    bool make();
    /// In the process that becomes the shell.
    [[nodiscard]] bool become(int stream) const;
    /// Here only the reading end stays open.
    void close_writing_end() { write_.reset(); }

    /// For poll; -1 once nobody can write any more.
    [[nodiscard]] int fd() const noexcept { return read_.get(); }
    /// Takes what is there, at most about what a pipe holds, so that a flood does not keep us from the
    /// rest. What is too much is still read: the writer must not block.
    void drain();

    [[nodiscard]] CapturedStream take() { return std::move(kept_); }

private:
    CapturedStream kept_;
    UniqueFd read_;
    UniqueFd write_;
};

}  // namespace assent
