#include "cli/work_command.hpp"

#include "base/display.hpp"
#include "cli/event_log.hpp"
#include "cli/json_out.hpp"
#include "cli/notify.hpp"
#include "cli/run_command.hpp"
#include "cli/signals.hpp"
#include "cli/version.hpp"
#include "watch/metrics.hpp"

#include <assent/tools.hpp>
#include <assent/worker.hpp>

#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace assent::cli {
namespace {

constexpr std::size_t told_max = 20'000;

// Tells people, and whoever counts, what the worker's threads do. Called on several threads.
class WorkLog {
public:
    WorkLog(const Terminal& terminal, const std::string& notify, watch::Metrics* metrics)
        : terminal_(terminal), notifier_(terminal, notify), metrics_(metrics) {}

    void began(const std::string& thread) {
        if (metrics_ != nullptr) metrics_->run_began();
        terminal_.log(log_line(LogLevel::info, "run_started").text("thread", thread).str());
    }

    void ended(const Run& run) {
        const bool elsewhere = run.failure && run.failure->kind == FailureKind::leased;
        if (metrics_ != nullptr) metrics_->run_ended(elsewhere ? "leased" : result_of(run));
        const std::lock_guard lock(mutex_);
        log_end(run, elsewhere);
        if (elsewhere) return;
        if (terminal_.json) {
            JsonObject line;
            line.text("thread", run.thread).text("result", in_words(result_of(run)));
            if (run.failure) line.raw("error", failure_json(*run.failure));
            terminal_.out(line.str());
        } else if (!terminal_.log_json) {
            tell_end(run);
        }
    }

    void failed(const Failure& failure) {
        const std::lock_guard lock(mutex_);
        // The log has it already, with the operation.
        if (!terminal_.log_json) terminal_.note(failure.message + "; trying again");
    }

    // An agent that is made anew tells of a question again.
    void asked(const Approval& approval) {
        const std::lock_guard lock(mutex_);
        if (told_.size() >= told_max) told_.erase(told_.begin());
        if (told_.insert(approval.number).second) notifier_.tell("asked", approval);
    }

private:
    static std::string_view result_of(const Run& run) { return run.interrupted ? "given_back" : to_string(run.status); }
    static std::string_view in_words(std::string_view result) { return result == "given_back" ? "given back" : result; }

    static std::string failure_json(const Failure& failure) {
        return JsonObject().text("kind", to_string(failure.kind)).text("message", failure.message).str();
    }

    void log_end(const Run& run, bool elsewhere) const {
        const bool faulty = run.failure && !run.interrupted && !elsewhere;
        auto line = log_line(faulty ? LogLevel::warning : LogLevel::info, "run_ended");
        line.text("thread", run.thread).text("result", elsewhere ? "leased" : result_of(run));
        line.number("open", static_cast<std::int64_t>(run.interrupts.size()));
        if (faulty) line.raw("error", failure_json(*run.failure));
        terminal_.log(line.str());
    }

    void tell_end(const Run& run) const {
        auto words = "thread " + safe_to_show(run.thread).text + ": " + std::string(in_words(result_of(run)));
        if (run.status == RunStatus::waiting)
            words += " for people (" + std::to_string(run.interrupts.size()) + " open)";
        if (run.failure && !run.interrupted) words += ": " + safe_to_show(run.failure->message).text;
        terminal_.note(words);
    }

    const Terminal& terminal_;
    std::mutex mutex_;
    Notifier notifier_;
    std::set<std::int64_t> told_;  // numbers of approvals; the lowest are the oldest
    watch::Metrics* metrics_;
};

// Works until it is told to end, or until there is nothing to do.
void work(const Context& context, const WorkOptions& options, WorkLog& log, Checkpointer& store,
          const std::stop_token& stop) {
    Worker worker({.store = &store,
                   .agent = [&](const std::string& thread) -> Result<AgentOptions> {
                       log.began(thread);
                       auto agent = recorded_agent(context, thread);
                       if (!agent) return agent;
                       agent->listener = [&log](const AgentEvent& event) {
                           if (event.kind == AgentEvent::Kind::asked) log.asked(*event.approval);
                           if (event.kind == AgentEvent::Kind::not_stored)
                               log.failed(
                                   {FailureKind::database, "what came of a tool cannot be stored: " + event.text});
                       };
                       return agent;
                   },
                   .threads_max = options.at_once,
                   .ended = [&log](const Run& run) { log.ended(run); },
                   .store_failed = [&log](const Failure& failure) { log.failed(failure); }});
    const auto& terminal = context.terminal;
    const std::stop_callback told_to_stop(stop,
                                          [&terminal] { terminal.log(log_line(LogLevel::info, "stopping").str()); });
    terminal.log(log_line(LogLevel::info, "started")
                     .text("version", program_version())
                     .text("database", context.shown_db())
                     .number("at_once", static_cast<std::int64_t>(options.at_once))
                     .str());
    if (options.until_idle) {
        worker.run_until_idle(stop);
    } else {
        if (!terminal.log_json) terminal.note("working on " + safe_to_show(context.shown_db()).text);
        worker.run(stop);
    }
    terminal.log(log_line(LogLevel::info, "stopped").str());
}

// Told also where nothing else is: with port 0 nobody could know it.
void tell_address(const Terminal& terminal, const watch::Metrics& metrics) {
    const auto where = "http://" + metrics.address() + "/metrics";
    if (terminal.log_json) {
        terminal.log(log_line(LogLevel::info, "metrics").text("url", where).str());
    } else {
        terminal.prompt("metrics at " + where + "\n");
    }
}

}  // namespace

int work_command(Context& context, const WorkOptions& options) {
    if (options.at_once == 0 || options.lease_seconds < 1)
        return context.terminal.fail({FailureKind::usage, "--at-once and --lease take a number above 0"});
    Signals signals;
    context.lease_seconds = options.lease_seconds;
    if (auto opened = context.open_store(); !opened) return context.terminal.fail(opened.failure());
    if (!context.durable())
        return context.terminal.fail(
            {FailureKind::usage, "a database in memory has no threads; name another with --db"});
    if (!shell_is_confined()) {
        context.terminal.note(
            "this kernel has no Landlock: a command that somebody approves could open the database and decide; see "
            "assent doctor");
    }
    std::unique_ptr<watch::Metrics> metrics;
    if (!options.metrics.empty()) {
        auto served = watch::Metrics::open({.address = options.metrics,
                                            .version = program_version(),
                                            .store = &context.store(),
                                            .threads_max = static_cast<std::int64_t>(options.at_once)});
        if (!served) return context.terminal.fail({FailureKind::usage, "--metrics: " + served.failure().message});
        metrics = std::move(served).value();
        tell_address(context.terminal, *metrics);
    }
    WorkLog log(context.terminal, options.notify, metrics.get());
    EventLog events(context.terminal);
    std::vector<watch::Watcher*> watchers;
    if (metrics) watchers.push_back(metrics.get());
    if (context.terminal.log_json) watchers.push_back(&events);
    if (watchers.empty()) {
        work(context, options, log, context.store(), signals.token());
        return exit_done;
    }
    watch::WatchedStore watched(context.store(), std::move(watchers));
    work(context, options, log, watched, signals.token());
    return exit_done;
}

}  // namespace assent::cli
