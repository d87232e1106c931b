// Stored types from parsed JSON: what `json_writer.hpp` wrote. Nothing is taken that is not known: a member of
// another name or type, a word that is none of an enum's.
#pragma once

#include "journal/described.hpp"

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <boost/mp11.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assent::journal {

/// What a member that is not there means.
enum class Absent : std::uint8_t { damage, usual };

/// All functions: false if `from` is no `to`, which then holds a part of it.
inline bool read_json(const boost::json::value& from, bool& to, Absent /*absent*/) {
    if (!from.is_bool()) return false;
    to = from.get_bool();
    return true;
}

template <class T>
    requires std::integral<T> && (!std::same_as<T, bool>)
bool read_json(const boost::json::value& from, T& to, Absent /*absent*/) {
    boost::system::error_code error;
    to = from.to_number<T>(error);
    return !error;
}

inline bool read_json(const boost::json::value& from, std::string& to, Absent /*absent*/) {
    if (!from.is_string()) return false;
    to = from.get_string();
    return true;
}

template <class T>
    requires boost::describe::has_describe_enumerators<T>::value
bool read_json(const boost::json::value& from, T& to, Absent /*absent*/) {
    if (!from.is_string()) return false;
    const auto& word = from.get_string();
    const bool has_nul = word.find('\0') != boost::json::string::npos;
    return !has_nul && boost::describe::enum_from_string(word.c_str(), to);
}

template <class T>
    requires boost::describe::has_describe_members<T>::value
bool read_json(const boost::json::value& from, T& to, Absent absent);

template <class T>
bool read_json(const boost::json::value& from, std::vector<T>& to, Absent absent) {
    if (!from.is_array()) return false;
    to.clear();
    for (const auto& item : from.get_array()) {
        if (!read_json(item, to.emplace_back(), absent)) return false;
    }
    return true;
}

template <class T>
bool read_json(const boost::json::value& from, std::optional<T>& to, Absent absent) {
    to.reset();
    return from.is_null() || read_json(from, to.emplace(), absent);
}

template <class T>
    requires boost::describe::has_describe_members<T>::value
bool read_json(const boost::json::value& from, T& to, Absent absent) {
    if (!from.is_object()) return false;
    using Described = boost::describe::describe_members<T, boost::describe::mod_public>;
    const auto& object = from.get_object();
    std::size_t known = 0;
    bool good = true;
    boost::mp11::mp_for_each<Described>([&](auto member) {
        if (!good) return;
        const auto* value = object.if_contains(member.name);
        if (value == nullptr) {
            good = absent == Absent::usual;
            return;
        }
        ++known;
        good = read_json(*value, to.*member.pointer, absent);
    });
    return good && known == object.size();
}

}  // namespace assent::journal
