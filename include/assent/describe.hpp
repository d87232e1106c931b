// Tools from described structs: the struct gives the JSON Schema, the parsing and the validation.
// This header opts in to Boost.Describe.
//
//     struct RefundArgs { std::string order; double amount; std::optional<std::string> note; };
//     BOOST_DESCRIBE_STRUCT(RefundArgs, (), (order, amount, note))
//     auto refund = assent::tool<RefundArgs>("refund", "Refund an order", [](const RefundArgs& args) { … });
//
// Members may be bool, integers, floating point, std::string, std::optional, std::vector, std::map with
// std::string keys, and described structs. Members that are not optional are required; unknown members
// are refused.
//
// Errors: a value that does not fit its member (an integer out of range) fails the call with a text that
// names the member.
#pragma once

#include <assent/policy.hpp>
#include <assent/tool.hpp>

#include <boost/describe.hpp>
#include <boost/mp11.hpp>

#include <charconv>
#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace assent {
namespace detail {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class T>
struct IsMap<std::map<std::string, T>> : std::true_type {};

template <class T>
using Members = boost::describe::describe_members<T, boost::describe::mod_public | boost::describe::mod_inherited>;

template <class T>
std::string schema_of() {
    if constexpr (IsOptional<T>::value) {
        return schema_of<typename T::value_type>();
    } else if constexpr (std::same_as<T, bool>) {
        return R"({"type":"boolean"})";
    } else if constexpr (std::integral<T>) {
        return R"({"type":"integer"})";
    } else if constexpr (std::floating_point<T>) {
        return R"({"type":"number"})";
    } else if constexpr (std::same_as<T, std::string>) {
        return R"({"type":"string"})";
    } else if constexpr (IsVector<T>::value) {
        return R"({"type":"array","items":)" + schema_of<typename T::value_type>() + "}";
    } else if constexpr (IsMap<T>::value) {
        return R"({"type":"object","additionalProperties":)" + schema_of<typename T::mapped_type>() + "}";
    } else {
        static_assert(boost::describe::has_describe_members<T>::value,
                      "describe this struct with BOOST_DESCRIBE_STRUCT");
        std::string properties;
        std::string required;
        boost::mp11::mp_for_each<Members<T>>([&](auto member) {
            using Member = std::remove_cvref_t<decltype(std::declval<T>().*member.pointer)>;
            const auto name = json_quote(member.name);
            properties += (properties.empty() ? "" : ",") + name + ":" + schema_of<Member>();
            if (!IsOptional<Member>::value) required += (required.empty() ? "" : ",") + name;
        });
        return R"({"type":"object","properties":{)" + properties + R"(},"required":[)" + required +
               R"(],"additionalProperties":false})";
    }
}

[[noreturn]] inline void does_not_fit(const std::string& where) {
    throw std::invalid_argument("the argument " + where + " does not fit");
}

template <class T>
T read_value(const JsonNode& node, const std::string& where) {
    if constexpr (IsOptional<T>::value) {
        return read_value<typename T::value_type>(node, where);
    } else if constexpr (std::same_as<T, bool>) {
        if (node.kind != JsonNode::Kind::boolean) does_not_fit(where);
        return node.boolean;
    } else if constexpr (std::integral<T> || std::floating_point<T>) {
        T value{};
        const auto* end = node.text.data() + node.text.size();
        const auto [stopped, error] = std::from_chars(node.text.data(), end, value);
        if (node.kind != JsonNode::Kind::number || error != std::errc() || stopped != end) does_not_fit(where);
        return value;
    } else if constexpr (std::same_as<T, std::string>) {
        if (node.kind != JsonNode::Kind::string) does_not_fit(where);
        return node.string;
    } else if constexpr (IsVector<T>::value) {
        if (node.kind != JsonNode::Kind::array) does_not_fit(where);
        T values;
        for (const auto& item : node.items) values.push_back(read_value<typename T::value_type>(item, where));
        return values;
    } else if constexpr (IsMap<T>::value) {
        if (node.kind != JsonNode::Kind::object) does_not_fit(where);
        T values;
        for (std::size_t i = 0; i < node.keys.size(); ++i) {
            values.emplace(node.keys[i],
                           read_value<typename T::mapped_type>(node.items[i], where + "." + node.keys[i]));
        }
        return values;
    } else {
        if (node.kind != JsonNode::Kind::object) does_not_fit(where);
        T value{};
        boost::mp11::mp_for_each<Members<T>>([&](auto member) {
            using Member = std::remove_cvref_t<decltype(value.*member.pointer)>;
            const std::string name = where.empty() ? member.name : where + "." + member.name;
            const auto* found = node.find(member.name);
            if (found != nullptr) {
                value.*member.pointer = read_value<Member>(*found, name);
            } else if (!IsOptional<Member>::value) {
                does_not_fit(name);
            }
        });
        return value;
    }
}

template <class Args, class Body>
class TypedTool final : public Tool {
public:
    TypedTool(ToolSpec spec, Body body) : Tool(std::move(spec)), body_(std::move(body)) {}

private:
    ToolResult run(const ApprovedCall& call) override {
        const auto args = read_value<Args>(call.arguments().root(), "");
        const auto result = [&] {
            if constexpr (std::invocable<Body&, const Args&, const ApprovedCall&>) {
                return body_(args, call);
            } else {
                return body_(args);
            }
        };
        if constexpr (std::convertible_to<decltype(result()), ToolResult>) {
            return result();
        } else {
            return {.text = result()};
        }
    }
    Body body_;
};

}  // namespace detail

/// The JSON Schema of a described struct.
template <class Args>
[[nodiscard]] std::string json_schema() {
    return detail::schema_of<Args>();
}

/// The struct that these arguments stand for. Throws std::invalid_argument naming the member.
template <class Args>
[[nodiscard]] Args read_arguments(const Arguments& arguments) {
    return detail::read_value<Args>(arguments.root(), "");
}

/// A policy that sees the arguments as a described struct. A call whose arguments do not fit it is denied: name
/// the tools that take it (`PolicyOptions::tools`) unless all do.
template <class Args, class Judge>
    requires std::is_invocable_r_v<PolicyDecision, Judge&, const ToolCall<Args>&>
[[nodiscard]] std::shared_ptr<ApprovalPolicyMiddleware> policy(Judge judge, PolicyOptions options = {}) {
    return policy(Policy([judge = std::move(judge)](const ToolCall<>& call) mutable -> PolicyDecision {
                      return judge(ToolCall<Args>{.tool_name = call.tool_name,
                                                  .id = call.id,
                                                  .args = read_arguments<Args>(call.args),
                                                  .context = call.context});
                  }),
                  std::move(options));
}
/// The same for a plain function, which tells the struct itself.
template <class Args>
[[nodiscard]] std::shared_ptr<ApprovalPolicyMiddleware> policy(PolicyDecision (*judge)(const ToolCall<Args>&),
                                                               PolicyOptions options = {}) {
    if constexpr (std::same_as<Args, Arguments>) {
        return policy(Policy(judge), std::move(options));
    } else {
        return policy<Args, PolicyDecision (*)(const ToolCall<Args>&)>(judge, std::move(options));
    }
}

/// A tool whose arguments are a described struct. `body` takes `const Args&`, and `const ApprovedCall&`
/// too if it likes; it returns a text or a ToolResult. `spec` may set `read_only` and `idempotent`.
template <class Args, class Body>
[[nodiscard]] std::shared_ptr<Tool> tool(std::string name, std::string description, Body body, ToolSpec spec = {}) {
    spec.name = std::move(name);
    spec.description = std::move(description);
    spec.schema = json_schema<Args>();
    return std::make_shared<detail::TypedTool<Args, Body>>(std::move(spec), std::move(body));
}

}  // namespace assent
