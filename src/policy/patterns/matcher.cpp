#include "policy/patterns/matcher.hpp"

#include <algorithm>
#include <limits>

namespace assent {
namespace {

using Do = Step::Kind;

// Of a whole search. A step costs 1, and so does each character or mark that a step looks at.
constexpr std::uint64_t cost_max = 60'000'000;
constexpr std::uint64_t cost_of_short_search = 100'000;
constexpr std::size_t memory_max = 64UL * 1024 * 1024;
constexpr std::size_t frame_bytes = 48;  // on every machine, so that the limit is
constexpr std::size_t mark_bytes = 4;

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

bool below(std::int64_t count, std::uint32_t max) noexcept {
    return max == no_maximum || count < max;
}

}  // namespace

Matcher::Matcher(const Program& program, std::u32string_view text)
    : program_(program), steps_(program.steps), text_(text), marks_(2UL * program.captures, none) {}

Matcher::Found Matcher::search() {
    if (text_.size() >= none) return Found::too_costly;
    if (text_.size() < program_.width_min) return Found::no;
    const bool at_start_only = steps_.front().kind == Do::text_start;
    const auto needed = program_.begins_anywhere || program_.width_min == 0 ? 0 : program_.width_min - 1;
    for (std::uint64_t start = 0; start + needed <= text_.size(); ++start) {
        const auto at = static_cast<std::uint32_t>(start);
        if (hopeless(0, at)) continue;
        if (const auto found = attempt(at); found != Found::no) return found;
        if (at_start_only) break;
    }
    return cost_ > cost_max ? Found::too_costly : Found::no;
}

Matcher::Found Matcher::attempt(std::uint32_t start) {
    frames_.assign(1, Frame{});
    kept_marks_.clear();
    marks_known_ = 0;
    repeat_ = none;
    auto flow = go_to(0, start);
    while (++cost_ <= cost_max) {
        if (flow == Flow::go_on) {
            flow = step();
        } else if (flow == Flow::stopped) {
            break;
        } else if (frames_.size() == 1) {
            return flow == Flow::matched ? Found::yes : Found::no;
        } else {
            flow = end_part(flow == Flow::matched);
        }
    }
    return Found::too_costly;
}

Matcher::Flow Matcher::end_part(bool matched) {
    if (!matched && top().way != Way{}) {
        failed_.add(top().way);
        cost_ += failed_.take_cost();
    }
    frames_.pop_back();
    at_step_ = top().step;
    at_ = top().at;
    return resume(matched);
}

Matcher::Flow Matcher::step() {
    const auto& now = current();
    switch (now.kind) {
        case Do::character:
        case Do::test:
            if (!takes(now, at_)) return Flow::failed;
            return go_to(at_step_ + 1, at_ + 1);
        case Do::mark:
            mark(now.a);
            return go_to(at_step_ + 1, at_);
        case Do::jump:
            return go_to(now.target, at_);
        case Do::choice:
            keep_marks(repeat_ != none);
            ++at_step_;
            return next_option();
        case Do::option:
        case Do::fail:
            return Flow::failed;
        case Do::success:
            ended_at_ = at_;
            return Flow::matched;
        case Do::repeat_one:
            return repeat_one(now);
        case Do::repeat:
            return repeat(now);
        case Do::until:
            return until(now);
        case Do::repeat_atomic:
            top().count = 0;
            top().last_at = none;
            return atomic_repeat(at_);
        case Do::atomic:
            return call(Wait::atomic, at_step_ + 1, at_);
        case Do::look:
        case Do::look_for_none:
            return look(now);
        case Do::back_reference:
            return back_reference(now);
        case Do::condition:
            return go_to(has_matched(now.a) ? at_step_ + 1 : now.target, at_);
        default:
            return go_if(in_place(now));
    }
}

Matcher::Flow Matcher::resume(bool matched) {
    const auto outcome = matched ? Flow::matched : Flow::failed;
    switch (top().wait) {
        case Wait::option:
            return option_done(matched);
        case Wait::fewer:
            return fewer_done(matched);
        case Wait::more:
            return more_done(matched);
        case Wait::repeat:
        case Wait::after_body:
            repeat_ = top().repeat;
            return outcome;
        case Wait::body_needed:
            return body_needed_done(matched);
        case Wait::body_first:
            return body_first_done(matched);
        case Wait::tail_first:
            return tail_first_done(matched);
        case Wait::body_after:
            return body_after_done(matched);
        case Wait::atomic_needed:
            if (!matched) return Flow::failed;
            ++top().count;
            return atomic_repeat(ended_at_);
        case Wait::atomic_wanted:
            return atomic_wanted_done(matched);
        case Wait::atomic:
            return matched ? go_to(current().target, ended_at_) : Flow::failed;
        case Wait::look:
            return matched ? go_to(current().target, at_) : Flow::failed;
        case Wait::look_for_none:
            return look_for_none_done(matched);
    }
    return Flow::failed;
}

// Runs a part in a frame of its own.
Matcher::Flow Matcher::call(Wait wait, std::uint32_t step, std::uint32_t at) {
    static_assert(sizeof(Frame) <= frame_bytes);
    if (frames_.size() * frame_bytes + kept_marks_.size() * mark_bytes > memory_max) return Flow::stopped;
    top().step = at_step_;
    top().at = at_;
    top().wait = wait;
    frames_.emplace_back();
    if (remembers(wait)) {
        const auto begun = way(step, at);
        const bool known = begun != Way{} && failed_.contains(begun);
        cost_ += failed_.take_cost();
        if (known) return Flow::failed;
        top().way = begun;
    }
    return go_to(step, at);
}

// Most searches are over before this is worth its while. If what groups have matched can matter, there
// is more to a way than can be remembered. Without these parts no other is begun twice at one place.
bool Matcher::remembers(Wait wait) const noexcept {
    return wait <= Wait::last_remembered && cost_ > cost_of_short_search && !program_.recalls;
}

// Of the repeats around a step two things matter: how many times are still needed or allowed, and
// whether the body has taken anything this time.
Way Matcher::way(std::uint32_t step, std::uint32_t at) noexcept {
    std::uint64_t repeats = 0;
    for (auto around = repeat_; around != none; around = frames_[around].repeat) {
        const auto& repeat = frames_[around];
        const auto& bounds = steps_[repeat.step];
        const std::uint64_t most = bounds.b == no_maximum ? bounds.a : bounds.b;
        const auto times = std::min(static_cast<std::uint64_t>(repeat.count + 1), most + 1);
        const std::uint64_t taken = repeat.last_at == at ? 0 : 1;
        if (__builtin_mul_overflow(repeats, 2 * (most + 2), &repeats) ||
            __builtin_add_overflow(repeats, 2 * times + taken, &repeats)) {
            return {};
        }
        ++cost_;
    }
    return {.step = step, .at = at, .repeats = repeats};
}

Matcher::Flow Matcher::go_to(std::uint32_t step, std::uint32_t at) noexcept {
    at_step_ = step;
    at_ = at;
    return Flow::go_on;
}

Matcher::Flow Matcher::go_if(bool good) noexcept {
    return good ? go_to(at_step_ + 1, at_) : Flow::failed;
}

bool Matcher::takes(const Step& step, std::uint32_t at) const noexcept {
    if (at >= text_.size()) return false;
    return step.kind == Do::character ? text_[at] == step.a : step.test->takes(text_[at]);
}

// Can it be seen at once that nothing will come of this step?
bool Matcher::hopeless(std::uint32_t step, std::uint32_t at) noexcept {
    const auto& first = steps_[step];
    if (first.kind != Do::character && first.kind != Do::test) return false;
    ++cost_;
    return !takes(first, at);
}

bool Matcher::in_place(const Step& step) const noexcept {
    switch (step.kind) {
        case Do::text_start:
            return at_ == 0;
        case Do::line_start:
            return at_ == 0 || text_[at_ - 1] == U'\n';
        case Do::text_end:
            return at_ == size();
        case Do::line_end:
            return at_ == size() || text_[at_] == U'\n';
        case Do::last_line_end:
            return at_ == size() || (at_ + 1 == size() && text_[at_] == U'\n');
        case Do::word_edge:
            return is_edge(*step.test);
        default:  // an empty text has no place at all between words
            return !text_.empty() && !is_edge(*step.test);
    }
}

bool Matcher::is_edge(const CharTest& word) const noexcept {
    const bool before = at_ > 0 && word.takes(text_[at_ - 1]);
    const bool after = at_ < size() && word.takes(text_[at_]);
    return before != after;
}

Matcher::Flow Matcher::next_option() {
    while (current().kind == Do::option) {
        if (!hopeless(at_step_ + 1, at_)) return call(Wait::option, at_step_ + 1, at_);
        at_step_ = current().target;
    }
    drop_marks();
    return Flow::failed;
}

Matcher::Flow Matcher::option_done(bool matched) {
    if (matched) {
        drop_marks();
        return Flow::matched;
    }
    recall_marks();
    at_step_ = current().target;
    return next_option();
}

std::uint32_t Matcher::count_run(const CharTest& test, std::uint32_t most) noexcept {
    const auto end = at_ + std::min(size() - at_, most);
    auto at = at_;
    while (at < end && test.takes(text_[at])) ++at;
    cost_ += at - at_;
    return at - at_;
}

Matcher::Flow Matcher::repeat_one(const Step& step) {
    const bool lazy = step.greed == Greed::lazy;
    const auto count = count_run(*step.test, lazy ? step.a : step.b);
    if (count < step.a) return Flow::failed;
    at_ += count;
    if (step.greed == Greed::possessive) return go_to(at_step_ + 1, at_);
    top().count = count;
    keep_marks(repeat_ != none);
    return lazy ? call(Wait::more, at_step_ + 1, at_) : fewer();
}

Matcher::Flow Matcher::fewer() {
    for (; top().count >= current().a; --top().count, --at_) {
        if (!hopeless(at_step_ + 1, at_)) return call(Wait::fewer, at_step_ + 1, at_);
    }
    drop_marks();
    return Flow::failed;
}

Matcher::Flow Matcher::fewer_done(bool matched) {
    if (matched) {
        drop_marks();
        return Flow::matched;
    }
    recall_marks();
    --top().count;
    --at_;
    return fewer();
}

Matcher::Flow Matcher::more_done(bool matched) {
    const auto& step = current();
    if (!matched) {
        recall_marks();
        if (below(top().count, step.b) && at_ < size() && step.test->takes(text_[at_])) {
            ++top().count;
            ++at_;
            return call(Wait::more, at_step_ + 1, at_);
        }
    }
    drop_marks();
    return matched ? Flow::matched : Flow::failed;
}

Matcher::Flow Matcher::repeat(const Step& step) {
    top().count = -1;
    top().last_at = none;
    top().repeat = repeat_;
    repeat_ = static_cast<std::uint32_t>(frames_.size() - 1);
    return call(Wait::repeat, step.target, at_);
}

// The body has matched once more, or not begun yet.
Matcher::Flow Matcher::until(const Step& step) {
    top().repeat = repeat_;
    auto& repeat = repeat_of_top();
    const auto count = repeat.count + 1;
    top().count = count;
    if (count < step.a) {
        repeat.count = count;
        return call(Wait::body_needed, step.target + 1, at_);
    }
    if (step.greed == Greed::lazy) {
        repeat_ = repeat.repeat;
        keep_marks(repeat_ != none);
        return call(Wait::tail_first, at_step_ + 1, at_);
    }
    if (!below(count, step.b) || at_ == repeat.last_at) return after_body();
    repeat.count = count;
    keep_marks(true);
    top().last_at = repeat.last_at;
    repeat.last_at = at_;
    return call(Wait::body_first, step.target + 1, at_);
}

Matcher::Flow Matcher::after_body() {
    repeat_ = repeat_of_top().repeat;
    return call(Wait::after_body, at_step_ + 1, at_);
}

Matcher::Flow Matcher::body_needed_done(bool matched) {
    if (matched) return Flow::matched;
    repeat_of_top().count = top().count - 1;
    return Flow::failed;
}

Matcher::Flow Matcher::body_first_done(bool matched) {
    repeat_of_top().last_at = top().last_at;
    if (!matched) recall_marks();
    drop_marks();
    if (matched) return Flow::matched;
    repeat_of_top().count = top().count - 1;
    return after_body();
}

Matcher::Flow Matcher::tail_first_done(bool matched) {
    repeat_ = top().repeat;
    if (!matched) recall_marks();
    drop_marks();
    if (matched) return Flow::matched;
    auto& repeat = repeat_of_top();
    const auto& step = current();
    if (!below(top().count, step.b) || at_ == repeat.last_at) return Flow::failed;
    repeat.count = top().count;
    top().last_at = repeat.last_at;
    repeat.last_at = at_;
    return call(Wait::body_after, step.target + 1, at_);
}

Matcher::Flow Matcher::body_after_done(bool matched) {
    repeat_of_top().last_at = top().last_at;
    if (matched) return Flow::matched;
    repeat_of_top().count = top().count - 1;
    return Flow::failed;
}

// A possessive repeat goes on at `at`.
Matcher::Flow Matcher::atomic_repeat(std::uint32_t at) {
    const auto& step = current();
    if (top().count < step.a) return call(Wait::atomic_needed, at_step_ + 1, at);
    if (!below(top().count, step.b) || at == top().last_at) return go_to(step.target, at);
    keep_marks(true);
    top().last_at = at;
    return call(Wait::atomic_wanted, at_step_ + 1, at);
}

Matcher::Flow Matcher::atomic_wanted_done(bool matched) {
    if (!matched) recall_marks();
    drop_marks();
    if (!matched) return go_to(current().target, top().last_at);
    ++top().count;
    return atomic_repeat(ended_at_);
}

Matcher::Flow Matcher::look(const Step& step) {
    const bool wanted = step.kind == Do::look;
    if (at_ < step.a) return wanted ? Flow::failed : go_to(step.target, at_);
    if (!wanted) keep_marks(repeat_ != none);
    return call(wanted ? Wait::look : Wait::look_for_none, at_step_ + 1, at_ - step.a);
}

Matcher::Flow Matcher::look_for_none_done(bool matched) {
    if (!matched) recall_marks();
    drop_marks();
    return matched ? Flow::failed : go_to(current().target, at_);
}

bool Matcher::has_matched(std::uint32_t group) const noexcept {
    const auto start = 2UL * group;
    if (start + 1 >= marks_known_) return false;
    return marks_[start] != none && marks_[start + 1] != none && marks_[start + 1] >= marks_[start];
}

Matcher::Flow Matcher::back_reference(const Step& step) {
    if (!has_matched(step.a)) return Flow::failed;
    const auto start = marks_[2UL * step.a];
    const auto length = marks_[2UL * step.a + 1] - start;
    if (length > size() - at_) return Flow::failed;
    for (std::uint32_t i = 0; i < length; ++i) {
        ++cost_;
        const auto wanted = text_[start + i];
        const auto here = text_[at_ + i];
        if (here != wanted && lower_case(here, step.letters) != lower_case(wanted, step.letters)) return Flow::failed;
    }
    return go_to(at_step_ + 1, at_ + length);
}

void Matcher::mark(std::uint32_t index) noexcept {
    for (; marks_known_ <= index; ++marks_known_, ++cost_) marks_[marks_known_] = none;
    marks_[index] = at_;
}

// Within a repeat marks are set again, so all are kept; else it is enough to know how many there were.
void Matcher::keep_marks(bool all) {
    top().marks = marks_known_;
    top().marks_kept = all;
    if (!all) return;
    cost_ += marks_known_;
    kept_marks_.insert(kept_marks_.end(), marks_.begin(), marks_.begin() + marks_known_);
}

void Matcher::recall_marks() noexcept {
    marks_known_ = top().marks;
    if (!top().marks_kept) return;
    cost_ += marks_known_;
    std::copy(kept_marks_.end() - marks_known_, kept_marks_.end(), marks_.begin());
}

void Matcher::drop_marks() noexcept {
    if (top().marks_kept) kept_marks_.resize(kept_marks_.size() - top().marks);
}

}  // namespace assent
