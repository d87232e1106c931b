// The table and the path permissions of one agent are one guard: one approval for a call, and the strictest counts.
#include "support/agents.hpp"
#include "temp_folder.hpp"

#include <assent/interrupt_on.hpp>
#include <assent/tools.hpp>

#include <gmock/gmock.h>

namespace assent {
namespace {

using namespace assent::test;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<PathOperation> both{PathOperation::read, PathOperation::write};

class TableAndPaths : public AgentOverStore {
protected:
    TableAndPaths() { permit({{.operations = both, .paths = {"/secret/**"}, .mode = PathMode::interrupt}}); }

    void permit(std::vector<FilesystemPermission> permissions) {
        workspace_ = Workspace::open(files_.path().string())->with_permissions(std::move(permissions));
        options_.tools = {write_file_tool(workspace_), read_file_tool(workspace_)};
        options_.guards = {path_guard(workspace_)};
    }
    void table(InterruptOnTable table, InterruptOnOptions how = {}) {
        options_.middleware = {interrupt_on(std::move(table), std::move(how))};
    }
    static std::string write(const std::string& path) {
        return call_turn("write_file", R"({"file_path":")" + path + R"(","content":"x"})") + "," + end_turn;
    }
    static std::string edit_to(const std::string& path) {
        return R"({"decisions":[{"type":"edit","edited_action":{"name":"write_file","args":{"file_path":")" + path +
               R"(","content":"edited"}}}]})";
    }
    // The guards that asked anything in the thread, in order.
    std::vector<std::string> asked() {
        std::vector<std::string> guards;
        for (const auto& entry : *approvals().history("t")) {
            if (entry.event == "asked") guards.push_back(Arguments::parse(entry.fields)->find("guard")->string);
        }
        return guards;
    }

    static constexpr auto approve_one = R"({"decisions":[{"type":"approve"}]})";
    TempFolder files_;
    Workspace workspace_ = Workspace::in_thread();
};

INSTANTIATE_TEST_SUITE_P(Stores, TableAndPaths, testing::ValuesIn(store_kinds()), store_name);

TEST_P(TableAndPaths, AskOnceForBothAndTakeWhatBothTake) {
    table({{"write_file", InterruptOnConfig{.allowed_decisions = {"reject", "approve"}, .args_schema = R"({"a":1})"}}},
          {.respond_notice = "By hand:", .timeout_seconds = 60});
    auto running = agent(write("/secret/a"));
    auto run = running.prompt("go");
    ASSERT_EQ(run.interrupts.size(), 1U);
    const auto& approval = run.interrupts[0];
    EXPECT_EQ(approval.guard, "interrupt_on");
    EXPECT_EQ(approval.reason, "the table asks about write_file; a path rule asks before write on /secret/a");
    EXPECT_EQ(approval.question.style, Style::table);
    EXPECT_THAT(approval.question.allowed, ElementsAre(DecisionKind::deny, DecisionKind::approve));
    EXPECT_EQ(approval.question.details, R"({"respond_notice":"By hand:","places":["/secret/a"]})");
    EXPECT_EQ(approval.question.timeout_ms, 60'000);
    const auto shown = action_requests(run.interrupts);
    EXPECT_THAT(shown, HasSubstr(R"("allowed_decisions":["reject","approve"],"args_schema":{"a":1})"));
    EXPECT_THAT(shown, HasSubstr(R"(\nPaths: a path rule asks before write on /secret/a")"));
    run = running.resume(approve_one);
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(files_.get("secret/a"), "x") << "the file tool knows that its place was approved";
    EXPECT_THAT(asked(), ElementsAre("interrupt_on"));
}

TEST_P(TableAndPaths, AnOperatorsOwnWordsStayAsTheyAre) {
    int made = 0;
    table({{"write_file", InterruptOnConfig{.allowed_decisions = {"approve"}, .description = [&](const GuardedCall&) {
                                                return "look at it, please " + std::to_string(++made);
                                            }}}});
    const auto run = agent(write("/secret/a")).prompt("go");
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_EQ(run.interrupts[0].question.description, "look at it, please 1");
    EXPECT_THAT(action_requests(run.interrupts), HasSubstr(R"("description":"look at it, please 1"})"));
}

TEST_P(TableAndPaths, AnOperatorsOwnWordsAreFollowedByWhereALinkLeads) {
    std::filesystem::create_directories(files_ / "secret");
    std::filesystem::create_directory_symlink("secret", files_ / "link");
    table({{"write_file", InterruptOnConfig{.allowed_decisions = {"approve"}, .description = "Please check."}}});
    const auto run = agent(write("/link/a")).prompt("go");
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_THAT(run.interrupts[0].question.description, testing::StartsWith("Please check.\nPaths: "));
    EXPECT_THAT(run.interrupts[0].question.description, HasSubstr("/secret/a"));
    EXPECT_THAT(action_requests(run.interrupts), HasSubstr("/secret/a"));
}

TEST_P(TableAndPaths, WhatOnlyAPathRuleAsksHasTheFormOfTheTableToo) {
    for (const auto& rows : {InterruptOnTable{}, InterruptOnTable{{"write_file", false}}}) {
        options_.thread_id += "t";
        table(rows);
        auto running = agent(write("/secret/b"));
        auto run = running.prompt("go");
        ASSERT_EQ(run.interrupts.size(), 1U) << "a false in the table loosens nothing";
        EXPECT_EQ(run.interrupts[0].guard, "permissions");
        EXPECT_THAT(action_requests(run.interrupts),
                    HasSubstr(R"("allowed_decisions":["approve","edit","reject","respond"])"));
        run = running.resume(R"({"decisions":[{"type":"reject","message":"no"}]})");
        EXPECT_THAT(results(running), ElementsAre("User rejected the tool call for `write_file` with reason: no"));
    }
    EXPECT_FALSE(std::filesystem::exists(files_ / "secret"));
}

TEST_P(TableAndPaths, AnEditOfEitherSaysSoInTheResult) {
    table({});
    auto running = agent(write("/secret/a"));
    (void)running.prompt("go");
    const auto run = running.resume(edit_to("/secret/b"));
    ASSERT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(files_.get("secret/b"), "edited");
    EXPECT_EQ(results(running).front().rfind(default_edit_notice, 0), 0U) << results(running).front();
}

TEST_P(TableAndPaths, AnEditIntoAPlaceThatARuleAsksAboutIsAskedAbout) {
    table({{"write_file", true}});
    auto running = agent(write("/open/a"));
    auto run = running.prompt("go");
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_EQ(run.interrupts[0].question.details, "");
    run = running.resume(edit_to("/secret/a"));
    ASSERT_EQ(run.status, RunStatus::waiting) << "the person was asked about another place";
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_EQ(run.interrupts[0].guard, "permissions");
    EXPECT_EQ(run.interrupts[0].question.details, R"({"places":["/secret/a"]})");
    EXPECT_FALSE(std::filesystem::exists(files_ / "secret/a"));
    run = running.resume(approve_one);
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(files_.get("secret/a"), "edited");
}

TEST_P(TableAndPaths, AnEditThatTheTableAsksAboutIsAskedAbout) {
    const auto when = [](const GuardedCall& call) { return call.arguments->find("content")->string == "edited"; };
    table({{"write_file", InterruptOnConfig{.allowed_decisions = {"approve", "reject"}, .when = when}}});
    auto running = agent(write("/secret/a"));
    auto run = running.prompt("go");
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_EQ(run.interrupts[0].guard, "permissions");
    run = running.resume(edit_to("/secret/a"));
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_EQ(run.interrupts[0].guard, "interrupt_on");
    EXPECT_THAT(run.interrupts[0].question.allowed, ElementsAre(DecisionKind::approve, DecisionKind::deny));
    run = running.resume(approve_one);
    EXPECT_EQ(files_.get("secret/a"), "edited");
}

TEST_P(TableAndPaths, ADenialOfARuleBeatsTheTable) {
    permit({{.operations = both, .paths = {"/secret/**"}, .mode = PathMode::deny}});
    table({{"write_file", true}});
    auto running = agent(write("/secret/a"));
    EXPECT_EQ(running.prompt("go").status, RunStatus::done);
    EXPECT_THAT(results(running), ElementsAre("Error: permission denied for write on /secret/a"));
    EXPECT_THAT(asked(), ElementsAre());
}

TEST_P(TableAndPaths, RulesThatChangedAreAskedAboutAgainAndTheTableIsNot) {
    table({{"write_file", true}});
    auto run = agent(write("/secret/a")).prompt("go");
    ASSERT_EQ(run.interrupts.size(), 1U);
    permit({{.operations = both, .paths = {"/secret/a", "/other/**"}, .mode = PathMode::interrupt}});
    auto running = agent(write("/secret/a"));
    run = running.resume(approve_one);
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_EQ(run.interrupts[0].guard, "permissions");
    run = running.resume(approve_one);
    EXPECT_EQ(files_.get("secret/a"), "x");
    EXPECT_THAT(asked(), ElementsAre("interrupt_on", "permissions"));
}

TEST_P(TableAndPaths, AnApprovalPastItsUseByIsAskedAgainForBoth) {
    table({{"write_file", true}});
    options_.use_by_ms = 1000;
    options_.hold_batch = true;
    auto running =
        agent(R"({"calls":[{"id":"1","name":"write_file","arguments":{"file_path":"/secret/a","content":"x"}},)"
              R"({"id":"2","name":"write_file","arguments":{"file_path":"/secret/b","content":"x"}}]},)" +
              end_turn);
    auto run = running.prompt("go");
    ASSERT_EQ(run.interrupts.size(), 2U);
    ASSERT_EQ(approvals().answer(run.interrupts[0].id, approve(), {.name = "ann"})->status,
              AnswerResult::Status::decided);
    clock_.pass(1001);
    run = running.resume({{run.interrupts[1].id, approve()}});
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_EQ(run.interrupts[0].question.details, R"({"places":["/secret/a"]})");
    run = running.resume({{run.interrupts[0].id, approve()}});
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(files_.get("secret/a") + files_.get("secret/b"), "xx");
}

TEST_P(TableAndPaths, OtherGuardsAskForThemselves) {
    permit({{.operations = both, .paths = {"/secret/**"}, .mode = PathMode::interrupt}});
    options_.middleware = {interrupt_on({{"write_file", true}}), interrupt_on({{"write_file", true}}, {.name = "boss"}),
                           std::make_shared<ToolInterruptMiddleware>(std::vector{InterruptRule{"write_file"}})};
    auto running = agent(write("/secret/a"));
    const auto run = running.prompt("go");
    EXPECT_EQ(run.interrupts.size(), 3U);
    EXPECT_THAT(asked(), ElementsAre("interrupt_on", "boss", "rules"));
    for (const auto& open : run.interrupts) (void)running.resume({{open.id, approve()}});
    EXPECT_EQ(files_.get("secret/a"), "x");
}

TEST_P(TableAndPaths, TheModePerCallShowsThePathsToo) {
    table({{"write_file", InterruptOnConfig{.allowed_decisions = {"approve"}}}},
          {.interrupt_mode = InterruptMode::per_call});
    const auto run = agent(write("/secret/a")).prompt("go");
    ASSERT_EQ(run.interrupts.size(), 1U);
    EXPECT_THAT(run.interrupts[0].question.payload, HasSubstr("a path rule asks before write on /secret/a"));
    EXPECT_THAT(run.interrupts[0].question.payload, HasSubstr(R"("response_schema":{"type":"object")"));
}

// A guard with path permissions of a host, which allows less than the table.
class HostPaths final : public Guard {
public:
    HostPaths(Question question, std::string rules) : question_(std::move(question)), rules_(std::move(rules)) {}
    std::string name() const override { return "places"; }
    bool can_ask() const override { return true; }
    std::string path_rules() const override { return rules_; }
    Judgement judge(const GuardedCall&) override {
        return {.verdict = Verdict::ask, .reason = "the place is asked about", .question = question_};
    }

private:
    Question question_;
    std::string rules_;
};

TEST_P(TableAndPaths, WhatTheTwoDoNotBothTakeIsNotTakenAndSomebodyCanAlwaysSayNo) {
    struct Row {
        std::vector<DecisionKind> host;
        std::vector<DecisionKind> both;
        std::optional<std::int64_t> timeout_ms;
        std::optional<std::int64_t> shorter;
    };
    for (const auto& row : {Row{{DecisionKind::approve, DecisionKind::edit}, {DecisionKind::approve}, 5000, 5000},
                            Row{{DecisionKind::approve}, {DecisionKind::approve}, 90'000, 60'000},
                            Row{{DecisionKind::edit}, {DecisionKind::deny}, std::nullopt, 60'000}}) {
        options_.thread_id += "t";
        options_.guards = {std::make_shared<HostPaths>(
            Question{.details = "no json", .allowed = row.host, .timeout_ms = row.timeout_ms}, "rules of the host")};
        table({{"write_file", InterruptOnConfig{.allowed_decisions = {"approve", "respond"}}}},
              {.timeout_seconds = 60});
        const auto run = agent(write("/open/a")).prompt("go");
        ASSERT_EQ(run.interrupts.size(), 1U);
        EXPECT_EQ(run.interrupts[0].question.allowed, row.both);
        EXPECT_EQ(run.interrupts[0].question.timeout_ms, row.shorter);
        EXPECT_EQ(run.interrupts[0].question.details, "");
    }
}

TEST_P(TableAndPaths, AnApprovalUnderOtherPermissionsIsNoneForTheFiles) {
    // The host's guard asks instead of the workspace's, and has asked about no place of it.
    for (const auto* rules : {"", "rules of the host"}) {
        options_.thread_id += "t";
        options_.guards = {std::make_shared<HostPaths>(Question{.details = R"({"places":["/secret/a"]})"}, rules)};
        auto running = agent(write("/secret/a"));
        const auto run = running.prompt("go");
        ASSERT_EQ(run.interrupts.size(), 1U);
        (void)running.resume({{run.interrupts[0].id, approve()}});
        EXPECT_THAT(results(running), ElementsAre(HasSubstr("a person has to be asked about '/secret/a'")));
    }
}

TEST_P(TableAndPaths, ARowThatAsksNobodyGuardsNoCommands) {
    const auto shell = std::make_shared<FakeTool>(ToolSpec{.name = "shell", .runs_commands = true});
    options_.tools.push_back(shell);
    table({{"shell", false}});
    EXPECT_THAT([&] { (void)agent(end_turn); },
                testing::ThrowsMessage<ConfigError>(HasSubstr("the tool shell runs commands, which do not keep")));
    table({{"shell", true}});
    EXPECT_NO_THROW((void)agent(end_turn));
}

}  // namespace
}  // namespace assent
