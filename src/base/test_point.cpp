#include "base/test_point.hpp"

#ifdef ASSENT_TEST_POINTS

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace assent {
namespace {

std::atomic<TestPointListener> test_point_listener = nullptr;

class TestPoints {
public:
    TestPoints() {
        if (const char* at = std::getenv("ASSENT_CRASH_AT")) {
            crash_at_ = at;
            if (const auto colon = crash_at_.rfind(':'); colon != std::string::npos) {
                crash_count_ = std::atoi(crash_at_.c_str() + colon + 1);
                crash_at_.resize(colon);
            }
        }
        if (const char* log = std::getenv("ASSENT_POINT_LOG")) {
            log_ = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        }
        if (const char* stretch = std::getenv("ASSENT_STRETCH_MS")) stretch_ms_ = std::atoi(stretch);
        if (const char* file = std::getenv("ASSENT_WINDOW_FILE")) {
            const int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
            if (fd >= 0 && ftruncate(fd, window_size) == 0) {
                void* map = mmap(nullptr, window_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
                if (map != MAP_FAILED) window_ = static_cast<char*>(map);
            }
            if (fd >= 0) close(fd);
        }
    }

    void pass(const char* name) {
        const std::lock_guard lock(mutex_);
        if (log_ >= 0) {
            const std::string line = std::string(name) + "\n";
            if (write(log_, line.data(), line.size()) < 0) abort();
        }
        if (crash_at_ == name && ++counts_[name] == crash_count_) kill(getpid(), SIGKILL);
        if (window_ != nullptr) {
            std::memset(window_, 0, window_size);
            std::memcpy(window_, name, std::min(std::strlen(name), window_size - 1));
        }
        if (stretch_ms_ > 0) {
            const timespec pause{stretch_ms_ / 1000, (stretch_ms_ % 1000) * 1'000'000L};
            nanosleep(&pause, nullptr);
        }
    }

private:
    static constexpr std::size_t window_size = 64;
    std::mutex mutex_;
    std::map<std::string, int> counts_;
    std::string crash_at_;
    int crash_count_ = 1;
    int log_ = -1;
    int stretch_ms_ = 0;
    char* window_ = nullptr;
};

}  // namespace

void listen_to_test_points(TestPointListener listener) {
    test_point_listener = listener;
}

void test_point(const char* name) {
    if (const auto listener = test_point_listener.load()) listener(name);
    static TestPoints points;
    points.pass(name);
}

}  // namespace assent

#endif
