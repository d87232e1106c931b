#include <assent/clock.hpp>

#include "base/time_text.hpp"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace assent {
namespace {

std::int64_t read(clockid_t id) {
    timespec now{};
    clock_gettime(id, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

class SystemClock final : public Clock {
public:
    UnixMillis now() const override { return read(CLOCK_REALTIME); }
    // Counts while the machine is suspended too: a start-by time must not survive a closed lid.
    std::int64_t monotonic() const override { return read(CLOCK_BOOTTIME); }
};

class SystemRandom final : public Random {
public:
    void fill(std::span<std::uint8_t> bytes) override {
        std::size_t done = 0;
        while (done < bytes.size()) {
            const auto got = getrandom(bytes.data() + done, bytes.size() - done, 0);
            if (got > 0) {
                done += static_cast<std::size_t>(got);
            } else if (errno != EINTR) {
                std::fputs("assent: the kernel gives no random numbers\n", stderr);
                std::abort();
            }
        }
    }
};

}  // namespace

void Clock::wait(std::condition_variable_any& changed, std::unique_lock<std::mutex>& lock,
                 std::int64_t milliseconds) const {
    changed.wait_for(lock, std::chrono::milliseconds(milliseconds));
}

const Clock& system_clock() noexcept {
    static const SystemClock clock;
    return clock;
}

Random& system_random() noexcept {
    static SystemRandom random;
    return random;
}

std::string rfc3339(UnixMillis time) {
    const auto seconds = static_cast<std::time_t>(time >= 0 ? time / 1000 : (time - 999) / 1000);
    const auto millis = static_cast<int>(time - static_cast<UnixMillis>(seconds) * 1000);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 80> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900,
                  parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, millis);
    return text.data();
}

std::string seconds_text(std::int64_t milliseconds) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%lld.%03lld", static_cast<long long>(milliseconds / 1000),
                  static_cast<long long>(milliseconds % 1000));
    std::string seconds = text.data();
    seconds.erase(seconds.find_last_not_of('0') + 1);
    if (seconds.back() == '.') seconds.pop_back();
    return seconds;
}

}  // namespace assent
