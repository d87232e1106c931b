// Where the program writes: results on standard output, notes on standard error, colours on a terminal.
#pragma once

#include <assent/result.hpp>

#include <string>
#include <string_view>

namespace assent::cli {

/// Exit statuses, part of the program's contract.
inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_waiting = 10;
inline constexpr int exit_interrupted = 130;

/// The three streams of the program, or what a test puts in their place.
struct Streams {
    int in = 0;
    int out = 1;
    int err = 2;
};

enum class Style { plain, bold, dim, red, green, yellow, cyan };

class Terminal {
public:
    bool json = false;
    bool quiet = false;
    bool log_json = false;  ///< Standard error holds log lines alone: notes and errors are such lines too.

    Terminal() = default;
    explicit Terminal(Streams streams) : streams_(streams) {}
    [[nodiscard]] const Streams& streams() const noexcept { return streams_; }

    /// `when`: auto, always or never. Colours in `auto` only if standard output and error are terminals
    /// and NO_COLOR is not set.
    void set_color(const std::string& when);
    [[nodiscard]] bool color() const noexcept { return color_; }
    /// True if a person can be asked: standard input and error are terminals and no JSON is wanted.
    [[nodiscard]] bool interactive() const;
    [[nodiscard]] int width() const;

    /// A line (or lines) of results on standard output.
    void out(std::string_view text) const;
    /// A note on standard error; nothing with --quiet or --json.
    void note(std::string_view text) const;
    /// A line of the log on standard error, if there is one; see `log_line`.
    void log(std::string_view line) const;
    /// Part of a question to a person, on standard error as it is, also with --quiet.
    void prompt(std::string_view text) const;
    /// The error of a failure: JSON on standard output, else one line on standard error, or one of the log. Returns the
    /// exit status that belongs to it.
    int fail(const Failure& failure, std::string_view more_json = {}) const;
    [[nodiscard]] std::string styled(Style style, std::string_view text) const;

private:
    Streams streams_;
    bool color_ = false;
};

/// Puts /dev/null in the place of each standard stream that is closed, so that nothing else that is
/// opened gets its number and, with it, what is meant for people.
void open_standard_streams();

}  // namespace assent::cli
