#include "store/postgres/lease.hpp"

#include <assent/clock.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <system_error>
#include <utility>

namespace assent::postgres {
namespace {

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// A server that is slower than this has let the lease run out anyway.
PostgresOptions of_lease(PostgresOptions options) {
    options.answer_ms = std::min(options.answer_ms, std::max<std::int64_t>(options.lease_ms / 4, 100));
    options.connect_ms = std::min(options.connect_ms, options.lease_ms);
    return options;
}

}  // namespace

struct Lease::Listeners {
    std::mutex mutex;  // held while they are called: whoever lets go is not called afterwards
    std::map<std::int64_t, std::function<void()>> all;
    std::int64_t last = 0;

    void tell() {
        const std::lock_guard lock(mutex);
        for (const auto& [number, lost] : all) lost();
    }
};

Lease::Lease(std::string url, const PostgresOptions& options, ServerClock& clock)
    : url_(std::move(url)), options_(of_lease(options)), clock_(clock), listeners_(std::make_shared<Listeners>()) {}

template <class Act>
auto Lease::on_server(Act act) {
    const std::lock_guard lock(mutex_);
    for (bool fresh = false;; fresh = true) {
        if (connection_ == nullptr) {
            connection_ = std::make_unique<Connection>(url_, options_);
            if (options_.prepared) connection_->prepare_session(options_.schema);
            fresh = true;
        }
        try {
            Tables tables(*connection_, options_.prepared ? std::string() : options_.schema, options_.server_time);
            return act(tables);
        } catch (const Error& error) {
            if (!connection_->usable()) connection_.reset();
            // One that was lost while it was idle is not noticed before it is used.
            if (!error.connection_lost() || fresh) throw;
        }
    }
}

Lease::~Lease() {
    watching_ = {};
    renewing_ = {};
    pay();
    if (number_ == 0) return;
    try {
        on_server([this](Tables& tables) { tables.end_runner(number_); });
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): then its time runs out
    }
}

// After an outage the renewal may not have noticed yet.
bool Lease::may_be_over() const noexcept {
    return system_clock().monotonic() - renewed_at_ >= options_.lease_ms;
}

Result<std::int64_t> Lease::take() {
    if (const auto number = number_.load(); number != 0 && !may_be_over()) return number;
    const std::lock_guard sleeping(sleep_mutex_);
    if (const auto number = number_.load(); number != 0 && !may_be_over()) return number;
    try {
        // Threads first: a lease that nobody renews would be worse than none.
        if (!renewing_.joinable()) renewing_ = std::jthread([this](const std::stop_token& stop) { renew(stop); });
        if (!watching_.joinable()) watching_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
        const auto before = system_clock().monotonic();
        const auto number =
            on_server([this](Tables& tables) { return tables.add_runner(host_name(), getpid(), options_.lease_ms); });
        renewed_at_ = before;
        held_ = true;
        number_ = number;
        sleep_.notify_all();
        return number;
    } catch (const Error& error) {
        return failure_of(error);
    } catch (const std::system_error& error) {
        return Failure{FailureKind::internal, std::string("the lease cannot be renewed: ") + error.what()};
    }
}

std::optional<std::int64_t> Lease::keeps_for_ms() const noexcept {
    if (!held_) return std::nullopt;
    if (number_ == 0) return 0;
    // What is stopped in time needs some.
    return options_.lease_ms * 3 / 4 - (system_clock().monotonic() - renewed_at_);
}

std::shared_ptr<void> Lease::when_lost(std::function<void()> lost) {
    std::int64_t number = 0;
    {
        const std::lock_guard lock(listeners_->mutex);
        number = ++listeners_->last;
        listeners_->all.emplace(number, std::move(lost));
    }
    return {nullptr, [listeners = listeners_, number](void*) {
                const std::lock_guard lock(listeners->mutex);
                listeners->all.erase(number);
            }};
}

void Lease::owe(Owed owed) {
    const std::lock_guard lock(owed_mutex_);
    owed_.push_back(std::move(owed));
}

void Lease::forget(const std::string& thread_id) {
    const std::lock_guard lock(owed_mutex_);
    std::erase_if(owed_, [&](const Owed& one) { return one.thread == thread_id; });
}

void Lease::renew(const std::stop_token& stop) {
    const auto interval = std::chrono::milliseconds(std::max<std::int64_t>(options_.lease_ms / 3, 1));
    std::unique_lock lock(sleep_mutex_);
    while (true) {
        sleep_.wait_for(lock, stop, interval, [&] { return stop.stop_requested(); });
        if (stop.stop_requested()) return;
        lock.unlock();
        renew_once();
        lock.lock();
    }
}

// A failure is nothing to act on: either the next one succeeds in time, or the right is lost.
void Lease::renew_once() {
    const auto number = number_.load();
    if (number != 0) {
        const auto before = system_clock().monotonic();
        try {
            const bool renewed = on_server([&](Tables& tables) {
                const bool still = tables.renew_runner(number, options_.lease_ms);
                clock_.ask(tables.connection());
                return still;
            });
            if (renewed) {
                renewed_at_ = before;
            } else {
                // Too late: others may have taken what it held.
                number_ = 0;
                lose();
            }
        } catch (const Error&) {  // NOLINT(bugprone-empty-catch): see above
        }
    }
    pay();
}

void Lease::pay() {
    const std::lock_guard owed_lock(owed_mutex_);
    try {
        for (auto debt = owed_.begin(); debt != owed_.end();) {
            const bool paid = on_server([&](Tables& tables) {
                if (!debt->delay_ms) return tables.give_back(debt->thread, debt->fence, debt->runner, true);
                tables.put_back(debt->thread, *debt->delay_ms);
                return true;
            });
            // An append that took it may come late; under a number that has lost its right it takes nothing.
            debt = paid || debt->runner != number_ ? owed_.erase(debt) : std::next(debt);
        }
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): it is owed still
    }
}

// Its only work is to be on time, whatever the others wait for.
void Lease::watch(const std::stop_token& stop) {
    std::unique_lock lock(sleep_mutex_);
    std::int64_t told_of = 0;  // the renewal whose end was told
    while (!stop.stop_requested()) {
        const auto renewed = renewed_at_.load();
        const auto keeps = number_ == 0 || told_of == renewed ? options_.lease_ms : keeps_for_ms().value_or(0);
        if (keeps > 0) {
            // In short steps: while the machine was suspended its own waiting stood still.
            constexpr std::int64_t step_ms = 200;
            sleep_.wait_for(lock, stop, std::chrono::milliseconds(std::min(keeps, step_ms)),
                            [&] { return stop.stop_requested() || renewed_at_ != renewed; });
            continue;
        }
        told_of = renewed;
        lock.unlock();
        lose();
        lock.lock();
    }
}

void Lease::lose() {
    listeners_->tell();
}

}  // namespace assent::postgres
