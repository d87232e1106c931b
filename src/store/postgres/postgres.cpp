#include <assent/postgres.hpp>

#include "base/display.hpp"
#include "store/call_group.hpp"
#include "store/postgres/address.hpp"
#include "store/postgres/bell.hpp"
#include "store/postgres/lease.hpp"
#include "store/postgres/migrations.hpp"
#include "store/postgres/pool.hpp"
#include "store/postgres/server_clock.hpp"
#include "store/postgres/tables.hpp"

#include <assent/clock.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <variant>

namespace assent {
namespace {

using postgres::Connection;
using postgres::Error;
using postgres::Pool;
using postgres::RowAppend;
using postgres::Tables;

using Head = Result<std::optional<ThreadHead>>;
// What is done with others of this process: an append, or a look at a thread, of which thousands may be made again and
// again. One way to the server and back costs more than what is asked for on it.
using Wanted = std::variant<RowAppend, std::string>;
struct Alone {};  // it could not be done with others
using Came = std::variant<Alone, Result<AppendResult>, Head>;
using Group = CallGroup<Wanted, Came>;

constexpr int schema_bytes_max = 63;

std::optional<Failure> unusable(const PostgresOptions& options) {
    const auto& schema = options.schema;
    const bool plain = std::all_of(schema.begin(), schema.end(),
                                   [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
    if (schema.empty() || schema.size() > schema_bytes_max || !plain || (schema[0] >= '0' && schema[0] <= '9')) {
        return Failure{FailureKind::usage,
                       "a schema's name is made of small letters, digits and underscores; give another one"};
    }
    if (options.connections_max < 2)
        return Failure{FailureKind::usage, "a PostgreSQL database needs at least 2 connections; raise connections_max"};
    return std::nullopt;
}

// Nothing was committed by what failed so: it is tried again.
bool is_race(const Error& error) {
    return error.state() == "40P01" || error.state() == "40001";
}
constexpr int races_max = 5;

// A call with more would keep those waiting that come first, and its parameters are looked through for each append.
constexpr std::size_t group_max = 64;
// A call costs the server and the way to it as much as ten appends in it, or more: who comes again with others after
// their last one is worth waiting for. About as long as a call with many takes.
constexpr std::chrono::milliseconds linger_max{3};

}  // namespace

class PostgresCheckpointer::Store {
public:
    Store(const std::string& url, const PostgresOptions& options)
        : options_(options), pool_(url, options), lease_(url, options, clock_), bell_(url, options) {}

    Result<void> prepare() {
        if (auto failure = unusable(options_)) return std::move(*failure);
        try {
            auto connection = pool_.take();
            clock_.ask(*connection);
            return postgres::migrate(*connection, options_.schema, options_.migrate);
        } catch (const Error& error) {
            return postgres::failure_of(error);
        }
    }

    // Gives `body` the tables on some connection. One that was lost while it was idle is not noticed before it is
    // used: the body is done once more, on a new one, if it throws that it was lost.
    template <class Body>
    auto on_server(Body body, Pool::Place place = Pool::Place::last) -> decltype(body(std::declval<Tables&>())) {
        int races = 0;
        for (bool retried = false;;) {
            try {
                auto connection = pool_.take(place);
                Tables tables(*connection, options_.prepared ? std::string() : options_.schema, options_.server_time);
                return body(tables);
            } catch (const Error& error) {
                if (error.connection_lost()) pool_.drop_idle();
                const bool race = is_race(error) && ++races < races_max;
                if (!race && (!error.connection_lost() || retried)) return postgres::failure_of(error);
                retried = retried || !race;
            }
        }
    }

    Result<AppendResult> append(const Append& append) {
        auto number = lease_.number();
        if (append.lease == LeaseUse::take) {
            const auto taken = lease_.take();
            if (!taken) return taken.failure();
            number = *taken;
        }
        auto result = write(append, number);
        if (result && result->status == AppendStatus::uncertain) {
            result = Tables::is_one_statement(append) ? write_again(append, *result, number)
                                                      : after_doubt(append, *result, number);
        }
        if (!result || (result->status != AppendStatus::done && result->status != AppendStatus::uncertain))
            return result;
        if (append.lease == LeaseUse::take) lease_.forget(append.thread_id);
        if (concerns_others(append)) bell_.ring(append.thread_id);
        return result;
    }

    Result<void> put_back(const std::string& thread_id, std::int64_t delay_ms) {
        auto put = on_server([&](Tables& tables) -> Result<void> {
            tables.put_back(thread_id, delay_ms);
            return {};
        });
        // Nobody else would go on with it.
        if (!put) lease_.owe({.thread = thread_id, .delay_ms = delay_ms});
        return put;
    }

    Result<void> give_back(const std::string& thread_id, std::int64_t fence) {
        const auto number = lease_.number();
        auto given = on_server([&](Tables& tables) -> Result<void> {
            (void)tables.give_back(thread_id, fence, number, false);
            return {};
        });
        if (!given) lease_.owe({.thread = thread_id, .fence = fence, .runner = number});
        return given;
    }

    Result<std::vector<ReadyThread>> take_ready(std::size_t limit, UnixMillis now) {
        const auto number = lease_.take();
        if (!number) return number.failure();
        const bool sweeps = time_to_sweep();
        const std::lock_guard lock(marks_mutex_);
        const auto token = std::exchange(unheard_, std::nullopt).value_or(new_token());
        auto taken = on_server([&](Tables& tables) -> Result<std::vector<ReadyThread>> {
            if (sweeps) tables.sweep(now);
            std::vector<ReadyThread> ready;
            for (auto& id : tables.take_ready(limit, *number, token)) ready.push_back({.id = std::move(id)});
            return ready;
        });
        if (!taken) unheard_ = token;
        return taken;
    }

    Head find_thread(const std::string& id) {
        // What the server refuses would send all others of its group their own ways.
        if (valid_utf8(id) && !id.contains('\0')) {
            auto came = together(id, Group::Place::last, Alone());
            if (auto* head = std::get_if<Head>(&came)) return std::move(*head);
        }
        return on_server([&](Tables& tables) -> Head { return tables.find_thread(id); });
    }

    // Most often nothing is new, and the journal, with its many parts, costs more to look at than the thread.
    Result<std::vector<JournalRow>> load(const std::string& thread_id, std::int64_t after) {
        const auto head = find_thread(thread_id);
        if (!head) return head.failure();
        if (!*head || (*head)->head <= after) return std::vector<JournalRow>();
        return on_server(
            [&](Tables& tables) -> Result<std::vector<JournalRow>> { return tables.journal((*head)->no, after); });
    }

    std::shared_ptr<void> watch(Changed changed) { return bell_.watch(std::move(changed)); }

    [[nodiscard]] const Clock& clock() const noexcept { return clock_; }

    [[nodiscard]] std::optional<std::int64_t> keeps_for_ms() const { return lease_.keeps_for_ms(); }
    std::shared_ptr<void> when_lost(std::function<void()> lost) { return lease_.when_lost(std::move(lost)); }

private:
    static std::int64_t new_token() {
        std::array<std::uint8_t, sizeof(std::int64_t)> random{};
        system_random().fill(random);
        return std::bit_cast<std::int64_t>(random);
    }

    // Whoever only goes on with its own thread wakes nobody.
    static bool concerns_others(const Append& append) {
        const bool given_back = append.lease == LeaseUse::give_back && !append.kinds.empty();
        return append.ready || !append.opens.empty() || given_back || append.status;
    }

    // Whoever has threads above it waits for them alone: it would wait for them with locks of others in its hands.
    // Alone is also removed what may be the rows of a long thread: others would wait for that.
    Result<AppendResult> write(const Append& append, std::int64_t number) {
        if (Tables::is_one_statement(append) && append.ancestors.empty() && !append.prunes) {
            const RowAppend row(append, number, *append.expected_seq, append.fence);
            auto came =
                together(row, Group::Place::first, Result(postgres::doubtful(row, "the program is out of memory")));
            if (auto* result = std::get_if<Result<AppendResult>>(&came)) return std::move(*result);
        }
        return write_alone(append, number);
    }

    Result<AppendResult> write_alone(const Append& append, std::int64_t number) {
        auto result = on_server([&](Tables& tables) { return tables.write(append, number); });
        if (result && result->status == AppendStatus::uncertain) pool_.drop_idle();
        return result;
    }

    Came together(Wanted wanted, Group::Place place, Came unanswered) {
        const auto own = group_.join(
            std::move(wanted), [this](const Group::Batch& batch) { call(batch); }, std::move(unanswered), place);
        return std::move(own->answer);
    }

    // Of several appends to one thread the first is tried; nobody waits for what others do with a thread, or long for
    // anything else of theirs.
    void call(const Group::Batch& batch) {
        std::map<std::string_view, Group::Pending*> appends;
        std::vector<Group::Pending*> looks;
        for (const auto& pending : batch) {
            if (const auto* row = std::get_if<RowAppend>(&pending->item)) {
                if (!appends.emplace(row->append.thread_id, pending.get()).second) pending->answer = Alone();
            } else {
                looks.push_back(pending.get());
            }
        }
        std::vector<const RowAppend*> rows;
        for (const auto& [thread, pending] : appends) rows.push_back(&std::get<RowAppend>(pending->item));
        std::set<std::string> wanted;
        for (const auto* look : looks) wanted.insert(std::get<std::string>(look->item));
        const std::vector<std::string> ids(wanted.begin(), wanted.end());
        const auto done = on_server(
            [&](Tables& tables) -> Result<Tables::Together> {
                try {
                    return tables.together(ids, rows);
                } catch (const Error& error) {
                    // What goes wrong with one of them must not take the others with it; alone it may also wait longer.
                    if (error.connection_lost()) throw;
                    return Tables::Together{.written = postgres::WrittenTogether(rows.size())};
                }
            },
            // Behind thousands who only read, a group would have its turn once in thousands of times.
            Pool::Place::first);
        bool lost = false;
        for (std::size_t i = 0; const auto& [thread, pending] : appends) {
            const auto one = done ? done->written[i++] : std::optional(Result<AppendResult>(done.failure()));
            pending->answer = one ? Came(*one) : Alone();
            lost = lost || (one && *one && (*one)->status == AppendStatus::uncertain);
        }
        for (auto* look : looks) {
            if (!done) {
                look->answer = Head(done.failure());
            } else if (done->heads) {
                const auto found = std::ranges::find(*done->heads, std::get<std::string>(look->item), &ThreadHead::id);
                look->answer = Head(found == done->heads->end() ? std::nullopt : std::optional(*found));
            }
        }
        if (lost) pool_.drop_idle();
    }

    // Done now, the first one comes too late; refused for good, it is over: its row is there or will never be.
    Result<AppendResult> write_again(const Append& append, const AppendResult& first, std::int64_t number) {
        auto again = write_alone(append, number);
        if (!again) return not_known(append, first.fence, again.failure().message, number);
        if (again->status == AppendStatus::done) return again;
        // Where they differ, only the later one can hold it: it has looked.
        if (again->status == AppendStatus::uncertain)
            return not_known(append, std::max(first.fence, again->fence), first.doubt, number);
        const auto fate = on_server([&](Tables& tables) -> Result<Tables::Fate> { return tables.fate_of(append); });
        if (!fate) return not_known(append, first.fence, first.doubt, number);
        if (*fate == Tables::Fate::kept) return first;
        // Whom a runner or an aborted thread above was in the way of may find the way free later.
        const bool for_good = *fate == Tables::Fate::over || again->status == AppendStatus::fenced ||
                              again->status == AppendStatus::closed || again->status == AppendStatus::expired;
        return for_good ? again : not_known(append, first.fence, first.doubt, number);
    }

    // A thread that this process holds without knowing could be run by nobody while it lives.
    Failure not_known(const Append& append, std::int64_t fence, const std::string& why, std::int64_t number) {
        if (append.lease == LeaseUse::take) lease_.owe({.thread = append.thread_id, .fence = fence, .runner = number});
        return {FailureKind::database, why + "; whether the last change was kept is not known: look again"};
    }

    // What became of an append whose commit was not confirmed. Afterwards a reader sees it, if it was kept.
    Result<AppendResult> after_doubt(const Append& append, const AppendResult& result, std::int64_t number) {
        const auto head = on_server([&](Tables& tables) -> Result<std::optional<ThreadHead>> {
            tables.wait_for_append(append);
            return tables.find_thread(append.thread_id);
        });
        if (!head) return not_known(append, result.fence, result.doubt, number);
        if (!append.kinds.empty()) return result;
        // An append without a row has no command to look for.
        const bool given = append.lease == LeaseUse::give_back;
        const bool kept = head->has_value() && (*head)->fence == result.fence &&
                          (given ? (*head)->runner != number : (*head)->runner == number);
        if (kept)
            return AppendResult{
                .status = AppendStatus::done, .seq = (*head)->seq, .pos = (*head)->head, .fence = result.fence};
        return Failure{FailureKind::database, result.doubt + "; the last change was not kept: try again"};
    }

    // Those who only wait for an answer need no sweep each time that something is rung.
    bool time_to_sweep() {
        const auto now = system_clock().monotonic();
        auto last = swept_at_.load();
        return now - last >= options_.sweep_ms && swept_at_.compare_exchange_strong(last, now);
    }

    PostgresOptions options_;
    Pool pool_;
    Group group_{linger_max, group_max};
    postgres::ServerClock clock_;
    postgres::Lease lease_;
    std::mutex marks_mutex_;
    std::optional<std::int64_t> unheard_;  // of marks that were perhaps taken, which is not known here
    std::atomic<std::int64_t> swept_at_ = std::numeric_limits<std::int64_t>::min() / 2;
    postgres::Bell bell_;
};

Result<std::unique_ptr<PostgresCheckpointer>> PostgresCheckpointer::open(const std::string& url,
                                                                         const PostgresOptions& options) {
    auto address = postgres::read_address(url, options);
    if (!address) return address.failure();
    auto store = std::make_unique<Store>(address->url, address->options);
    if (auto prepared = store->prepare(); !prepared) return prepared.failure();
    return std::unique_ptr<PostgresCheckpointer>(new PostgresCheckpointer(std::move(store)));
}

Result<StoreFormat> PostgresCheckpointer::format(const std::string& url, const PostgresOptions& options) {
    auto address = postgres::read_address(url, options);
    if (!address) return address.failure();
    if (auto failure = unusable(address->options)) return std::move(*failure);
    try {
        Connection connection(address->url, address->options);
        return postgres::format_of(connection, address->options.schema);
    } catch (const Error& error) {
        return postgres::failure_of(error);
    }
}

PostgresCheckpointer::PostgresCheckpointer(const std::string& url, const PostgresOptions& options) {
    auto opened = PostgresCheckpointer::open(url, options);
    if (!opened) throw std::runtime_error(opened.failure().message);
    store_ = std::move(opened.value()->store_);
}

PostgresCheckpointer::PostgresCheckpointer(std::unique_ptr<Store> store) : store_(std::move(store)) {}
PostgresCheckpointer::~PostgresCheckpointer() = default;

Result<AppendResult> PostgresCheckpointer::append(const Append& append) {
    return store_->append(append);
}

Result<std::optional<ThreadHead>> PostgresCheckpointer::find_thread(const std::string& id) {
    return store_->find_thread(id);
}

Result<std::vector<JournalRow>> PostgresCheckpointer::load(const std::string& thread_id, std::int64_t after) {
    return store_->load(thread_id, after);
}

Result<std::vector<ThreadHead>> PostgresCheckpointer::threads() {
    return store_->on_server([](Tables& tables) -> Result<std::vector<ThreadHead>> { return tables.threads(); });
}

Result<std::vector<ThreadHead>> PostgresCheckpointer::descendants(const std::string& thread_id) {
    return store_->on_server(
        [&](Tables& tables) -> Result<std::vector<ThreadHead>> { return tables.descendants(thread_id); });
}

Result<std::vector<OpenApproval>> PostgresCheckpointer::open_approvals(const std::string& thread_id, std::int64_t after,
                                                                       std::size_t limit) {
    return store_->on_server([&](Tables& tables) -> Result<std::vector<OpenApproval>> {
        return tables.open_approvals(thread_id, after, limit);
    });
}

Result<OpenCount> PostgresCheckpointer::count_open() {
    return store_->on_server([](Tables& tables) -> Result<OpenCount> { return tables.count_open(); });
}

Result<std::optional<ApprovalPlace>> PostgresCheckpointer::find_approval(std::int64_t number) {
    return store_->on_server(
        [&](Tables& tables) -> Result<std::optional<ApprovalPlace>> { return tables.find_approval(number); });
}

Result<std::string> PostgresCheckpointer::schema(const std::string& digest) {
    return store_->on_server([&](Tables& tables) -> Result<std::string> {
        if (auto text = tables.schema_text(digest)) return std::move(*text);
        return Failure{FailureKind::database, "the schema of this approval is not stored; the database is damaged"};
    });
}

Result<std::optional<Snapshot>> PostgresCheckpointer::snapshot(const std::string& thread_id) {
    return store_->on_server(
        [&](Tables& tables) -> Result<std::optional<Snapshot>> { return tables.snapshot(thread_id); });
}

Result<void> PostgresCheckpointer::give_back(const std::string& thread_id, std::int64_t fence) {
    return store_->give_back(thread_id, fence);
}

Result<std::vector<ReadyThread>> PostgresCheckpointer::take_ready(std::size_t limit, UnixMillis now) {
    return store_->take_ready(limit, now);
}

Result<void> PostgresCheckpointer::put_back(const std::string& thread_id, std::int64_t delay_ms) {
    return store_->put_back(thread_id, delay_ms);
}

std::optional<std::int64_t> PostgresCheckpointer::keeps_for_ms() const {
    return store_->keeps_for_ms();
}

const Clock& PostgresCheckpointer::clock() const {
    return store_->clock();
}

std::shared_ptr<void> PostgresCheckpointer::when_lost(std::function<void()> lost) const {
    return store_->when_lost(std::move(lost));
}

std::shared_ptr<void> PostgresCheckpointer::watch(Changed changed) {
    return store_->watch(std::move(changed));
}

}  // namespace assent
