#include "watch/metrics.hpp"

#include <arpa/inet.h>
#include <prometheus/collectable.h>
#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <mutex>
#include <optional>

namespace assent::watch {
namespace {

using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Registry;

constexpr std::int64_t look_at_most_every_ms = 1000;
constexpr double ms_in_second = 1000;
constexpr std::array run_results{"done", "waiting", "failed", "aborted", "given_back", "leased"};

std::string_view name_of(AppendStatus status) {
    switch (status) {
        case AppendStatus::done:
            return "done";
        case AppendStatus::conflict:
            return "conflict";
        case AppendStatus::fenced:
            return "fenced";
        case AppendStatus::leased:
            return "leased";
        case AppendStatus::closed:
            return "closed";
        case AppendStatus::expired:
            return "expired";
        case AppendStatus::unknown_thread:
            return "unknown_thread";
        case AppendStatus::stopped:
            return "stopped";
        case AppendStatus::uncertain:
            return "uncertain";
    }
    return "uncertain";
}

// One counter for each of a fixed list of values of one label; all of them are shown from the beginning.
class Counters {
public:
    Counters(Registry& registry, const std::string& name, const std::string& help, const std::string& label,
             const auto& values) {
        auto& family = prometheus::BuildCounter().Name(name).Help(help).Register(registry);
        for (const auto& value : values) {
            const std::string text(value);
            by_value_.emplace(text, &family.Add({{label, text}}));
        }
    }
    void add(std::string_view value, std::int64_t by = 1) {
        const auto found = by_value_.find(value);
        if (found != by_value_.end() && by > 0) found->second->Increment(static_cast<double>(by));
    }

private:
    std::map<std::string, Counter*, std::less<>> by_value_;
};

Counter& counter(Registry& registry, const std::string& name, const std::string& help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add({});
}

Gauge& gauge(Registry& registry, const std::string& name, const std::string& help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({});
}

Histogram& histogram(Registry& registry, const std::string& name, const std::string& help,
                     const Histogram::BucketBoundaries& bounds) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add({}, bounds);
}

// What the store says when somebody looks.
class StoreGauges final : public prometheus::Collectable {
public:
    explicit StoreGauges(Checkpointer& store) : store_(store) {}

    std::vector<prometheus::MetricFamily> Collect() const override {
        std::vector<prometheus::MetricFamily> all;
        const auto count = look();
        all.push_back(family("assent_store_up", "Whether the store answered when it was last asked.", count ? 1 : 0));
        if (!count) return all;
        all.push_back(family("assent_approvals_open", "Approvals that wait for a person, of all threads of the store.",
                             static_cast<double>(count->approvals)));
        const auto age =
            count->oldest_asked_at ? std::max<std::int64_t>(store_.clock().now() - *count->oldest_asked_at, 0) : 0;
        all.push_back(family("assent_approvals_oldest_seconds", "How long ago the oldest open approval was asked.",
                             static_cast<double>(age) / ms_in_second));
        return all;
    }

private:
    static prometheus::MetricFamily family(const std::string& name, const std::string& help, double value) {
        prometheus::ClientMetric metric;
        metric.gauge.value = value;
        return {.name = name, .help = help, .type = prometheus::MetricType::Gauge, .metric = {metric}};
    }

    std::optional<OpenCount> look() const {
        const std::lock_guard lock(mutex_);
        const auto now = store_.clock().monotonic();
        if (looked_at_ && now - *looked_at_ < look_at_most_every_ms) return last_;
        last_.reset();
        // Nothing may leave this function: the thread is not ours.
        try {
            if (auto count = store_.count_open()) last_ = *count;
        } catch (const std::exception&) {
            last_.reset();
        }
        looked_at_ = now;
        return last_;
    }

    Checkpointer& store_;
    mutable std::mutex mutex_;
    mutable std::optional<std::int64_t> looked_at_;
    mutable std::optional<OpenCount> last_;
};

// An IPv4 or IPv6 address in its usual form.
bool is_ip(const std::string& host, int family) {
    in6_addr parsed{};
    return inet_pton(family, host.c_str(), &parsed) == 1;
}

}  // namespace

Result<std::string> listening_address(const std::string& address) {
    const Failure wrong{FailureKind::usage,
                        "an address to listen on is IP:PORT, [IP6]:PORT, localhost:PORT or :PORT, not " + address};
    const auto colon = address.rfind(':');
    if (colon == std::string::npos) return wrong;
    auto host = address.substr(0, colon);
    const auto port = address.substr(colon + 1);
    unsigned number = 0;
    const auto* end = port.data() + port.size();
    const auto read = std::from_chars(port.data(), end, number);
    constexpr unsigned port_max = 65535;
    if (port.empty() || read.ec != std::errc() || read.ptr != end || number > port_max) return wrong;
    if (host.empty() || host == "localhost") host = "127.0.0.1";
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    const bool known = bracketed ? is_ip(host.substr(1, host.size() - 2), AF_INET6) : is_ip(host, AF_INET);
    if (!known) return wrong;
    return host + ":" + std::to_string(number);
}

class Metrics::Served {
public:
    Served(const MetricsOptions& options, const std::string& listens)
        : registry(std::make_shared<Registry>()),
          store_gauges(std::make_shared<StoreGauges>(*options.store)),
          runs_ended(*registry, "assent_runs_ended_total", "Runs of threads that came back, by result.", "result",
                     run_results),
          calls_ended(*registry, "assent_calls_ended_total", "Tool calls that ended, by outcome.", "outcome",
                      std::array{"done", "failed", "skipped", "denied", "timed_out", "cancelled", "answered"}),
          asked(*registry, "assent_approvals_asked_total", "Questions put to people, by kind.", "kind",
                std::array{"approve", "unknown", "confirm", "ask"}),
          answered(*registry, "assent_approvals_answered_total", "Answers of people, by decision.", "decision",
                   std::array{"approve", "deny", "edit", "respond"}),
          resolved(*registry, "assent_outcomes_resolved_total", "Unknown outcomes that a person ended, by how.",
                   "resolution", std::array{"done", "retry", "fail"}),
          tokens(*registry, "assent_model_tokens_total", "Tokens that models reported, by direction.", "direction",
                 std::array{"input", "output"}),
          appends(*registry, "assent_store_appends_total", "Appends to the store, by how they came out.", "status",
                  std::array{"done", "conflict", "fenced", "leased", "closed", "expired", "unknown_thread", "stopped",
                             "uncertain"}),
          failures(*registry, "assent_store_failures_total", "Operations of the store that failed, by operation.",
                   "operation",
                   std::array{"append", "load", "find_thread", "threads", "descendants", "open_approvals", "count_open",
                              "find_approval", "schema", "snapshot", "give_back", "take_ready", "put_back"}),
          runs_started(counter(*registry, "assent_runs_started_total", "Runs of threads that began.")),
          turns(counter(*registry, "assent_model_turns_total", "Turns of models that were stored.")),
          calls_started(counter(*registry, "assent_calls_started_total", "Tool calls that were started.")),
          timed_out(counter(*registry, "assent_approvals_timed_out_total", "Questions whose deadline passed.")),
          doubtful(counter(*registry, "assent_outcomes_doubtful_total",
                           "Starts of which nobody knows how they ended: the process died, or the tool cannot say.")),
          aborted(counter(*registry, "assent_threads_aborted_total", "Threads that were aborted.")),
          running(gauge(*registry, "assent_threads_running", "Threads that this process runs now.")),
          wait(histogram(*registry, "assent_approvals_wait_seconds", "From a question to its answer.",
                         {1, 5, 15, 60, 300, 900, 3600, 14'400, 86'400, 604'800})),
          append_time(histogram(*registry, "assent_store_append_seconds", "How long an append to the store took.",
                                {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10})),
          exposer(listens) {
        gauge(*registry, "assent_threads_running_max", "How many threads this process runs at once.")
            .Set(static_cast<double>(options.threads_max));
        gauge(*registry, "assent_start_time_seconds", "When this process began to work, in seconds since 1970.")
            .Set(static_cast<double>(options.store->clock().now()) / ms_in_second);
        prometheus::BuildGauge()
            .Name("assent_build_info")
            .Help("The version that runs, as a label.")
            .Register(*registry)
            .Add({{"version", options.version}})
            .Set(1);
        exposer.RegisterCollectable(registry);
        exposer.RegisterCollectable(store_gauges);
        const auto ports = exposer.GetListeningPorts();
        const auto port = ports.empty() ? std::string("0") : std::to_string(ports.front());
        address = listens.substr(0, listens.rfind(':') + 1) + port;
    }

    std::shared_ptr<Registry> registry;
    std::shared_ptr<StoreGauges> store_gauges;
    Counters runs_ended;
    Counters calls_ended;
    Counters asked;
    Counters answered;
    Counters resolved;
    Counters tokens;
    Counters appends;
    Counters failures;
    Counter& runs_started;
    Counter& turns;
    Counter& calls_started;
    Counter& timed_out;
    Counter& doubtful;
    Counter& aborted;
    Gauge& running;
    Histogram& wait;
    Histogram& append_time;
    std::string address;
    // Last: its threads end before what they look at.
    prometheus::Exposer exposer;

    // What an event counts as.
    struct Counting;
};

struct Metrics::Served::Counting {
    Served& to;
    const Happening& happening;

    void operator()(const journal::ModelSaid& event) const {
        to.turns.Increment();
        to.tokens.add("input", event.input_tokens);
        to.tokens.add("output", event.output_tokens);
    }
    void operator()(const journal::Refused& /*event*/) const { end(OutcomeKind::failed); }
    void operator()(const journal::Judged& event) const {
        if (event.verdict == Verdict::deny) end(OutcomeKind::denied);
    }
    void operator()(const journal::Asked& event) const { to.asked.add(to_string(event.kind)); }
    void operator()(const journal::Answered& event) const {
        to.answered.add(to_string(event.decision));
        waited();
        const bool is_result =
            happening.question && happening.question->answers_call &&
            (event.decision != DecisionKind::deny || happening.question->kind == ApprovalKind::confirm);
        if (is_result || event.decision == DecisionKind::respond) {
            end(OutcomeKind::answered);
        } else if (event.decision == DecisionKind::deny) {
            end(OutcomeKind::denied);
        }
    }
    void operator()(const journal::Claimed& event) const {
        to.calls_started.Increment(static_cast<double>(event.starts.size()));
    }
    void operator()(const journal::Finished& event) const { end(event.outcome); }
    void operator()(const journal::ChildFinished& event) const { end(event.outcome); }
    void operator()(const journal::Doubted& /*event*/) const { to.doubtful.Increment(); }
    void operator()(const journal::Resolved& event) const {
        to.resolved.add(to_string(event.how));
        if (event.how == Resolution::done) end(OutcomeKind::done);
        if (event.how == Resolution::fail) end(OutcomeKind::failed);
    }
    void operator()(const journal::Withdrawn& event) const {
        // Without a text the call goes on, or has ended by something else.
        if (!event.text.empty()) end(OutcomeKind::cancelled);
    }
    void operator()(const journal::TimedOut& /*event*/) const {
        to.timed_out.Increment();
        end(OutcomeKind::timed_out);
    }
    void operator()(const journal::Aborted& /*event*/) const { to.aborted.Increment(); }
    void operator()(const auto& /*event*/) const {}

    // What is unknown has not ended; a person says how it did.
    void end(OutcomeKind outcome) const { to.calls_ended.add(to_string(outcome)); }
    void waited() const {
        if (!happening.question) return;
        const auto waited = std::max<std::int64_t>(happening.at - happening.question->asked_at, 0);
        to.wait.Observe(static_cast<double>(waited) / ms_in_second);
    }
};

Metrics::Metrics(std::unique_ptr<Served> served) : served_(std::move(served)) {}
Metrics::~Metrics() = default;

Result<std::unique_ptr<Metrics>> Metrics::open(const MetricsOptions& options) {
    const auto listens = listening_address(options.address);
    if (!listens) return listens.failure();
    // The server says no more than that it could not.
    try {
        return std::unique_ptr<Metrics>(new Metrics(std::make_unique<Served>(options, *listens)));
    } catch (const std::exception&) {
        return Failure{FailureKind::usage, "nobody can listen on " + *listens +
                                               "; it is in use, or not an address of this machine, or needs rights"};
    }
}

const std::string& Metrics::address() const noexcept {
    return served_->address;
}

void Metrics::run_began() {
    served_->runs_started.Increment();
    served_->running.Increment();
}

void Metrics::run_ended(std::string_view result) {
    served_->running.Decrement();
    served_->runs_ended.add(result);
}

void Metrics::happened(const Happening& happening) {
    std::visit(Served::Counting{*served_, happening}, happening.event);
}

void Metrics::appended(AppendStatus status, std::int64_t milliseconds) {
    served_->appends.add(name_of(status));
    served_->append_time.Observe(static_cast<double>(milliseconds) / ms_in_second);
}

void Metrics::failed(std::string_view operation, const Failure& /*failure*/) {
    served_->failures.add(operation);
}

}  // namespace assent::watch
