// Looks for a match by trying one way after the other, as the dialect does: which way comes first,
// what a group remembers when a way fails, and when a repeat that took nothing ends.
#pragma once

#include "policy/patterns/failed_ways.hpp"
#include "policy/patterns/program.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace assent {

/// For one search. Everything it may use has a limit; counted, never timed, so that a search that
/// ends at a limit ends there on every machine.
class Matcher {
public:
    Matcher(const Program& program, std::u32string_view text);

    enum class Found { yes, no, too_costly };
    [[nodiscard]] Found search();

private:
    // What to do next: go on with the step at `at_step_`, or tell the frame below how its part went.
    enum class Flow { go_on, failed, matched, stopped };

    // What a frame waits for: the outcome of the part that runs in the frame above it.
    enum class Wait : std::uint8_t {
        option,      // an option of a choice
        fewer,       // what follows a greedy repeat of one character
        more,        // what follows a lazy one
        body_first,  // the body of a greedy repeat; else what follows it
        body_after,  // the body of a lazy repeat
        last_remembered = body_after,
        repeat,         // all of a repeat and what follows it
        body_needed,    // the body of a repeat, that must come once more
        after_body,     // what follows a greedy repeat
        tail_first,     // what follows a lazy repeat; else its body
        atomic_needed,  // the body of a possessive repeat, that must come once more
        atomic_wanted,  // the same, that may come once more
        atomic,
        look,
        look_for_none,
    };

    // A part that is being matched. While it waits for the part above it, the frame keeps its place in
    // the pattern and in the text.
    struct Frame {
        std::uint32_t step = 0;
        std::uint32_t at = 0;
        std::int64_t count = 0;     // how often the body of a repeat was begun, or one character taken
        std::uint32_t last_at = 0;  // of a repeat: where its body was begun last; of others: to put that back
        std::uint32_t repeat = 0;   // of a repeat: the one around it; of the end of its body: that repeat
        std::uint32_t marks = 0;    // how many were known
        Wait wait = Wait::option;
        bool marks_kept = false;
        Way way;  // how it began, if that is to be remembered should it fail
    };

    Found attempt(std::uint32_t start);
    Flow end_part(bool matched);

    Flow step();
    Flow resume(bool matched);
    Flow call(Wait wait, std::uint32_t step, std::uint32_t at);
    Flow go_to(std::uint32_t step, std::uint32_t at) noexcept;
    Flow go_if(bool good) noexcept;

    [[nodiscard]] bool takes(const Step& step, std::uint32_t at) const noexcept;
    [[nodiscard]] bool hopeless(std::uint32_t step, std::uint32_t at) noexcept;
    [[nodiscard]] bool in_place(const Step& step) const noexcept;
    [[nodiscard]] bool is_edge(const CharTest& word) const noexcept;
    [[nodiscard]] bool has_matched(std::uint32_t group) const noexcept;
    [[nodiscard]] std::uint32_t count_run(const CharTest& test, std::uint32_t most) noexcept;

    Flow next_option();
    Flow option_done(bool matched);
    Flow repeat_one(const Step& step);
    Flow fewer();
    Flow fewer_done(bool matched);
    Flow more_done(bool matched);

    Flow repeat(const Step& step);
    Flow until(const Step& step);
    Flow body_needed_done(bool matched);
    Flow body_first_done(bool matched);
    Flow tail_first_done(bool matched);
    Flow body_after_done(bool matched);
    Flow after_body();

    Flow atomic_repeat(std::uint32_t at);
    Flow atomic_wanted_done(bool matched);
    Flow look(const Step& step);
    Flow look_for_none_done(bool matched);
    Flow back_reference(const Step& step);

    [[nodiscard]] bool remembers(Wait wait) const noexcept;
    [[nodiscard]] Way way(std::uint32_t step, std::uint32_t at) noexcept;

    void mark(std::uint32_t index) noexcept;
    void keep_marks(bool all);
    void recall_marks() noexcept;
    void drop_marks() noexcept;

    Frame& top() noexcept { return frames_.back(); }
    // The repeat whose end the current part has reached.
    Frame& repeat_of_top() noexcept { return frames_[top().repeat]; }
    [[nodiscard]] const Step& current() const noexcept { return steps_[at_step_]; }
    [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(text_.size()); }

    const Program& program_;
    const std::vector<Step>& steps_;
    std::u32string_view text_;

    std::uint32_t at_step_ = 0;
    std::uint32_t at_ = 0;
    std::uint32_t ended_at_ = 0;  // where the part that matched last ended
    std::uint32_t repeat_ = 0;    // the frame of the repeat whose body is being matched

    std::vector<Frame> frames_;
    std::vector<std::uint32_t> marks_;
    std::vector<std::uint32_t> kept_marks_;  // a stack, for the frames
    std::uint32_t marks_known_ = 0;          // those from this one on are of ways that failed
    FailedWays failed_;
    std::uint64_t cost_ = 0;
};

}  // namespace assent
