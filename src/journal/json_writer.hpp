// Stored types as JSON text, written straight into a string. The names are those of `described.hpp`.
#pragma once

#include "base/json_quote.hpp"
#include "journal/described.hpp"

#include <boost/describe.hpp>
#include <boost/mp11.hpp>

#include <array>
#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace assent::journal {

inline void write_json(std::string& out, bool value) {
    out += value ? "true" : "false";
}

template <class T>
    requires std::integral<T> && (!std::same_as<T, bool>)
void write_json(std::string& out, T value) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out.append(digits.data(), end);
}

inline void write_json(std::string& out, std::string_view text) {
    append_quoted(out, text);
}

template <class T>
    requires boost::describe::has_describe_enumerators<T>::value
void write_json(std::string& out, T value) {
    append_quoted(out, boost::describe::enum_to_string(value, ""));
}

template <class T>
    requires boost::describe::has_describe_members<T>::value
void write_json(std::string& out, const T& value);

template <class T>
void write_json(std::string& out, const std::vector<T>& values) {
    char before = '[';
    for (const auto& value : values) {
        out += before;
        write_json(out, value);
        before = ',';
    }
    if (before == '[') out += before;
    out += ']';
}

template <class T>
void write_json(std::string& out, const std::optional<T>& value) {
    if (value) {
        write_json(out, *value);
    } else {
        out += "null";
    }
}

/// The members of a described struct, each with a comma before it but the first if `first`; not those of which
/// `left_out` says so, given the member's descriptor.
template <class T, class LeftOut>
void write_members(std::string& out, const T& value, bool first, LeftOut left_out) {
    using Members = boost::describe::describe_members<T, boost::describe::mod_public>;
    boost::mp11::mp_for_each<Members>([&](auto member) {
        if (left_out(member)) return;
        out += first ? "\"" : ",\"";
        out += member.name;
        out += "\":";
        write_json(out, value.*member.pointer);
        first = false;
    });
}

template <class T>
    requires boost::describe::has_describe_members<T>::value
void write_json(std::string& out, const T& value) {
    out += '{';
    write_members(out, value, true, [](auto) { return false; });
    out += '}';
}

}  // namespace assent::journal
