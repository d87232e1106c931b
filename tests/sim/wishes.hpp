// What the guards and bodies of the simulation do is written in the arguments of the call itself, so that
// the auditor can tell from the journal alone what each should have said.
#pragma once

#include <assent/arguments.hpp>
#include <assent/verdict.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace assent::sim {

/// What a call wishes of a guard.
enum class Wish { allow, ask, deny, fail, ask_nothing };

/// The text of a string member; empty if there is none.
[[nodiscard]] inline std::string text_of(const Arguments& arguments, std::string_view name) {
    const auto* member = arguments.find(name);
    return member != nullptr && member->kind == JsonNode::Kind::string ? member->string : std::string();
}
[[nodiscard]] inline std::optional<std::int64_t> number_of(const Arguments& arguments, std::string_view name) {
    const auto* member = arguments.find(name);
    if (member == nullptr || member->kind != JsonNode::Kind::number) return std::nullopt;
    return std::stoll(std::string(member->text));
}

/// Version 2 of a guard reads the member `GUARD2` first.
[[nodiscard]] inline Wish wish_of(const Arguments& arguments, const std::string& guard, std::string_view version) {
    auto word = version == "1" ? std::string() : text_of(arguments, guard + std::string(version));
    if (word.empty()) word = text_of(arguments, guard);
    if (word == "ask") return Wish::ask;
    if (word == "deny") return Wish::deny;
    if (word == "fail") return Wish::fail;
    if (word == "ask nothing") return Wish::ask_nothing;
    return Wish::allow;
}

/// What has to come of it: closed when in doubt.
[[nodiscard]] inline Verdict due_verdict(Wish wish) {
    if (wish == Wish::allow) return Verdict::allow;
    return wish == Wish::ask ? Verdict::ask : Verdict::deny;
}

/// How a body ends.
enum class Ending { done, fails, throws, cannot_say, stopped };

[[nodiscard]] inline Ending ending_of(const Arguments& arguments) {
    const auto word = text_of(arguments, "body");
    if (word == "fails") return Ending::fails;
    if (word == "throws") return Ending::throws;
    if (word == "cannot say") return Ending::cannot_say;
    return word == "stopped" ? Ending::stopped : Ending::done;
}

/// What the hook after each body adds to its result, once.
inline constexpr std::string_view hook_mark = " +";

}  // namespace assent::sim
