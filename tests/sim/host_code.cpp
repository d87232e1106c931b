#include "sim/host_code.hpp"

#include "sim/world.hpp"

#include <assent/rules.hpp>

#include <stdexcept>
#include <utility>

namespace assent::sim {
namespace {

constexpr std::string_view pay_schema =
    R"({"type":"object","required":["n"],"additionalProperties":true,"properties":{"n":{"type":"integer"}}})";

class PlayedTool final : public Tool {
public:
    PlayedTool(World& world, Process& process, ToolSpec spec, bool keeps_receipts)
        : Tool(std::move(spec)), world_(world), process_(process), keeps_receipts_(keeps_receipts) {}

    Receipt receipt(const std::string& attempt, const Arguments&) override {
        if (!keeps_receipts_) return {};
        const auto* effect = world_.ledger.effect_of(attempt);
        if (effect == nullptr) return {.proof = Receipt::Proof::not_started};
        if (!effect->result) return {.known = "it was running"};
        auto result = *effect->result;
        result.text.resize(result.text.size() - hook_mark.size());
        return {.proof = Receipt::Proof::ended, .result = std::move(result)};
    }

private:
    ToolResult run(const ApprovedCall& call) override {
        const auto started = world_.store.tick();
        const auto started_ms = world_.time.monotonic;
        others_act();
        stay_alive();
        const auto place = world_.ledger.effects.size();
        world_.ledger.effects.push_back({.started = started,
                                         .started_ms = started_ms,
                                         .process = process_.no,
                                         .tool = spec().name,
                                         .attempt = std::string(call.attempt()),
                                         .arguments = call.arguments().text()});
        world_.ledger.count("effect");
        world_.say([&] { return process_.name + " runs " + spec().name + " " + call.arguments().text(); });
        take_long();
        others_act();
        stay_alive();
        const auto ending = ending_of(call.arguments());
        ToolResult result{.text = spec().name + " " + std::to_string(place + 1)};
        result.is_error = ending == Ending::fails;
        result.unknown = ending == Ending::cannot_say;
        result.cancelled = ending == Ending::stopped;
        auto recorded = result;
        if (ending == Ending::throws) recorded = {.text = "Error: " + result.text, .is_error = true};
        recorded.text += hook_mark;
        world_.ledger.effects[place].result = std::move(recorded);
        if (ending == Ending::throws) throw std::runtime_error(result.text);
        return result;
    }

    void others_act() {
        if (!world_.meanwhile || !world_.dice().chance(2 * world_.shape.meanwhile)) return;
        auto* const actor = std::exchange(world_.actor, nullptr);
        world_.meanwhile();
        world_.actor = actor;
        process_.stalled_since.reset();
    }
    // Longer than the lease lasts; it may end meanwhile, since the node is cut off.
    void take_long() {
        if (process_.node == nullptr || !world_.meanwhile || !world_.dice().chance(4)) return;
        world_.ledger.count("slow tool");
        const bool was_cut_off = process_.node->cut_off;
        if (world_.dice().chance(50)) process_.node->cut_off = true;
        world_.say([&] { return spec().name + " takes long" + (process_.node->cut_off ? ", cut off" : ""); });
        world_.pass(2 * lease_ms);
        auto* const actor = std::exchange(world_.actor, nullptr);
        world_.meanwhile();
        world_.actor = actor;
        process_.stalled_since.reset();
        if (!was_cut_off) process_.node->cut_off = false;
    }
    void stay_alive() {
        if (world_.dice().chance(world_.shape.faults / 10)) world_.kill(process_);
        if (process_.dead()) throw std::runtime_error("the process died");
    }

    World& world_;
    Process& process_;
    bool keeps_receipts_;
};

class PlayedHooks final : public Middleware {
public:
    PlayedHooks(World& world, Process& process) : world_(world), process_(process) {}

    std::optional<Arguments> before_tool(const ToolContext& context) override {
        if (process_.allowed != HostCode::all) {
            world_.ledger.broke(Rule::no_replay, "before_tool ran although no turn was proposed");
        }
        const auto word = text_of(context.arguments, "hook");
        if (word == "fails") throw std::runtime_error("the hook failed");
        if (word == "denies") throw ToolDeniedError(std::string(context.tool_name), "the hook denied");
        if (word != "replaces") return std::nullopt;
        const auto stamp = Arguments::parse(R"({"stamp": )" + std::to_string(++world_.stamps) + "}");
        return *lay_over(context.arguments, *stamp);
    }
    std::optional<ToolResult> after_tool(const ToolContext&, const ToolResult& result) override {
        auto marked = result;
        marked.text += hook_mark;
        return marked;
    }

private:
    World& world_;
    Process& process_;
};

class PlayedGuard final : public Guard {
public:
    PlayedGuard(World& world, Process& process, std::string name, std::string version)
        : world_(world), process_(process), name_(std::move(name)), version_(std::move(version)) {}

    std::string name() const override { return name_; }
    std::string version() const override { return version_; }
    bool can_ask() const override { return true; }
    Judgement judge(const GuardedCall& call) override {
        if (process_.allowed == HostCode::none) {
            world_.ledger.broke(Rule::no_replay, "guard " + name_ + " ran although nothing was to be judged");
        }
        switch (wish_of(*call.arguments, name_, version_)) {
            case Wish::allow:
                return {.verdict = Verdict::allow};
            case Wish::deny:
                return {.verdict = Verdict::deny, .reason = "as wished"};
            case Wish::fail:
                throw std::runtime_error("out of order");
            case Wish::ask_nothing:
                return {.verdict = Verdict::ask};
            case Wish::ask:
                break;
        }
        Question question{.timeout_ms = number_of(*call.arguments, "wait")};
        if (text_of(*call.arguments, "take") == "few") question.allowed = {DecisionKind::approve, DecisionKind::deny};
        return {.verdict = Verdict::ask, .reason = "as wished", .question = std::move(question)};
    }

private:
    World& world_;
    Process& process_;
    std::string name_;
    std::string version_;
};

std::string any_wish(test::Dice& dice) {
    const auto roll = dice.roll(100);
    if (roll < 58) return "ask";
    if (roll < 84) return "allow";
    if (roll < 92) return "deny";
    return roll < 97 ? "fail" : "ask nothing";
}

}  // namespace

std::vector<std::shared_ptr<Tool>> host_tools(World& world, Process& process) {
    const auto made = [&](std::string name, std::string schema, bool receipts) {
        const bool idempotent = is_idempotent(name);
        ToolSpec spec{.name = std::move(name), .schema = std::move(schema), .idempotent = idempotent};
        return std::make_shared<PlayedTool>(world, process, std::move(spec), receipts);
    };
    return {made("pay", std::string(pay_schema), false), made("note", {}, false), made("job", {}, true)};
}

std::vector<std::shared_ptr<Middleware>> host_middleware(World& world, Process& process) {
    return {std::make_shared<PlayedHooks>(world, process)};
}

std::vector<std::shared_ptr<Guard>> host_guards(World& world, Process& process) {
    std::vector<std::shared_ptr<Guard>> guards{
        std::make_shared<PlayedGuard>(world, process, "first", process.guard_version),
        std::make_shared<PlayedGuard>(world, process, "second", "1")};
    // A newer program has one guard more.
    if (process.guard_version == "3") guards.push_back(std::make_shared<PlayedGuard>(world, process, "third", "1"));
    return guards;
}

bool is_idempotent(std::string_view tool) {
    return tool == "note";
}

std::string any_tool(test::Dice& dice) {
    return dice.pick({"pay", "pay", "note", "job"});
}

std::string any_arguments(test::Dice& dice) {
    // Blanks and key order are the model's own and must come through.
    std::string text = R"({"n":)" + std::string(dice.chance(30) ? " " : "") + std::to_string(dice.roll(100));
    const auto add = [&](const char* name, const std::string& value) {
        text += std::string(dice.chance(20) ? ", \"" : ",\"") + name + "\":\"" + value + "\"";
    };
    if (dice.chance(85)) add("first", any_wish(dice));
    if (dice.chance(35)) add("second", any_wish(dice));
    if (dice.chance(25)) add("first2", any_wish(dice));
    if (dice.chance(10)) add("third", any_wish(dice));
    if (dice.chance(12)) add("hook", dice.pick({"replaces", "replaces", "fails", "denies"}));
    if (dice.chance(20)) add("body", dice.pick({"fails", "throws", "cannot say", "stopped"}));
    if (dice.chance(10)) add("take", "few");
    if (dice.chance(15)) text += R"(,"wait":)" + std::to_string(dice.pick({0, 1, 60, 7200}) * second_ms);
    return text + "}";
}

ModelTurn any_turn(test::Dice& dice, int turns_before) {
    ModelTurn turn{.text = "turn " + std::to_string(turns_before + 1)};
    if (turns_before > 0 && dice.chance(30 + 20 * turns_before)) return turn;
    const int calls = 1 + dice.roll(dice.chance(50) ? 1 : 4);
    for (int i = 0; i < calls; ++i) {
        ProposedCall call{.tool = any_tool(dice), .arguments = any_arguments(dice)};
        // Models use the same ids again, in the next turn and at times in the same one.
        if (!dice.chance(5)) call.id = "call_" + std::to_string(dice.chance(5) ? 0 : i);
        if (dice.chance(3)) call.tool = "nothing";
        if (dice.chance(4)) call.arguments = dice.pick({R"({"n":1,"n":2})", R"({"n":"x"})", "{", "{\"n\":\"\xff\"}"});
        turn.calls.push_back(std::move(call));
    }
    return turn;
}

}  // namespace assent::sim
