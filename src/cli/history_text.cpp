#include "cli/history_text.hpp"

#include "base/base32.hpp"
#include "base/display.hpp"
#include "base/sha256.hpp"
#include "cli/words.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>

namespace assent::cli {
namespace {

// A line is for reading down the page; the JSON form has everything.
constexpr std::size_t words_bytes_max = 160;

std::string short_words(std::string_view text) {
    return safe_to_show(capped(text, words_bytes_max)).text;
}

// ": TEXT", or nothing.
std::string after_colon(std::string_view text) {
    return text.empty() ? std::string() : ": " + short_words(text);
}

// The fields of one event.
class Fields {
public:
    explicit Fields(const std::string& json) {
        JsonLimits limits;
        limits.bytes_max = json.size();
        if (auto parsed = JsonText::parse(json, limits)) json_ = std::move(parsed).value();
    }

    [[nodiscard]] const JsonNode* node(std::string_view name) const { return json_.root().find(name); }
    [[nodiscard]] std::string text(std::string_view name) const { return text_of(node(name)); }
    [[nodiscard]] std::string words(std::string_view name) const { return short_words(text(name)); }
    [[nodiscard]] bool flag(std::string_view name) const {
        const auto* found = node(name);
        return found != nullptr && found->kind == JsonNode::Kind::boolean && found->boolean;
    }
    [[nodiscard]] std::string number(std::string_view name) const { return number_of(node(name)); }
    [[nodiscard]] std::vector<JsonNode> list(std::string_view name) const {
        const auto* found = node(name);
        return found == nullptr ? std::vector<JsonNode>() : found->items;
    }

    [[nodiscard]] static std::string text_of(const JsonNode* node) {
        return node == nullptr ? std::string() : node->string;
    }
    [[nodiscard]] static std::string number_of(const JsonNode* node) {
        return node != nullptr && node->kind == JsonNode::Kind::number ? std::string(node->text) : std::string();
    }

private:
    JsonText json_;
};

class Teller {
public:
    std::string what(const HistoryEntry& entry) {
        const Fields fields(entry.fields);
        const auto found = tellers().find(entry.event);
        auto text = found == tellers().end() ? entry.event : (this->*found->second)(fields);
        // What these say of their calls is how they ended.
        if (entry.event.ends_with("finished") || entry.event == "refused") return text;
        for (const auto& call : entry.calls) {
            text += "; " + short_words(call.tool) + " " + std::string(to_string(call.outcome));
        }
        return text;
    }

private:
    using Tell = std::string (Teller::*)(const Fields&);

    static const std::map<std::string, Tell>& tellers() {
        static const std::map<std::string, Tell> all{{"configured", &Teller::configured},
                                                     {"user_message", &Teller::user_message},
                                                     {"queued", &Teller::queued},
                                                     {"model_turn", &Teller::model_turn},
                                                     {"prepared", &Teller::prepared},
                                                     {"refused", &Teller::refused},
                                                     {"judged", &Teller::judged},
                                                     {"asked", &Teller::asked},
                                                     {"answered", &Teller::answered},
                                                     {"claimed", &Teller::claimed},
                                                     {"released", &Teller::released},
                                                     {"finished", &Teller::finished},
                                                     {"doubted", &Teller::doubted},
                                                     {"late_finished", &Teller::late_finished},
                                                     {"delegated", &Teller::delegated},
                                                     {"child_finished", &Teller::child_finished},
                                                     {"resolved", &Teller::resolved},
                                                     {"withdrawn", &Teller::withdrawn},
                                                     {"timed_out", &Teller::timed_out},
                                                     {"aborted", &Teller::aborted},
                                                     {"run_finished", &Teller::run_finished},
                                                     {"files_changed", &Teller::files_changed},
                                                     {"pruned", &Teller::pruned}};
        return all;
    }

    // The tool of a call, and where it stands when its turn has more than one.
    std::string call_words(const JsonNode* call) const {
        if (call == nullptr) return "a call";
        const auto turn = Fields::number_of(call->find("turn"));
        const auto position = Fields::number_of(call->find("position"));
        const auto found = tools_.find(turn + "." + position);
        const auto place = std::to_string(std::atoi(position.c_str()) + 1) + " of turn " + turn;
        return found == tools_.end() ? "call " + place : found->second + " (call " + place + ")";
    }
    std::string attempt_words(const Fields& fields) const {
        const auto found = attempts_.find(fields.text("attempt"));
        return found == attempts_.end() ? "a call" : found->second;
    }
    std::string approval_words(const Fields& fields) const {
        const auto found = approvals_.find(fields.number("number"));
        return found == approvals_.end() ? "approval " + fields.number("number") : found->second;
    }
    static std::string person(const Fields& fields) {
        const auto how = fields.words("signed_in");
        return fields.words("by") + (how.empty() ? "" : " (" + how + ")");
    }

    std::string configured(const Fields& fields) {
        return "configured with " + count_words(fields.list("tools").size(), "tool");
    }
    std::string user_message(const Fields& fields) {
        return "prompted by " + fields.words("by") + after_colon(fields.text("text"));
    }
    std::string queued(const Fields& fields) {
        return "prompt of " + fields.words("by") + ", kept until its turn" + after_colon(fields.text("text"));
    }
    std::string model_turn(const Fields& fields) {
        const auto turn = fields.number("turn");
        std::string calls;
        int position = 0;
        for (const auto& call : fields.list("calls")) {
            const auto tool = short_words(Fields::text_of(call.find("tool")));
            tools_[turn + "." + std::to_string(position++)] = tool;
            calls += (calls.empty() ? "" : ", ") + tool;
        }
        return "model turn " + turn + (calls.empty() ? "" : " calls " + calls) + after_colon(fields.text("text"));
    }
    std::string prepared(const Fields& fields) { return "prepared " + call_words(fields.node("call")); }
    std::string refused(const Fields& fields) {
        return "refused " + call_words(fields.node("call")) + ", before any guard saw it" +
               after_colon(fields.text("text"));
    }
    std::string judged(const Fields& fields) {
        const auto verdict = fields.text("verdict");
        const auto call = call_words(fields.node("call"));
        if (verdict == to_string(Verdict::allow)) return "allowed " + call;
        std::string guards;
        for (const auto& guard : fields.list("guards")) {
            if (Fields::text_of(guard.find("verdict")) != verdict) continue;
            guards += (guards.empty() ? "" : ", ") + short_words(Fields::text_of(guard.find("guard")));
            if (verdict == to_string(Verdict::deny)) guards += after_colon(Fields::text_of(guard.find("reason")));
        }
        if (verdict == to_string(Verdict::ask)) return "held " + call + " for people, by guard " + guards;
        if (guards.empty()) return "denied " + call + " by a middleware" + after_colon(fields.text("text"));
        return "denied " + call + " by guard " + guards;
    }
    std::string asked(const Fields& fields) {
        Digest digest{};
        const auto raw = unhex(fields.text("binding"));
        std::copy_n(raw.begin(), std::min(raw.size(), digest.size()), digest.begin());
        const auto number = fields.number("number");
        const auto id = public_id(std::atoll(number.c_str()), digest);
        approvals_[number] = id + " " + fields.words("tool");
        if (fields.text("kind") == to_string(ApprovalKind::unknown))
            return "asked " + approvals_[number] + ", how it ended";
        return "asked " + approvals_[number] + " by guard " + fields.words("guard") +
               after_colon(fields.text("reason"));
    }
    std::string answered(const Fields& fields) {
        const auto decision = fields.text("decision");
        if (decision == to_string(DecisionKind::edit)) {
            const auto* call = fields.node("call");
            if (call != nullptr) {
                tools_[Fields::number_of(call->find("turn")) + "." + Fields::number_of(call->find("position"))] =
                    fields.words("tool");
            }
        }
        return "answered " + approval_words(fields) + " " + decision + " by " + person(fields) +
               after_colon(fields.text("message"));
    }
    std::string claimed(const Fields& fields) {
        std::string calls;
        for (const auto& start : fields.list("starts")) {
            const auto call = call_words(start.find("call"));
            attempts_[Fields::text_of(start.find("attempt"))] = call;
            calls += (calls.empty() ? "" : ", ") + call;
        }
        const auto* process = fields.node("process");
        if (process == nullptr) return "claimed " + calls;
        return "claimed " + calls + " by process " + Fields::number_of(process->find("pid")) + " on " +
               short_words(Fields::text_of(process->find("host")));
    }
    std::string released(const Fields& fields) {
        return "released " + attempt_words(fields) + ", it was not started" + after_colon(fields.text("reason"));
    }
    std::string finished(const Fields& fields) {
        return "finished " + fields.text("outcome") + " " + attempt_words(fields);
    }
    std::string doubted(const Fields& fields) {
        return "doubted " + attempt_words(fields) + after_colon(fields.text("reason")) +
               (fields.flag("may_run_again") ? "; it may run again" : "");
    }
    std::string files_changed(const Fields& fields) {
        std::string files;
        for (const auto& change : fields.list("changes")) {
            const auto* removed = change.find("removed");
            files += (files.empty() ? "" : ", ") + short_words(Fields::text_of(change.find("path"))) +
                     (removed != nullptr && removed->boolean ? " (deleted)" : "");
        }
        return "changed by " + attempt_words(fields) + ": " + capped(files, words_bytes_max);
    }
    std::string pruned(const Fields& fields) {
        return fields.words("by") + " removed what happened up to event " + fields.number("upto");
    }
    std::string late_finished(const Fields& fields) {
        return "finished late " + fields.text("outcome") + " " + attempt_words(fields);
    }
    std::string delegated(const Fields& fields) {
        const auto call = call_words(fields.node("call"));
        attempts_[fields.text("child")] = call;
        return "delegated " + call + " to thread " + fields.words("child");
    }
    std::string child_finished(const Fields& fields) {
        const auto found = attempts_.find(fields.text("child"));
        return "finished " + fields.text("outcome") + " " + (found == attempts_.end() ? "a call" : found->second) +
               " by thread " + fields.words("child");
    }
    std::string resolved(const Fields& fields) {
        return "resolved " + approval_words(fields) + " " + fields.text("how") + " by " + person(fields) +
               after_colon(fields.text("text"));
    }
    std::string withdrawn(const Fields& fields) {
        return "withdrew " + approval_words(fields) + after_colon(fields.text("reason"));
    }
    std::string timed_out(const Fields& fields) { return "timed out " + approval_words(fields); }
    std::string aborted(const Fields& fields) {
        return "aborted by " + fields.words("by") + after_colon(fields.text("reason"));
    }
    std::string run_finished(const Fields& fields) {
        if (fields.flag("ok")) return "run finished";
        return "run failed, " + fields.text("failure_kind") + after_colon(fields.text("message"));
    }

    std::map<std::string, std::string> tools_;      ///< By "turn.position".
    std::map<std::string, std::string> approvals_;  ///< Id and tool, by number.
    std::map<std::string, std::string> attempts_;
};

}  // namespace

std::vector<std::string> history_lines(const std::vector<HistoryEntry>& entries, const Terminal& terminal) {
    Teller teller;
    std::vector<std::string> lines;
    lines.reserve(entries.size());
    for (const auto& entry : entries) {
        lines.push_back(terminal.styled(Style::dim, time_words(entry.at)) + "  " + teller.what(entry));
    }
    return lines;
}

}  // namespace assent::cli
