#include <assent/ask_user.hpp>
#include <assent/channel.hpp>

#include "agent/channel_state.hpp"
#include "gate/answering.hpp"
#include "policy/policy_answer.hpp"

#include <algorithm>
#include <atomic>
#include <map>

namespace assent {
namespace {

constexpr std::size_t page_size = 100;

std::shared_ptr<QuestionTool> question_tool(std::shared_ptr<Tool> tool) {
    return std::dynamic_pointer_cast<QuestionTool>(std::move(tool));
}

template <class T>
HitlReply<T> reply_of(const Approval& approval) {
    return {.end = end_of(approval),
            .reason = approval.close_reason,
            .id = approval.id,
            .by = approval.decided_by,
            .at = approval.decided_at.value_or(0)};
}

ApproveAnswer read_approve(const std::string& json) {
    const auto read = read_policy_answer(json);
    const auto* decision = std::get_if<Decision>(&read);
    if (decision == nullptr) return {};
    ApproveAnswer answer{.decision = decision->kind, .edited_args = decision->arguments};
    if (!decision->message.empty() || decision->empty_reason) answer.reason = decision->message;
    return answer;
}

HitlAnswers read_answers_of(const std::string& json) {
    HitlAnswers answers;
    const auto object = Arguments::parse(json);
    if (!object) return answers;
    for (std::size_t i = 0; i < object->root().keys.size(); ++i) {
        const auto& value = object->root().items[i];
        std::vector<std::string> values;
        if (value.kind == JsonNode::Kind::string) values.push_back(value.string);
        for (const auto& item : value.items) values.push_back(item.string);
        answers.emplace_back(object->root().keys[i], std::move(values));
    }
    return answers;
}

bool is_request(const Approval& approval, UnixMillis now) {
    const bool over = approval.deadline && *approval.deadline <= now;
    return approval.kind != ApprovalKind::unknown && !over;
}

}  // namespace

// Reads the store from the last request it told of; numbers of approvals grow in the order of asking.
class StoredSubscription final : public HitlSubscription {
public:
    // How `poll` and `next` look at the channel.
    struct View {
        std::function<std::shared_lock<std::shared_mutex>()> use_stores;
        std::function<std::vector<ChannelThread>()> threads;
        std::function<Channel::Mark()> mark;
        std::function<bool(const Channel::Mark&, const std::stop_token&)> wait;
        std::function<void()> wake;
        const Clock& clock;
        Random& random;
    };
    explicit StoredSubscription(View view) : view_(std::move(view)) {}

    Result<std::optional<HitlRequest>> poll() override {
        const std::lock_guard lock(mutex_);
        const auto used = view_.use_stores();
        std::optional<Approval> first;
        ChannelThread of;
        for (const auto& thread : view_.threads()) {
            auto next = next_of(thread);
            if (!next) return next.failure();
            const auto earlier = [&] {
                return std::pair((*next)->asked_at, (*next)->number) < std::pair(first->asked_at, first->number);
            };
            if (!next->has_value() || (first && !earlier())) continue;
            first = std::move(*next);
            of = thread;
        }
        if (!first) return std::optional<HitlRequest>();
        told_[of] = first->number;
        return std::optional(hitl_request(*first));
    }

    Result<std::optional<HitlRequest>> next(const std::stop_token& stop) override {
        while (!closed_ && !stop.stop_requested()) {
            const auto before = view_.mark();
            auto request = poll();
            if (!request || request->has_value()) return request;
            (void)view_.wait(before, stop);
        }
        return std::optional<HitlRequest>();
    }

    void close() override {
        closed_ = true;
        view_.wake();
    }

private:
    Result<std::optional<Approval>> next_of(const ChannelThread& thread) {
        Approvals approvals(*thread.store, view_.clock, view_.random);
        auto& last = told_[thread];
        while (true) {
            auto page = approvals.pending(thread.id, last, page_size);
            if (!page) return page.failure();
            for (auto& approval : *page) {
                if (is_request(approval, view_.clock.now())) return std::optional(std::move(approval));
                last = approval.number;
            }
            if (page->size() < page_size) return std::optional<Approval>();
        }
    }

    View view_;
    std::mutex mutex_;
    std::map<ChannelThread, std::int64_t> told_;
    std::atomic<bool> closed_ = false;
};

StoredChannel::StoredChannel(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
StoredChannel::~StoredChannel() = default;

// Waits as the channel does, also one that is derived from this.
StoredChannel::Waiter StoredChannel::waiter(const std::stop_token& stop) {
    return [this, stop](const Mark& mark) { return wait(mark, state_->look_ms(), stop); };
}

Result<HitlReply<ApproveAnswer>> StoredChannel::approve(const ApproveQuestion& question, const std::stop_token& stop) {
    auto over =
        state_->ask(approve_question_tool(question), question.args.text(), question.tool_call_id, stop, waiter(stop));
    if (!over) return over.failure();
    auto reply = reply_of<ApproveAnswer>(*over);
    if (reply.end == HitlEnd::answered) reply.answer = read_approve(over->answer);
    return reply;
}

Result<HitlReply<bool>> StoredChannel::confirm(const ConfirmQuestion& question, const std::stop_token& stop) {
    const auto arguments =
        R"({"prompt":)" + json_quote(question.prompt) + R"(,"details":)" + question.details.text() + "}";
    auto over = state_->ask(question_tool(confirm_tool(question.timeout)), arguments, std::nullopt, stop, waiter(stop));
    if (!over) return over.failure();
    auto reply = reply_of<bool>(*over);
    reply.answer = reply.end == HitlEnd::answered && over->state == ApprovalState::approved;
    return reply;
}

Result<HitlReply<HitlAnswers>> StoredChannel::ask(const AskQuestions& questions, const std::stop_token& stop) {
    const auto arguments = R"({"questions":)" + hitl_questions_json(questions.questions) + "}";
    auto over =
        state_->ask(question_tool(ask_user_tool(questions.timeout)), arguments, std::nullopt, stop, waiter(stop));
    if (!over) return over.failure();
    auto reply = reply_of<HitlAnswers>(*over);
    // Who declines to answer has cancelled the question.
    if (over->state == ApprovalState::denied) reply.end = HitlEnd::cancelled;
    if (reply.end == HitlEnd::answered) reply.answer = read_answers_of(over->answer);
    return reply;
}

Result<std::vector<HitlRequest>> StoredChannel::pending() {
    const auto used = state_->use_stores();
    std::vector<Approval> open;
    for (const auto& thread : state_->threads()) {
        Approvals approvals(*thread.store, state_->clock(), state_->random());
        for (std::int64_t last = 0;;) {
            auto page = approvals.pending(thread.id, last, page_size);
            if (!page) return page.failure();
            const auto size = page->size();
            if (size > 0) last = page->back().number;
            std::erase_if(*page, [&](const auto& one) { return !is_request(one, state_->clock().now()); });
            std::ranges::move(*page, std::back_inserter(open));
            if (size < page_size) break;
        }
    }
    std::ranges::sort(open, {}, [](const auto& one) { return std::pair(one.asked_at, one.number); });
    std::vector<HitlRequest> requests;
    for (const auto& approval : open) requests.push_back(hitl_request(approval));
    return requests;
}

std::unique_ptr<HitlSubscription> StoredChannel::subscribe() {
    const auto state = state_;
    return std::make_unique<StoredSubscription>(StoredSubscription::View{
        .use_stores = [state] { return state->use_stores(); },
        .threads = [state] { return state->threads(); },
        .mark = [state] { return state->mark(); },
        .wait = [state](const Mark& mark,
                        const std::stop_token& stop) { return state->wait(mark, state->look_ms(), stop); },
        .wake = [state] { state->changed(); },
        .clock = state->clock(),
        .random = state->random()});
}

Result<AnswerResult> StoredChannel::answer(const std::string& id, const HitlAnswer& answer, const Reviewer& reviewer) {
    const auto used = state_->use_stores();
    auto found = state_->find(id);
    if (!found) {
        if (auto told = told_of_missing(found.failure())) return std::move(*told);
        return found.failure();
    }
    const auto& [thread, approval] = *found;
    Approvals approvals(*thread.store, state_->clock(), state_->random());
    auto read = read_hitl_answer(approval, answer.text());
    if (auto* refused = std::get_if<AnswerResult>(&read)) return std::move(*refused);
    auto told = approvals.answer(approval.id, std::get<Decision>(read), reviewer);
    state_->changed();
    return told;
}

Result<AnswerResult> StoredChannel::cancel(const std::string& id, const std::string& reason, const Reviewer& reviewer) {
    const auto used = state_->use_stores();
    auto found = state_->find(id);
    if (!found) {
        if (auto told = told_of_missing(found.failure())) return std::move(*told);
        return found.failure();
    }
    const auto& [thread, approval] = *found;
    auto told = Approvals(*thread.store, state_->clock(), state_->random()).cancel(approval.id, reason, reviewer);
    state_->changed();
    return told;
}

void StoredChannel::detach() {
    state_->detach();
}
std::optional<std::int64_t> StoredChannel::default_timeout_ms() const {
    return state_->default_timeout_ms();
}

void StoredChannel::attach(Checkpointer& store, const std::string& thread_id) {
    if (state_->only_thread() == thread_id) return;
    if (!state_->only_thread().empty()) {
        throw ConfigError("the channel is for the thread " + state_->only_thread() + ", the agent runs " + thread_id);
    }
    state_->add({&store, thread_id});
}
void StoredChannel::leave(Checkpointer& store, const std::string& thread_id) {
    if (state_->only_thread().empty()) state_->remove({&store, thread_id});
}

void StoredChannel::changed() {
    state_->changed();
}
Channel::Mark StoredChannel::mark() const {
    return state_->mark();
}
bool StoredChannel::wait(const Mark& mark, std::int64_t milliseconds, const std::stop_token& stop) {
    return state_->wait(mark, milliseconds, stop);
}

InMemoryChannel::InMemoryChannel(const ChannelOptions& options)
    : StoredChannel(std::make_shared<State>(options, std::make_unique<MemoryCheckpointer>(), nullptr, std::string())) {}

CheckpointedChannel::CheckpointedChannel(Checkpointer& store, const std::string& thread_id,
                                         const ChannelOptions& options)
    : StoredChannel(std::make_shared<State>(options, nullptr, &store, thread_id)) {
    if (thread_id.empty()) throw ConfigError("a channel over a checkpointer needs a thread id");
}

}  // namespace assent
