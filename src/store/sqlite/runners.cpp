#include "store/sqlite/runners.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace assent::sqlite {
namespace {

struct flock byte_lock(short type, std::int64_t no) noexcept {
    struct flock lock{};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = no;
    lock.l_len = 1;
    return lock;
}

}  // namespace

std::string boot_id() {
    std::array<char, 64> text{};
    const int fd = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return "unknown";
    const auto got = ::read(fd, text.data(), text.size() - 1);
    ::close(fd);
    std::string id(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    while (!id.empty() && id.back() == '\n') id.pop_back();
    return id;
}

std::string host_name() {
    std::array<char, 256> text{};
    if (gethostname(text.data(), text.size() - 1) != 0) return "unknown";
    return text.data();
}

Result<RunnerLocks> RunnerLocks::open(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return Failure{FailureKind::database, "the file " + path + " beside the database cannot be opened: " +
                                                  std::generic_category().message(errno) +
                                                  "; check that the folder exists and may be written"};
    }
    return RunnerLocks(fd);
}

RunnerLocks::RunnerLocks(RunnerLocks&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

RunnerLocks::~RunnerLocks() {
    if (fd_ >= 0) ::close(fd_);
}

bool RunnerLocks::hold(std::int64_t no) noexcept {
    auto lock = byte_lock(F_WRLCK, no);
    return fcntl(fd_, F_OFD_SETLK, &lock) == 0;
}

void RunnerLocks::release(std::int64_t no) noexcept {
    auto lock = byte_lock(F_UNLCK, no);
    fcntl(fd_, F_OFD_SETLK, &lock);
}

bool RunnerLocks::held(std::int64_t no) const noexcept {
    auto lock = byte_lock(F_WRLCK, no);
    // An error is no proof of death.
    return fcntl(fd_, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

}  // namespace assent::sqlite
