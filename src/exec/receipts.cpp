#include "exec/receipts.hpp"

#include "exec/helper_protocol.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>

namespace assent {
namespace {

using namespace std::chrono_literals;
using State = FoundReceipt::State;

constexpr auto look_again_after = 10ms;
// Far more than any output limit that makes sense; a larger file is no receipt.
constexpr off_t receipt_bytes_max = off_t{1} << 30;

Failure system_failure(const std::string& what, int error) {
    return {FailureKind::tool, what + ": " + std::generic_category().message(error)};
}

// Ids of attempts are hex; anything else must not become a path.
bool is_attempt(std::string_view name) {
    return !name.empty() && name.size() <= 64 && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string open_name(std::string_view attempt) {
    return std::string(attempt) + receipt_open_end;
}

FoundReceipt doubtful(std::string why) {
    return {.state = State::doubtful, .why = std::move(why)};
}

// As the runner makes it: nobody else can have put it there or written to it.
bool is_ours(const struct stat& facts) {
    return S_ISREG(facts.st_mode) && facts.st_uid == geteuid() && (facts.st_mode & 07777U) == 0600 &&
           facts.st_nlink == 1 && facts.st_size <= receipt_bytes_max;
}

std::optional<std::string> read_all(int fd, off_t size) {
    std::string bytes(static_cast<std::size_t>(size), '\0');
    std::size_t done = 0;
    while (done < bytes.size()) {
        const auto got = read(fd, bytes.data() + done, bytes.size() - done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return std::nullopt;
        done += static_cast<std::size_t>(got);
    }
    return bytes;
}

enum class Writer { gone, alive, no_file };

// Whether somebody still holds the lock of an incomplete receipt.
Writer writer_of(int folder, const std::string& name) {
    const UniqueFd file(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file.open()) return errno == ENOENT ? Writer::no_file : Writer::gone;
    return flock(file.get(), LOCK_SH | LOCK_NB) == 0 ? Writer::gone : Writer::alive;
}

}  // namespace

Result<Receipts> Receipts::open(const std::string& path) {
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
        return system_failure("the folder of receipts " + path + " cannot be made", errno);
    UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat facts{};
    if (!folder.open() || fstat(folder.get(), &facts) != 0)
        return system_failure("the folder of receipts " + path + " cannot be opened", errno);
    if (facts.st_uid != geteuid() || (facts.st_mode & 0077U) != 0) {
        return Failure{FailureKind::tool,
                       "the folder of receipts " + path + " is open to others; make it yours with mode 0700"};
    }
    return Receipts(std::move(folder));
}

Result<UniqueFd> Receipts::begin(std::string_view attempt) const {
    if (!is_attempt(attempt)) return Failure{FailureKind::tool, "the attempt has no id that names a receipt"};
    UniqueFd file(
        openat(folder_.get(), open_name(attempt).c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file.open()) return system_failure("the receipt cannot be made", errno);
    // Whatever the umask took away: the mode is part of what is believed.
    if (fchmod(file.get(), 0600) != 0 || flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        const int error = errno;
        unlinkat(folder_.get(), open_name(attempt).c_str(), 0);
        return system_failure("the receipt cannot be locked", error);
    }
    return file;
}

FoundReceipt Receipts::read(const std::string& name, std::string_view attempt) const {
    const UniqueFd file(openat(folder_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file.open() && errno == ENOENT) return {};
    struct stat facts{};
    if (!file.open() || fstat(file.get(), &facts) != 0) return doubtful("its receipt cannot be read");
    if (!is_ours(facts)) return doubtful("its receipt was not written by the shell helper");
    const auto bytes = read_all(file.get(), facts.st_size);
    if (!bytes) return doubtful("its receipt cannot be read");
    auto report = read_report(*bytes);
    if (!report) return doubtful("its receipt says nothing: " + report.failure().message);
    if (report->attempt != attempt) return doubtful("its receipt is of another attempt");
    return {.state = State::complete, .report = std::move(report).value()};
}

FoundReceipt Receipts::find(std::string_view attempt, std::chrono::milliseconds wait) const {
    if (!is_attempt(attempt)) return {};
    const auto& clock = system_clock();
    const auto deadline = clock.monotonic() + wait.count();
    for (bool last = false;;) {
        auto found = read(std::string(attempt), attempt);
        if (found.state != State::none) return found;
        const auto writer = writer_of(folder_.get(), open_name(attempt));
        // It may have got its final name since it was looked for: then it is there the second time.
        if (writer != Writer::alive && last) {
            return {.state = writer == Writer::gone ? State::unended : State::none};
        }
        last = writer != Writer::alive;
        if (last) continue;
        if (clock.monotonic() >= deadline) return {.state = State::alive};
        (void)poll(nullptr, 0, static_cast<int>(look_again_after.count()));
    }
}

void Receipts::remove(std::string_view attempt) const {
    if (!is_attempt(attempt)) return;
    if (writer_of(folder_.get(), open_name(attempt)) == Writer::alive) return;
    for (const auto& name : {std::string(attempt), open_name(attempt)}) unlinkat(folder_.get(), name.c_str(), 0);
}

void Receipts::remove_older(UnixMillis now) const {
    const int copy = openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* listing = copy < 0 ? nullptr : fdopendir(copy);
    if (listing == nullptr) return;  // nothing is lost but tidiness
    while (const dirent* entry = readdir(listing)) {
        std::string_view attempt = entry->d_name;
        if (attempt.ends_with(receipt_open_end)) attempt.remove_suffix(std::string_view(receipt_open_end).size());
        struct stat facts{};
        if (!is_attempt(attempt) || fstatat(folder_.get(), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (std::int64_t{facts.st_mtim.tv_sec} * 1000 < now - receipt_age_max_ms) remove(attempt);
    }
    closedir(listing);
}

}  // namespace assent
