#include <assent/model.hpp>

#include <fstream>
#include <sstream>

namespace assent {
namespace {

constexpr JsonLimits script_limits{.bytes_max = 64 * 1024 * 1024, .depth_max = 200};

Failure wrong(const std::string& name, const std::string& what) {
    return {FailureKind::usage, "the script " + name + " cannot be used: " + what};
}

Result<ProposedCall> read_call(const std::string& name, const JsonNode& node, const std::string& where) {
    const auto* tool = node.find("name");
    if (tool == nullptr || tool->kind != JsonNode::Kind::string) return wrong(name, where + " has no name");
    ProposedCall call{.tool = tool->string, .arguments = "{}"};
    if (const auto* id = node.find("id"); id != nullptr && id->kind != JsonNode::Kind::null) {
        if (id->kind != JsonNode::Kind::string) return wrong(name, where + " has an id that is no text");
        call.id = id->string;
    }
    if (const auto* arguments = node.find("arguments")) {
        // An object stands for its exact bytes in the file; a text for whatever a model might send.
        call.arguments = arguments->kind == JsonNode::Kind::string ? arguments->string : std::string(arguments->text);
    }
    return call;
}

Result<ModelTurn> read_turn(const std::string& name, const JsonNode& node, std::size_t index) {
    const auto where = "turn " + std::to_string(index + 1);
    if (node.kind != JsonNode::Kind::object) return wrong(name, where + " is no object");
    ModelTurn turn{.stop_reason = "end_turn"};
    if (const auto* text = node.find("text")) {
        if (text->kind != JsonNode::Kind::string) return wrong(name, where + " has a text that is no text");
        turn.text = text->string;
    }
    const auto* calls = node.find("calls");
    if (calls == nullptr) return turn;
    if (calls->kind != JsonNode::Kind::array) return wrong(name, where + " has calls that are no list");
    for (const auto& item : calls->items) {
        auto call = read_call(name, item, "a call of " + where);
        if (!call) return call.failure();
        turn.calls.push_back(std::move(call).value());
    }
    if (!turn.calls.empty()) turn.stop_reason = "tool_use";
    return turn;
}

class ScriptedModel final : public Model {
public:
    ScriptedModel(std::string name, std::vector<ModelTurn> turns) : name_(std::move(name)), turns_(std::move(turns)) {}

    std::string name() const override { return "script:" + name_; }

    Result<ModelTurn> turn(const ModelRequest& request, const std::function<void(std::string_view)>& on_text,
                           const std::stop_token&) override {
        const auto index = static_cast<std::size_t>(request.turn - 1);
        if (index >= turns_.size()) {
            return Failure{FailureKind::model, "the script " + name_ + " has " + std::to_string(turns_.size()) +
                                                   " turns and none is left; add a turn to it"};
        }
        if (!turns_[index].text.empty()) on_text(turns_[index].text);
        return turns_[index];
    }

private:
    std::string name_;
    std::vector<ModelTurn> turns_;
};

}  // namespace

Result<std::shared_ptr<Model>> scripted_model(std::string name, std::string_view text) {
    const auto script = JsonText::parse(std::string(text), script_limits);
    if (!script) return wrong(name, script.failure().message);
    const auto* list = script->root().find("turns");
    if (list == nullptr || list->kind != JsonNode::Kind::array) return wrong(name, "it has no list of turns");
    std::vector<ModelTurn> turns;
    for (std::size_t i = 0; i < list->items.size(); ++i) {
        auto turn = read_turn(name, list->items[i], i);
        if (!turn) return turn.failure();
        turns.push_back(std::move(turn).value());
    }
    return std::shared_ptr<Model>(std::make_shared<ScriptedModel>(std::move(name), std::move(turns)));
}

Result<std::shared_ptr<Model>> scripted_model_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf())) return wrong(path, "it cannot be read; check the path");
    return scripted_model(path, text.str());
}

}  // namespace assent
