// The conversation as both services want it: each call has an id and exactly one result.
//
// What is made here depends on earlier messages alone, so a longer conversation begins with the same bytes
// as a shorter one: services keep their caches, and their signatures stay good.
//
// Thread-safety: functions without state, immutable values. Views live as long as the messages.
#pragma once

#include <assent/model.hpp>

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assent::models {

/// A ModelRequest with its conversation read.
struct ServiceRequest {
    std::string_view system_prompt;
    std::span<const Message> messages;
    std::span<const ToolSpec* const> tools;
};

/// Names of tools as services take them: letters, digits, `_` and `-`, at most 64.
class ToolNames {
public:
    explicit ToolNames(std::span<const ToolSpec* const> tools);

    /// Also for a name that is no tool's: a model may have made one up.
    [[nodiscard]] std::string wire(std::string_view own) const;
    [[nodiscard]] std::string own(std::string_view wire) const;

private:
    std::map<std::string, std::string, std::less<>> wire_of_;
    std::map<std::string, std::string, std::less<>> own_of_;
};

/// One message that is no result, with the results of its calls.
struct Exchange {
    const Message* said = nullptr;
    std::vector<std::string> ids;         ///< One for each call.
    std::vector<const Message*> results;  ///< One for each call; null: none is recorded.
};

enum class IdRule {
    one_turn,      ///< Different within a turn.
    whole_thread,  ///< Different everywhere, and of letters, digits, `_` and `-`.
};

/// The model's own ids are kept where the rule allows.
[[nodiscard]] std::vector<Exchange> exchanges(std::span<const Message> messages, IdRule rule);

/// The tool's schema with the members that services want to see in it: type and properties.
[[nodiscard]] std::string wire_schema(const ToolSpec& tool);

/// The recorded arguments if they are a JSON object, byte for byte; else `{}`.
[[nodiscard]] std::string object_or_empty(const std::string& arguments);
/// The text of a result; words that say so when there is none, since services refuse an empty one.
[[nodiscard]] std::string result_text(const Message* result);
/// The same for what a user wrote.
[[nodiscard]] std::string user_text(const Message& message);

}  // namespace assent::models
