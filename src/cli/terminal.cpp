#include "cli/terminal.hpp"

#include "base/display.hpp"
#include "cli/event_log.hpp"
#include "cli/json_out.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace assent::cli {
namespace {

constexpr int width_default = 80;

void write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const auto wrote = ::write(fd, text.data(), text.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return;  // nobody reads any more: there is nobody to tell
        text.remove_prefix(static_cast<std::size_t>(wrote));
    }
}

std::string_view code(Style style) {
    switch (style) {
        case Style::plain:
            return "";
        case Style::bold:
            return "\x1b[1m";
        case Style::dim:
            return "\x1b[2m";
        case Style::red:
            return "\x1b[31m";
        case Style::green:
            return "\x1b[32m";
        case Style::yellow:
            return "\x1b[33m";
        case Style::cyan:
            return "\x1b[36m";
    }
    return "";
}

}  // namespace

void Terminal::set_color(const std::string& when) {
    color_ = when == "always" || (when == "auto" && isatty(streams_.out) == 1 && isatty(streams_.err) == 1 &&
                                  std::getenv("NO_COLOR") == nullptr);
}

bool Terminal::interactive() const {
    return !json && isatty(streams_.in) == 1 && isatty(streams_.err) == 1;
}

int Terminal::width() const {
    winsize size{};
    return ioctl(streams_.err, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : width_default;
}

void Terminal::out(std::string_view text) const {
    write_all(streams_.out, std::string(text) + "\n");
}

void Terminal::note(std::string_view text) const {
    if (log_json) {
        log(log_line(LogLevel::info, "note").text("message", text).str());
    } else if (!quiet && !json) {
        write_all(streams_.err, std::string(text) + "\n");
    }
}

void Terminal::log(std::string_view line) const {
    if (log_json) write_all(streams_.err, std::string(line) + "\n");
}

void Terminal::prompt(std::string_view text) const {
    write_all(streams_.err, text);
}

int Terminal::fail(const Failure& failure, std::string_view more_json) const {
    if (json) {
        JsonObject error;
        error.text("kind", to_string(failure.kind)).text("message", failure.message);
        auto text = error.str();
        if (!more_json.empty()) text = text.substr(0, text.size() - 1) + ", " + std::string(more_json) + "}";
        out(JsonObject().raw("error", text).str());
    } else if (log_json) {
        log(log_line(LogLevel::error, "failed")
                .text("kind", to_string(failure.kind))
                .text("message", safe_to_show(failure.message).text)
                .str());
    } else {
        write_all(streams_.err, "assent: " + safe_to_show(failure.message).text + "\n");
    }
    return failure.kind == FailureKind::usage ? exit_usage : exit_failed;
}

void open_standard_streams() {
    // The lowest free number is given: after the streams nothing is left to fill.
    int fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO) fd = open("/dev/null", O_RDWR);
    if (fd > STDERR_FILENO) close(fd);
}

std::string Terminal::styled(Style style, std::string_view text) const {
    if (!color_ || style == Style::plain) return std::string(text);
    return std::string(code(style)) + std::string(text) + "\x1b[0m";
}

}  // namespace assent::cli
