// Prompts: a run begins, or what was said is kept for later.
#include "base/sha256.hpp"
#include "gate/gate_impl.hpp"

#include <algorithm>

namespace assent {
namespace {

using namespace journal;  // NOLINT(google-build-using-namespace): as in gate.cpp

std::optional<PromptKey> find_key(const ThreadState& state, const std::string& key) {
    const auto found = std::find_if(state.prompt_keys.begin(), state.prompt_keys.end(),
                                    [&](const PromptKey& known) { return known.key == key; });
    if (found == state.prompt_keys.end()) return std::nullopt;
    return *found;
}

}  // namespace

std::string_view to_string(PromptTaken taken) noexcept {
    switch (taken) {
        case PromptTaken::begun:
            return "begun";
        case PromptTaken::queued:
            return "queued";
        case PromptTaken::repeated:
            return "repeated";
    }
    return "begun";
}

Result<void> Gate::prompt(const std::string& text, const std::string& by) {
    auto taken = prompt(Prompt{.text = text}, by);
    if (!taken) return taken.failure();
    return {};
}

Result<PromptTaken> Gate::prompt(const Prompt& prompt, const std::string& by) {
    const std::lock_guard lock(impl_->mutex);
    auto known = impl_->session.refresh();
    if (!known) return known.failure();
    const UserMessage message{.text = repaired_utf8(prompt.text), .by = by, .key = prompt.idempotency_key};
    if (const auto given = find_key(impl_->session.state(), message.key)) return impl_->given_before(*given, message);
    if (prompt.abort_open && *known) {
        Approvals approvals(*impl_->options.checkpointer, impl_->clock, impl_->random);
        auto aborted = approvals.abort(impl_->session.id(), "a new prompt was given", by);
        if (!aborted) return aborted.failure();
        if (auto read = impl_->session.refresh(); !read) return read.failure();
    }
    auto begun = impl_->begin(message);
    if (begun) {
        if (*begun == PromptTaken::begun) impl_->drop_receipts();
        return begun;
    }
    const auto kind = begun.failure().kind;
    const bool busy = kind == FailureKind::waiting || kind == FailureKind::leased;
    if (!prompt.queue || !busy) return begun;
    return impl_->queue(message);
}

Result<void> Gate::begin(const std::string& text, const std::string& by) {
    auto known = load();
    if (!known) return known.failure();
    if (*known) return resume();
    const std::lock_guard lock(impl_->mutex);
    return impl_->append([&](const ThreadState& state) {
        auto change = impl_->take_over(state);
        if (state.seq > 0) return change;
        change.create = true;
        change.events.emplace_back(UserMessage{.text = repaired_utf8(text), .by = by});
        return change;
    });
}

Result<PromptTaken> Gate::Impl::given_before(const PromptKey& given, const UserMessage& message) const {
    if (given.text_sha256 == hex(sha256(message.text))) return PromptTaken::repeated;
    return Failure{FailureKind::conflict, "the idempotency key was used for another prompt of thread " + session.id() +
                                              "; give each prompt its own"};
}

// Takes the thread for this message, unless calls of an earlier turn are open.
Result<PromptTaken> Gate::Impl::begin(const UserMessage& message) {
    bool waiting = false;
    std::optional<PromptKey> given;
    auto done = append([&](const ThreadState& state) {
        Change change{.lease = LeaseUse::none, .create = true};
        given = find_key(state, message.key);
        waiting = state.turn_open;
        if (given || waiting) return change;
        change.lease = session.held() ? LeaseUse::keep : LeaseUse::take;
        add_configuration(state, change);
        change.events.emplace_back(message);
        return change;
    });
    if (!done) return done.failure();
    if (given) return given_before(*given, message);
    if (!waiting) return PromptTaken::begun;
    std::string waits_for;
    for (const auto& approval : open()) {
        waits_for += (waits_for.empty() ? "" : ", ") + approval.id + " (" + approval.tool + ")";
    }
    return Failure{FailureKind::waiting,
                   "thread " + session.id() +
                       (waits_for.empty() ? " has calls that have not ended; resume or abort it first"
                                          : " waits for people: " + waits_for + "; answer, resume or abort it first")};
}

// Needs no lease. Where the run has come to its end meanwhile, this begins the next one: then it is taken here,
// unless somebody else was faster.
Result<PromptTaken> Gate::Impl::queue(const UserMessage& message) {
    std::optional<PromptKey> given;
    bool ending = false;
    auto stored = append([&](const ThreadState& state) {
        Change change{.lease = LeaseUse::none};
        given = find_key(state, message.key);
        ending = state.aborted.has_value() && state.turn_open;
        if (given || ending) return change;
        change.events.emplace_back(Queued{.text = message.text, .by = message.by, .key = message.key});
        return change;
    });
    if (!stored) return stored.failure();
    if (given) return given_before(*given, message);
    // Nobody goes on with the thread to whom it could be handed.
    if (ending) {
        return Failure{FailureKind::waiting, "thread " + session.id() +
                                                 " was aborted and a tool of it still runs; give the prompt again when "
                                                 "it has ended"};
    }
    if (session.state().turn_open || !session.state().queue.empty()) return PromptTaken::queued;
    auto taken = append([this](const ThreadState& state) { return take_over(state); });
    if (taken) return PromptTaken::begun;
    if (taken.failure().kind == FailureKind::leased) return PromptTaken::queued;
    return taken.failure();
}

}  // namespace assent
