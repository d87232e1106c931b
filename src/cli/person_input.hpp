// Lines that a person types, one at a time, until something else ends the waiting.
#pragma once

#include "cli/terminal.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace assent::cli {

class PersonInput {
public:
    enum class Status {
        line,         ///< A whole line, ended by the person.
        too_long,     ///< A line of which the terminal dropped the end.
        closed,       ///< The terminal is gone, or its input ended.
        interrupted,  ///< `wake_fd` became readable.
    };
    struct Line {
        Status status = Status::closed;
        std::string text;  ///< Without its end.
    };

    /// `wake_fd` -1: nothing ends the waiting but the person.
    PersonInput(const Terminal& terminal, int wake_fd) : terminal_(terminal), wake_fd_(wake_fd) {}

    /// Shows `question` and waits for a line. What was typed before is kept: it may be the answer.
    Line ask(std::string_view question);
    /// The same for a line that decides: what was typed before the question stood there is thrown away.
    Line ask_afresh(std::string_view question);
    /// Waits until `milliseconds` have passed. True if it was interrupted.
    [[nodiscard]] bool pause(int milliseconds) const;

private:
    Line read_line();
    std::optional<Line> kept_line();

    const Terminal& terminal_;
    int wake_fd_;
    std::string kept_;  ///< Read and not asked for yet.
};

}  // namespace assent::cli
