// Questions of sub-agents one after the other, and beside the agent's own.
#include "support/families.hpp"

#include <gmock/gmock.h>

namespace assent {
namespace {

using namespace assent::test;
using testing::ElementsAre;
using testing::IsEmpty;

class SubAgentQuestions : public FamilyOverStore {
protected:
    SubAgentQuestions() { options_.guards = {asks("pay"), asks("note", "notes")}; }
    // A worker that says `turns`, then that it is done.
    SubAgent worker(const std::string& turns) {
        return {.name = "worker", .tools = {pay_}, .model = script(turns + R"(,{"text":"worked"})")};
    }

    std::shared_ptr<WatchedTool> pay_ = watched("pay");
    std::shared_ptr<WatchedTool> note_ = watched("note");
};

INSTANTIATE_TEST_SUITE_P(Stores, SubAgentQuestions, testing::ValuesIn(store_kinds()), store_name);

TEST_P(SubAgentQuestions, AChildThatAsksTwiceIsAnsweredTwice) {
    options_.tools = {note_};
    options_.sub_agents = {worker(call_turn("pay", R"({"n":1})") + "," + call_turn("pay", R"({"n":2})"))};
    const auto turns = task_turn("worker") + "," + end_turn;
    auto run = root(turns).prompt("go");
    ASSERT_EQ(run.interrupts.size(), 1U);
    const auto first = run.interrupts[0];
    run = root(turns).resume({{first.id, true}});
    EXPECT_EQ(run.status, RunStatus::waiting);
    ASSERT_EQ(run.interrupts.size(), 1U);
    const auto second = run.interrupts[0];
    EXPECT_NE(second.id, first.id);
    EXPECT_EQ(second.thread, first.thread) << "it is the same child, which goes on where it was";
    EXPECT_THAT(pay_->runs(), ElementsAre(R"({"n":1})"));
    run = root(turns).resume({{second.id, deny("enough")}});
    EXPECT_EQ(run.status, RunStatus::done);
    EXPECT_EQ(pay_->runs().size(), 1U);
    EXPECT_EQ(count("t", "delegated"), 1);
}

TEST_P(SubAgentQuestions, TheAgentsOwnAndThoseOfItsChildAreAnsweredTogether) {
    options_.tools = {note_};
    options_.sub_agents = {worker(call_turn("pay"))};
    const auto turns = R"({"calls":[)" + task_call("worker") + R"(,{"id":"n","name":"note"}]},)" + end_turn;
    const auto open = root(turns).prompt("go").interrupts;
    ASSERT_EQ(open.size(), 2U);
    EXPECT_THAT(std::vector({open[0].tool, open[1].tool}), testing::UnorderedElementsAre("note", "pay"));
    const auto& note = open[0].tool == "note" ? open[0] : open[1];
    const auto& pay = open[0].tool == "note" ? open[1] : open[0];
    auto agent = root(turns);
    EXPECT_EQ(agent.resume({{pay.id, deny("no")}, {note.id, true}}).status, RunStatus::done);
    EXPECT_THAT(pay_->runs(), IsEmpty());
    EXPECT_EQ(note_->runs().size(), 1U);
    EXPECT_THAT(results(agent), ElementsAre("worked", "note ran"));
}

}  // namespace
}  // namespace assent
