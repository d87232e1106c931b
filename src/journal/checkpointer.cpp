// What a store gets that does not bring its own.
#include <assent/checkpointer.hpp>

#include "journal/lineage.hpp"

#include <algorithm>
#include <map>

namespace assent {
namespace {

constexpr std::size_t page_size = 1000;

// By root: how many events it and those that work for it have.
std::map<std::string, std::int64_t> versions_of(const std::vector<ThreadHead>& heads) {
    std::map<std::string, std::int64_t> versions;
    for (const auto& head : heads) versions[journal::root_of(head.id)] += head.seq;
    return versions;
}

}  // namespace

Result<std::vector<ThreadHead>> Checkpointer::descendants(const std::string& thread_id) {
    auto heads = threads();
    if (heads) std::erase_if(*heads, [&](const auto& head) { return !journal::call_behind(head.id, thread_id); });
    return heads;
}

Result<OpenCount> Checkpointer::count_open() {
    OpenCount count;
    for (std::int64_t after = 0;;) {
        const auto page = open_approvals({}, after, page_size);
        if (!page) return page.failure();
        // Numbers are given in the order of asking.
        if (!page->empty() && !count.oldest_asked_at) count.oldest_asked_at = page->front().asked_at;
        count.approvals += static_cast<std::int64_t>(page->size());
        if (page->size() < page_size) return count;
        after = page->back().number;
    }
}

Result<std::vector<ReadyThread>> Checkpointer::take_ready(std::size_t /*limit*/, UnixMillis now) {
    const auto heads = threads();
    if (!heads) return heads.failure();
    auto versions = versions_of(*heads);
    for (std::int64_t after = 0;;) {
        const auto page = open_approvals({}, after, page_size);
        if (!page) return page.failure();
        for (const auto& row : *page) {
            if (row.deadline && *row.deadline <= now) versions[journal::root_of(row.thread_id)] = 0;
        }
        if (page->size() < page_size) break;
        after = page->back().number;
    }
    std::vector<ReadyThread> ready;
    for (const auto& head : *heads) {
        const bool stands = head.status == ThreadStatus::active && !head.runner_alive && !journal::child_of(head.id);
        if (stands) ready.push_back({head.id, versions[head.id]});
    }
    return ready;
}

Result<void> Checkpointer::put_back(const std::string& /*thread_id*/, std::int64_t /*delay_ms*/) {
    return {};
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): stores keep it
std::shared_ptr<void> Checkpointer::when_lost(std::function<void()> /*lost*/) const {
    return nullptr;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): stores keep it
std::shared_ptr<void> Checkpointer::watch(Changed /*changed*/) {
    return nullptr;
}

}  // namespace assent
