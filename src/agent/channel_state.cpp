#include "agent/channel_state.hpp"

#include "base/sha256.hpp"

#include <algorithm>
#include <array>

namespace assent {
namespace {

constexpr std::string_view question_prompt = "a question of the host";

std::string random_suffix(Random& random) {
    std::array<std::uint8_t, 6> bytes{};
    random.fill(bytes);
    return hex(bytes);
}

Result<Approval> opened(Gate& gate, const ModelTurn& turn) {
    if (auto begun = gate.prompt(std::string(question_prompt), "channel"); !begun) return begun.failure();
    if (auto asked = gate.propose(turn); !asked) return asked.failure();
    const auto open = gate.open();
    if (!open.empty()) return open.front();
    const auto calls = gate.calls();
    return Failure{FailureKind::refused, calls.empty() ? "the question could not be asked" : calls.front().text};
}

const Clock& clock_of(const ChannelOptions& options, const Checkpointer* store) {
    if (options.clock != nullptr) return *options.clock;
    return store != nullptr ? store->clock() : system_clock();
}

}  // namespace

StoredChannel::State::State(const ChannelOptions& options, std::unique_ptr<Checkpointer> own_store, Checkpointer* store,
                            std::string only_thread)
    : options_(options),
      clock_(clock_of(options, store != nullptr ? store : own_store.get())),
      random_(options.random != nullptr ? *options.random : system_random()),
      own_store_(std::move(own_store)),
      store_(store != nullptr ? store : own_store_.get()),
      only_thread_(std::move(only_thread)) {
    if (only_thread_.empty()) return;
    threads_.push_back({store_, only_thread_});
    watch(*store_);
}

StoredChannel::State::~State() {
    watches_.clear();
}

// Others that use the store are heard of at once where the store can tell.
void StoredChannel::State::watch(Checkpointer& store) {
    {
        const std::lock_guard lock(mutex_);
        if (watches_.contains(&store)) return;
    }
    auto watching = store.watch([this, &store](std::string_view thread_id) { heard(store, thread_id); });
    const std::lock_guard lock(mutex_);
    watches_.try_emplace(&store, std::move(watching));
}

void StoredChannel::State::heard(const Checkpointer& store, std::string_view thread_id) {
    const auto concerns = [&](const ChannelThread& thread) {
        if (thread.store != &store || !thread_id.starts_with(thread.id)) return thread_id.empty();
        return thread_id.size() == thread.id.size() || thread_id[thread.id.size()] == '/';
    };
    {
        const std::lock_guard lock(mutex_);
        if (std::ranges::none_of(threads_, concerns)) return;
    }
    changed();
}

void StoredChannel::State::add(const ChannelThread& thread) {
    {
        const std::lock_guard lock(mutex_);
        const auto is_same = [&](const auto& known) { return known.is_same(thread); };
        if (std::ranges::none_of(threads_, is_same)) threads_.push_back({thread.store, thread.id, ++added_});
    }
    watch(*thread.store);
    changed();
}

void StoredChannel::State::remove(const ChannelThread& thread) {
    std::shared_ptr<void> unwatched;  // let go of without the locks
    const std::lock_guard unused(stores_used_);
    const std::lock_guard lock(mutex_);
    std::erase_if(threads_, [&](const auto& known) { return known.is_same(thread); });
    const auto same_store = [&](const ChannelThread& other) { return other.store == thread.store; };
    const auto watching = watches_.find(thread.store);
    if (watching == watches_.end() || std::ranges::any_of(threads_, same_store)) return;
    unwatched = std::move(watching->second);
    watches_.erase(watching);
}

std::vector<ChannelThread> StoredChannel::State::threads() const {
    const std::lock_guard lock(mutex_);
    return threads_;
}

Channel::Mark StoredChannel::State::mark() const {
    const std::lock_guard lock(mutex_);
    return mark_;
}

bool StoredChannel::State::wait(const Mark& mark, std::int64_t milliseconds, const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] {
        const std::lock_guard lock(mutex_);
        happened_.notify_all();
    });
    std::unique_lock lock(mutex_);
    const bool news = mark_.changes != mark.changes || mark_.detaches != mark.detaches;
    if (!news && !stop.stop_requested()) clock_.wait(happened_, lock, std::min(milliseconds, options_.look_ms));
    return mark_.detaches == mark.detaches;
}

void StoredChannel::State::changed() {
    const std::lock_guard lock(mutex_);
    ++mark_.changes;
    happened_.notify_all();
}

void StoredChannel::State::detach() {
    const std::lock_guard lock(mutex_);
    ++mark_.detaches;
    happened_.notify_all();
}

Result<std::pair<ChannelThread, Approval>> StoredChannel::State::find(const std::string& id) {
    std::optional<std::pair<ChannelThread, Approval>> found;
    for (const auto& thread : threads()) {
        auto approval = Approvals(*thread.store, clock_, random_).find(id, thread.id);
        if (!approval && approval.failure().kind == FailureKind::not_found) continue;
        if (!approval) return approval.failure();
        if (found) {
            return Failure{FailureKind::ambiguous, "several open requests have the id " + id + ": " + found->second.id +
                                                       ", " + approval->id + "; use one of these"};
        }
        found = std::pair(thread, std::move(approval).value());
    }
    if (!found) return Failure{FailureKind::not_found, "no request of the channel has the id " + id};
    return std::move(*found);
}

Result<Approval> StoredChannel::State::ask(const std::shared_ptr<QuestionTool>& tool, const std::string& arguments,
                                           const std::optional<std::string>& call_id, const std::stop_token& stop,
                                           const Waiter& waiter) {
    const ChannelThread thread{
        store_, (only_thread_.empty() ? std::string("channel") : only_thread_) + "/question-" + random_suffix(random_)};
    Gate gate({.checkpointer = store_,
               .thread_id = thread.id,
               .tools = {tool},
               .timeout_ms = default_timeout_ms(),
               .clock = &clock_,
               .random = &random_});
    const auto asked_after = mark();
    auto open = opened(gate, {.calls = {{.tool = tool->spec().name, .id = call_id, .arguments = arguments}}});
    if (!open) return open;
    add(thread);
    auto over = wait_for(*open, gate, asked_after, stop, waiter);
    // One that was detached stays open, and can be answered as long as the channel is there.
    if (over && over->state == ApprovalState::open) return over;
    remove(thread);
    return over;
}

Result<Approval> StoredChannel::State::wait_for(const Approval& asked, Gate& gate, const Mark& asked_after,
                                                const std::stop_token& stop, const Waiter& waiter) {
    Approvals approvals(*store_, clock_, random_);
    while (true) {
        // Who hears of the question may detach before it is waited for.
        const Mark before{.changes = mark().changes, .detaches = asked_after.detaches};
        if (stop.stop_requested()) {
            auto aborted = approvals.abort(asked.thread, "whoever asked was told to stop", "channel");
            if (!aborted) return aborted.failure();
        }
        // Also ends it at its deadline.
        if (auto read = gate.refresh(); !read) return read.failure();
        if (gate.open().empty()) break;
        if (!waiter(before)) return approvals.find(asked.id);
    }
    // The thread has nothing left to do.
    if (!gate.aborted()) {
        if (auto taken = gate.resume(); !taken) return taken.failure();
        if (auto ended = gate.propose({.text = "The question is over."}); !ended) return ended.failure();
    }
    return approvals.find(asked.id);
}

HitlEnd end_of(const Approval& approval) noexcept {
    switch (approval.state) {
        case ApprovalState::open:
            return HitlEnd::detached;
        case ApprovalState::timed_out:
            return HitlEnd::timed_out;
        case ApprovalState::withdrawn:
            return HitlEnd::cancelled;
        case ApprovalState::aborted:
            return HitlEnd::aborted;
        default:
            return HitlEnd::answered;
    }
}

}  // namespace assent
