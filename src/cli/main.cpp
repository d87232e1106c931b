// The program `assent`: the commands and their options. What they do stands in their own files.
#include "base/test_switch.hpp"
#include "cli/answer_commands.hpp"
#include "cli/db_command.hpp"
#include "cli/doctor_command.hpp"
#include "cli/json_out.hpp"
#include "cli/list_commands.hpp"
#include "cli/run_command.hpp"
#include "cli/version.hpp"
#include "cli/work_command.hpp"
#include "store/postgres/address.hpp"

#include <assent/clock.hpp>
#include <assent/tools.hpp>

#include <CLI/CLI.hpp>

#include <sys/prctl.h>

#include <algorithm>
#include <memory>
#include <string_view>

namespace assent::cli {
namespace {

const std::string not_yet = " is not in this version";

// A script whose variable is empty must not reach what it never named.
const CLI::Validator not_empty([](const std::string& text) -> std::string { return text.empty() ? "is empty" : ""; },
                               "");

// Options that later versions have; named here so that nobody believes they did something.
void refuse_later_options(CLI::App& command, std::initializer_list<const char*> names) {
    for (const char* name : names) {
        command
            .add_option_function<std::string>(
                name, [name](const std::string&) { throw CLI::ValidationError(name + not_yet); }, "not in this version")
            ->expected(0, 1)
            ->group("");
    }
}

void refuse_later_commands(CLI::App& app) {
    for (const char* name : {"policy", "serve", "watch", "audit"}) {
        auto* command = app.add_subcommand(name, "not in this version")->group("")->allow_extras();
        command->fallthrough(false);
        command->set_help_flag();
        command->callback([name] { throw CLI::ValidationError(name + not_yet); });
    }
}

void add_model_options(CLI::App& command, RunOptions& options) {
    command.add_option("--model", options.model,
                       "anthropic:ID (key: ANTHROPIC_API_KEY), openai:ID (OPENAI_API_KEY), or script:FILE, a JSON file "
                       "of model turns");
    command.add_option(
        "--base-url", options.base_url,
        "address of a server that speaks the service's API (openai: then without a key, if it wants none)");
}

void add_run_options(CLI::App& command, RunOptions& options) {
    add_model_options(command, options);
    command.add_option("--workspace", options.workspace, "folder the tools work in (default: this folder)")
        ->check(not_empty);
    command.add_option("--ask", options.ask, "tools that ask (names, separated by commas; * for all)")
        ->delimiter(',')
        ->allow_extra_args(false);
    command.add_option("--allow", options.allow, "tools that run without asking")
        ->delimiter(',')
        ->allow_extra_args(false);
    command.add_option("--deny", options.deny, "tools that never run")->delimiter(',')->allow_extra_args(false);
    command
        .add_option("--writable", options.writable,
                    "folder besides the workspace where commands may write, such as a cache (may be repeated)")
        ->allow_extra_args(false)
        ->check(not_empty);
    command.add_option("--max-turns", options.max_turns, "model turns a prompt may take (default 50)");
    command.add_option("--max-calls", options.max_calls, "tool calls a prompt may make (default 200)");
    command.add_option("--use-by", options.use_by,
                       "how long an approval may be used: 90s, 3m, 24h, 7d, never (default 24h)");
    command.add_option("--lease", options.lease, "seconds in which a claimed tool must start (default 10)");
    command
        .add_option("--answers", options.answers,
                    "answers in the order of asking: approve,deny:why,edit:{…},respond:text,later")
        ->allow_extra_args(false);
    command
        .add_option("--notify", options.notify,
                    "command for the shell, run when something is asked or answered: ASSENT_EVENT says which, the "
                    "approval is on its input as JSON")
        ->check(not_empty);
    refuse_later_options(command, {"--policy"});
}

// One parsed command line: CLI11 fills the options, the chosen command's action runs afterwards.
class CommandLine {
public:
    CommandLine()
        : app_("The approval gate for AI agents: an agent proposes, you decide, it runs once as approved.", "assent") {
        app_.require_subcommand(0, 1);
        app_.fallthrough();
        app_.set_help_flag("-h,--help", "show this help");
        app_.set_version_flag("--version", version_text(), "show the version and how it was built");
        app_.add_option("--db", context_.db_url,
                        "sqlite:PATH, postgresql://… or memory: (default: assent.db in your state folder)");
        app_.add_flag("--json", context_.terminal.json, "JSON on standard output");
        app_.add_flag("--quiet", context_.terminal.quiet, "no notes and no progress");
        app_.add_option("--color", color_, "auto, always or never")->check(CLI::IsMember({"auto", "always", "never"}));
        add_running();
        add_answering();
        add_listing();
        add_work();
        add_database();
        add("doctor", "say what keeps an agent from answering its own questions, and try it",
            [this] { return doctor_command(context_); });
        refuse_later_commands(app_);
    }

    int run(int argc, char** argv) {
        // Known before parsing, so that a wrong option is told in JSON too.
        context_.terminal.json =
            std::any_of(argv, argv + argc, [](const char* argument) { return std::string_view(argument) == "--json"; });
        try {
            app_.parse(argc, argv);
        } catch (const CLI::Success& asked) {
            return show_text_of(asked);
        } catch (const CLI::ParseError& error) {
            return wrong_usage(words_of(error));
        }
        // Anybody on the machine reads the arguments of a process.
        std::for_each(argv, argv + argc, postgres::overwrite_passwords);
        if (!action_) return wrong_usage("give a command, such as demo");
        context_.terminal.set_color(color_);
        context_.terminal.log_json = log_ == "json";
        return action_();
    }

private:
    // Help and version: what CLI11 throws when they are asked for.
    int show_text_of(const CLI::Success& asked) {
        // Asking how a command of a later version is used gets the same answer as using it.
        if (const auto commands = app_.get_subcommands(); !commands.empty() && commands.front()->get_group().empty())
            return wrong_usage(commands.front()->get_name() + not_yet);
        if (!context_.terminal.json) return app_.exit(asked);
        const bool version = dynamic_cast<const CLI::CallForVersion*>(&asked) != nullptr;
        context_.terminal.out(
            JsonObject().text(version ? "version" : "help", version ? version_text() : app_.help()).str());
        return exit_done;
    }

    std::string words_of(const CLI::ParseError& error) const {
        const auto unexpected = app_.remaining();
        if (app_.get_subcommands().empty() && !unexpected.empty() && !unexpected.front().starts_with('-'))
            return "no command is called " + unexpected.front();
        std::string message = error.what();
        if (const auto twice = message.find(": At Most 1"); twice != std::string::npos)
            return message.substr(0, twice) + " was given more than once";
        std::replace(message.begin(), message.end(), '\n', ' ');
        if (!message.empty()) message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
        return message;
    }

    int wrong_usage(const std::string& words) const {
        if (words.ends_with(not_yet)) return context_.terminal.fail({FailureKind::usage, words});
        const auto commands = app_.get_subcommands();
        const auto command = commands.empty() ? std::string() : " " + commands.front()->get_name();
        return context_.terminal.fail({FailureKind::usage, words + "; see assent" + command + " --help"});
    }

    CLI::App* add(const char* name, const char* description, std::function<int()> action) {
        auto* command = app_.add_subcommand(name, description);
        command->callback([this, action = std::move(action)] { action_ = action; });
        return command;
    }

    // A command that decides, or lets an agent go on. Whoever runs it must be no agent.
    CLI::App* add_deciding(const char* name, const char* description, std::function<int()> action) {
        return add(name, description, [this, name, action = std::move(action)] {
            if (!inside_shell_tool()) return action();
            return context_.terminal.fail(
                {FailureKind::refused, std::string(name) + " was run by a tool of an agent, which must not decide; run "
                                                           "it in a terminal of your own"});
        });
    }

    // Commands that only look take an open store and tell how long ago things were.
    int look(const std::function<int()>& command) {
        if (auto opened = context_.open_store(); !opened) return context_.terminal.fail(opened.failure());
        pending_.now = show_.now = context_.now();
        return command();
    }

    void add_running() {
        auto* demo = add_deciding("demo", "watch an agent propose a file and a command, and decide",
                                  [this] { return demo_command(context_, run_); });
        demo->add_option("--answers", run_.answers, "answers beforehand, such as approve,deny")
            ->allow_extra_args(false);
        add_model_options(*demo, run_);

        auto* run = add_deciding("run", "prompt an agent", [this] { return run_command(context_, run_, prompt_); });
        run->add_option("prompt", prompt_, "what the agent is asked")->required();
        run->add_option("--thread", run_.thread, "thread to go on with, made when absent (default: a new one)")
            ->check(not_empty);
        auto* abort_open = run->add_flag("--abort-open", run_.abort_open, "abort what the thread waits for first");
        run->add_flag("--queue", run_.queue,
                      "where the thread is busy or waits: keep the prompt until its turn has ended")
            ->excludes(abort_open);
        run->add_option("--idempotency-key", run_.idempotency_key,
                        "begin this prompt once, however often it is given with this key (without --thread it also "
                        "chooses the thread)")
            ->check(not_empty);
        add_run_options(*run, run_);

        auto* resume = add_deciding("resume", "go on with a thread where it stands",
                                    [this] { return resume_command(context_, run_); });
        resume->add_option("thread", run_.thread, "the thread")->required()->check(not_empty);
        resume
            ->add_option("--decisions", run_.decisions,
                         R"(decisions, JSON: {"decisions": [{"type": "approve"}, …]} or {ID: {"type": …}, …})")
            ->check(not_empty);
        add_run_options(*resume, run_);

        auto* judge = add("judge", "say what would happen to a call, without a thread",
                          [this] { return judge_command(context_, run_, tool_, arguments_); });
        judge->add_option("tool", tool_, "name of the tool")->required();
        judge->add_option("arguments", arguments_, "its arguments, JSON")->required();
        add_run_options(*judge, run_);
    }

    void add_answering() {
        const auto answer = [this](const char* name, const char* description, DecisionKind kind) {
            auto* command =
                add_deciding(name, description, [this, kind] { return answer_command(context_, kind, answer_); });
            command->add_option("id", answer_.id, "the approval's id, or its interrupt_id with --thread")
                ->required()
                ->check(not_empty);
            command->add_option("--thread", answer_.thread, "the thread of the approval")->check(not_empty);
            command->add_option("--digest", answer_.digest, "refuse if the approval has another digest")
                ->check(not_empty);
            return command;
        };
        auto* approve = answer("approve", "let a call run as it was shown", DecisionKind::approve);
        approve->add_option("--message", answer_.message, "a note for the record");
        auto* deny = answer("deny", "do not let a call run", DecisionKind::deny);
        deny->add_option("--message", answer_.message, "the reason, told to the model");
        auto* respond = answer("respond", "give the result of a call yourself; it does not run", DecisionKind::respond);
        respond->add_option("--message", answer_.message, "the result for the model");
        respond->add_option("--args", answer_.args, "the answers to questions, by key, JSON");
        auto* edit = answer("edit", "let a call run with other arguments", DecisionKind::edit);
        edit->add_option("--set", answer_.set, "key=JSON, laid over the shown arguments (may be repeated)")
            ->allow_extra_args(false);
        edit->add_option("--args", answer_.args, "all arguments, JSON");
        edit->add_option("--tool", answer_.tool, "another tool of the agent");
        edit->add_option("--message", answer_.message, "a note for the record");

        auto* resolve = add_deciding("resolve", "say how a call with an unknown outcome ended",
                                     [this] { return resolve_command(context_, resolve_); });
        resolve->add_option("id", resolve_.id, "the id of the unknown outcome")->required()->check(not_empty);
        resolve->add_option("--thread", resolve_.thread, "its thread")->check(not_empty);
        resolve->add_option("--done", resolve_.done, "it ran to its end; the result for the model")->expected(0, 1);
        resolve->add_flag("--retry", resolve_.retry, "run it again");
        resolve->add_option("--fail", resolve_.fail, "it failed; the error for the model")->expected(0, 1);

        auto* abort = add_deciding("abort", "cancel what has not started in a thread",
                                   [this] { return abort_command(context_, run_.thread, reason_); });
        abort->add_option("thread", run_.thread, "the thread")->required()->check(not_empty);
        abort->add_option("--reason", reason_, "the reason, told to the model");
    }

    void add_listing() {
        auto* pending = add("pending", "list what waits for people",
                            [this] { return look([this] { return pending_command(context_, pending_); }); });
        pending->add_option("--limit", pending_.limit, "how many at most (default 100)");
        pending->add_option("--after", pending_.after, "only those after this id")->check(not_empty);
        pending->add_option("--thread", pending_.thread, "only those of this thread")->check(not_empty);

        auto* show = add("show", "show an approval whole, and the messages before it",
                         [this] { return look([this] { return show_command(context_, show_); }); });
        show->add_option("id", show_.id, "the approval's id, or its interrupt_id with --thread")
            ->required()
            ->check(not_empty);
        show->add_option("--thread", show_.thread, "the thread of the approval")->check(not_empty);
        show->add_flag("--full", show_.full, "also the whole digest and the exact texts");

        add("threads", "list the threads",
            [this] { return look([this] { return threads_command(context_, {.now = context_.now()}); }); });
        auto* history = add("history", "show everything that happened in a thread", [this] {
            return look([this] { return history_command(context_, {.thread = run_.thread}); });
        });
        history->add_option("thread", run_.thread, "the thread")->required()->check(not_empty);
    }

    void add_work() {
        auto* work = add_deciding("work", "run the threads of the database that have something to do",
                                  [this] { return work_command(context_, work_); });
        work->add_option("--at-once", work_.at_once, "how many threads at once (default 4)");
        work->add_flag("--until-idle", work_.until_idle, "end when there is nothing to do");
        work->add_option("--lease", work_.lease_seconds,
                         "seconds after which others take the threads when this process gives no sign, on a server "
                         "(default 10)");
        work->add_option("--notify", work_.notify, "command for the shell, run when something is asked; see run")
            ->check(not_empty);
        work->add_option(
                "--metrics", work_.metrics,
                "serve Prometheus text, path /metrics, at IP:PORT, or at :PORT for this machine only; port 0 is a free "
                "one, which is told")
            ->check(not_empty);
        work->add_option("--log", log_,
                         "what standard error holds: text for people, or json, one object a line with time, level and "
                         "event, never arguments or texts of calls (default text)")
            ->check(CLI::IsMember({"text", "json"}));
    }

    void add_database() {
        auto* db = app_.add_subcommand("db", "look after the database");
        db->require_subcommand(1);
        const auto add_to_db = [this, db](const char* name, const char* description, std::function<int()> action) {
            auto* command = db->add_subcommand(name, description);
            command->callback([this, action = std::move(action)] { action_ = action; });
            return command;
        };
        auto* prune =
            add_to_db("prune", "remove what happened in threads that ended long ago; that it happened stays", [this] {
                if (!inside_shell_tool()) return db_prune_command(context_, prune_);
                return context_.terminal.fail(
                    {FailureKind::refused,
                     "db prune was run by a tool of an agent, which must not remove what it did; run "
                     "it in a terminal of your own"});
            });
        prune->add_option("--older-than", prune_.older_than, "how long ago: 90d, 24h, 3m")
            ->required()
            ->check(not_empty);
        prune->add_flag("--dry-run", prune_.dry_run, "only say which");
        auto* check = add_to_db("check", "say which tables there are and what migrate would do; changes nothing",
                                [this] { return db_check_command(context_, check_chains_); });
        check->add_flag("--chains", check_chains_, "also read every thread and compute its hash chain again");
        auto* migrate = add_to_db("migrate", "make today's tables, or bring older ones up to date",
                                  [this] { return db_migrate_command(context_, migrate_dry_run_); });
        migrate->add_flag("--dry-run", migrate_dry_run_, "only say what it would do");
    }

    CLI::App app_;
    Context context_;
    std::string color_ = "auto";
    std::string log_ = "text";
    std::function<int()> action_;
    RunOptions run_;
    AnswerOptions answer_;
    ResolveOptions resolve_;
    WorkOptions work_;
    PruneOptions prune_;
    bool check_chains_ = false;
    bool migrate_dry_run_ = false;
    PendingOptions pending_;
    ShowOptions show_;
    std::string prompt_;
    std::string tool_;
    std::string arguments_;
    std::string reason_;
};

}  // namespace
}  // namespace assent::cli

int main(int argc, char** argv) {
    // Nobody of the same user traces this process or reads its memory, and it leaves no core: it holds keys
    // and answers.
    if (!assent::switched_off("memory")) prctl(PR_SET_DUMPABLE, 0);
    assent::cli::open_standard_streams();
    try {
        return assent::cli::CommandLine().run(argc, argv);
    } catch (const std::exception& error) {
        return assent::cli::Terminal().fail(
            {assent::FailureKind::internal, std::string("a defect of assent: ") + error.what()});
    }
}
