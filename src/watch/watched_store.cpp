#include "watch/watched_store.hpp"

#include "base/base32.hpp"
#include "base/sha256.hpp"
#include "journal/encoding.hpp"

#include <algorithm>
#include <utility>

namespace assent::watch {
namespace {

using journal::Event;

// Of threads and questions that many are remembered, those in hand many times over.
constexpr std::size_t remembered_max = 20'000;

// Of a row that somebody appended who does not run the thread.
bool from_outside(const journal::Header& header) {
    constexpr std::array kinds{"answered", "resolved", "withdrawn", "timed_out", "aborted", "user_message", "queued"};
    return std::ranges::all_of(header.kinds,
                               [&](const std::string& kind) { return std::ranges::find(kinds, kind) != kinds.end(); });
}

// The number of the question that the event ends.
struct EndedQuestion {
    std::int64_t operator()(const journal::Answered& event) const { return event.number; }
    std::int64_t operator()(const journal::Resolved& event) const { return event.number; }
    std::int64_t operator()(const journal::Withdrawn& event) const { return event.number; }
    std::int64_t operator()(const journal::TimedOut& event) const { return event.number; }
    std::int64_t operator()(const auto& /*event*/) const { return 0; }
};

std::string id_of(std::int64_t number, const std::string& binding) {
    Digest digest{};
    const auto raw = unhex(binding);
    std::copy_n(raw.begin(), std::min(raw.size(), digest.size()), digest.begin());
    return public_id(number, digest);
}

}  // namespace

WatchedStore::WatchedStore(Checkpointer& store, std::vector<Watcher*> watchers)
    : store_(store), watchers_(std::move(watchers)) {}

template <class T>
Result<T> WatchedStore::noted(std::string_view operation, Result<T> result) {
    if (!result.ok()) {
        for (auto* watcher : watchers_) watcher->failed(operation, result.failure());
    }
    return result;
}

Result<AppendResult> WatchedStore::append(const Append& append) {
    const auto begun = store_.clock().monotonic();
    auto result = noted("append", store_.append(append));
    if (!result) return result;
    const auto took = store_.clock().monotonic() - begun;
    for (auto* watcher : watchers_) watcher->appended(result->status, took);
    if (!append.kinds.empty()) stored(append, *result);
    return result;
}

void WatchedStore::stored(const Append& append, const AppendResult& result) {
    std::vector<ToTell> all;
    {
        const std::lock_guard lock(mutex_);
        if (result.status == AppendStatus::uncertain) told_of(append.thread_id).doubted = append.command;
        if (result.status != AppendStatus::done) return;
        auto& told = told_of(append.thread_id);
        told.own.insert(result.pos);
        // Whoever expects a sequence has read all that was before.
        if (append.expected_seq) {
            told.upto = result.pos;
            told.own.clear();
        }
        if (auto events = journal::decode(append.body, result.first_number))
            take(all, std::move(events).value(), append.at);
    }
    tell(append.thread_id, all);
}

void WatchedStore::read(const std::string& thread, const std::vector<JournalRow>& rows) {
    struct Row {
        UnixMillis at = 0;
        std::vector<Event> events;
        bool told = false;
        bool outside = false;
    };
    std::vector<ToTell> all;
    {
        const std::lock_guard lock(mutex_);
        auto& told = told_of(thread);
        std::vector<Row> unread;
        for (const auto& row : rows) {
            if (row.pos <= told.upto || told.own.contains(row.pos)) continue;
            const auto header = journal::decode_header(row.header);
            if (!header || row.body.empty()) continue;  // damaged, which whoever reads it says; or pruned
            auto events = journal::decode(row.body, header->first_number);
            if (!events) continue;
            const bool own = told.doubted && *told.doubted == row.command;
            if (own) told.doubted.reset();
            unread.push_back({.at = row.at,
                              .events = std::move(events).value(),
                              .told = own,
                              .outside = own || from_outside(*header)});
        }
        // What a runner elsewhere has gone on from was told there.
        const auto last = std::find_if(unread.rbegin(), unread.rend(), [](const Row& row) { return !row.outside; });
        const auto first_new = std::distance(last, unread.rend());
        for (std::size_t at = 0; at < unread.size(); ++at) {
            auto& row = unread[at];
            if (row.told || static_cast<std::ptrdiff_t>(at) >= first_new) {
                take(all, std::move(row.events), row.at);
            } else {
                for (const auto& event : row.events) remember(event, row.at);
            }
        }
        if (!rows.empty()) {
            told.upto = std::max(told.upto, rows.back().pos);
            told.own.clear();
        }
    }
    tell(thread, all);
}

// To be called under the lock, as the next two.
WatchedStore::Told& WatchedStore::told_of(const std::string& thread) {
    if (told_.size() >= remembered_max && !told_.contains(thread)) told_.erase(told_.begin());
    return told_[thread];
}

void WatchedStore::take(std::vector<ToTell>& out, std::vector<Event> events, UnixMillis at) {
    for (auto& event : events) {
        remember(event, at);
        std::optional<KnownQuestion> question;
        if (const auto* asked = std::get_if<journal::Asked>(&event)) question = questions_[asked->number];
        if (const auto known = questions_.find(std::visit(EndedQuestion{}, event)); known != questions_.end()) {
            question = std::move(known->second);
            questions_.erase(known);
        }
        out.push_back({.at = at, .event = std::move(event), .question = std::move(question)});
    }
}

void WatchedStore::remember(const Event& event, UnixMillis at) {
    const auto* asked = std::get_if<journal::Asked>(&event);
    if (asked == nullptr) return;
    if (questions_.size() >= remembered_max) questions_.erase(questions_.begin());
    questions_[asked->number] = {.id = id_of(asked->number, asked->binding),
                                 .asked_at = at,
                                 .kind = asked->kind,
                                 .answers_call = asked->answers_call};
}

void WatchedStore::tell(const std::string& thread, const std::vector<ToTell>& all) {
    for (const auto& one : all) {
        for (auto* watcher : watchers_)
            watcher->happened({.thread = thread, .at = one.at, .event = one.event, .question = one.question});
    }
}

Result<std::vector<JournalRow>> WatchedStore::load(const std::string& thread_id, std::int64_t after) {
    auto rows = noted("load", store_.load(thread_id, after));
    if (rows) read(thread_id, *rows);
    return rows;
}

Result<std::optional<ThreadHead>> WatchedStore::find_thread(const std::string& id) {
    return noted("find_thread", store_.find_thread(id));
}

Result<std::vector<ThreadHead>> WatchedStore::threads() {
    return noted("threads", store_.threads());
}

Result<std::vector<ThreadHead>> WatchedStore::descendants(const std::string& thread_id) {
    return noted("descendants", store_.descendants(thread_id));
}

Result<std::vector<OpenApproval>> WatchedStore::open_approvals(const std::string& thread_id, std::int64_t after,
                                                               std::size_t limit) {
    return noted("open_approvals", store_.open_approvals(thread_id, after, limit));
}

Result<OpenCount> WatchedStore::count_open() {
    return noted("count_open", store_.count_open());
}

Result<std::optional<ApprovalPlace>> WatchedStore::find_approval(std::int64_t number) {
    return noted("find_approval", store_.find_approval(number));
}

Result<std::string> WatchedStore::schema(const std::string& digest) {
    return noted("schema", store_.schema(digest));
}

Result<std::optional<Snapshot>> WatchedStore::snapshot(const std::string& thread_id) {
    return noted("snapshot", store_.snapshot(thread_id));
}

Result<void> WatchedStore::give_back(const std::string& thread_id, std::int64_t fence) {
    return noted("give_back", store_.give_back(thread_id, fence));
}

Result<std::vector<ReadyThread>> WatchedStore::take_ready(std::size_t limit, UnixMillis now) {
    return noted("take_ready", store_.take_ready(limit, now));
}

Result<void> WatchedStore::put_back(const std::string& thread_id, std::int64_t delay_ms) {
    return noted("put_back", store_.put_back(thread_id, delay_ms));
}

std::optional<std::int64_t> WatchedStore::keeps_for_ms() const {
    return store_.keeps_for_ms();
}

std::shared_ptr<void> WatchedStore::when_lost(std::function<void()> lost) const {
    return store_.when_lost(std::move(lost));
}

const Clock& WatchedStore::clock() const {
    return store_.clock();
}

std::shared_ptr<void> WatchedStore::watch(Changed changed) {
    return store_.watch(std::move(changed));
}

}  // namespace assent::watch
