#include "cli/person_input.hpp"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace assent::cli {
namespace {

// The kernel's line buffer: what is typed beyond it never arrives, and nothing says so.
constexpr std::size_t terminal_line_max = 4094;

}  // namespace

bool PersonInput::pause(int milliseconds) const {
    pollfd wake{.fd = wake_fd_, .events = POLLIN, .revents = 0};
    return poll(&wake, 1, milliseconds) > 0;
}

PersonInput::Line PersonInput::ask(std::string_view question) {
    terminal_.prompt(std::string(question) + " ");
    return read_line();
}

PersonInput::Line PersonInput::ask_afresh(std::string_view question) {
    // The mark that invites to type comes after the throwing away.
    terminal_.prompt(question);
    tcflush(terminal_.streams().in, TCIFLUSH);
    kept_.clear();
    terminal_.prompt("> ");
    return read_line();
}

std::optional<PersonInput::Line> PersonInput::kept_line() {
    const auto end = kept_.find('\n');
    if (end == std::string::npos) return std::nullopt;
    Line line{.status = end >= terminal_line_max ? Status::too_long : Status::line, .text = kept_.substr(0, end)};
    kept_.erase(0, end + 1);
    if (line.text.ends_with('\r')) line.text.pop_back();
    return line;
}

PersonInput::Line PersonInput::read_line() {
    while (true) {
        std::array<pollfd, 2> waits{pollfd{.fd = terminal_.streams().in, .events = POLLIN, .revents = 0},
                                    pollfd{.fd = wake_fd_, .events = POLLIN, .revents = 0}};
        // A signal comes first, also before a line that stands ready.
        const int ready = poll(waits.data(), waits.size(), kept_.find('\n') == std::string::npos ? -1 : 0);
        if (ready < 0 && errno == EINTR) continue;
        if (ready < 0) return {.status = Status::closed};
        if (waits[1].revents != 0) return {.status = Status::interrupted};
        if (auto line = kept_line()) return std::move(*line);
        std::array<char, 8192> buffer{};
        const auto got = read(terminal_.streams().in, buffer.data(), buffer.size());
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        // Half a line is no answer.
        if (got <= 0) return {.status = Status::closed};
        kept_.append(buffer.data(), static_cast<std::size_t>(got));
    }
}

}  // namespace assent::cli
