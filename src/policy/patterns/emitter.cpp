#include "policy/patterns/emitter.hpp"

#include <array>
#include <charconv>
#include <map>

namespace assent {
namespace {

using Kind = PatternNode::Kind;

// Sets with more ranges than this are worth sharing.
constexpr std::size_t large_set = 16;

bool plain(char32_t c) noexcept {
    return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z') || (c >= U'0' && c <= U'9') || c == U'_';
}

std::string written(char32_t c) {
    if (plain(c)) return {static_cast<char>(c)};
    std::array<char, 8> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), static_cast<std::uint32_t>(c), 16).ptr;
    return "\\x{" + std::string(digits.data(), end) + "}";
}

// Surrogates are left out: no text has any, and the engine takes none.
std::string written_ranges(const CodeSet& set) {
    std::string out;
    const auto add = [&](char32_t first, char32_t last) {
        if (first > last) return;
        out += written(first);
        if (last > first) out += "-" + written(last);
    };
    for (const auto& [first, last] : set.ranges()) {
        if (last < 0xd800 || first > 0xdfff) {
            add(first, last);
            continue;
        }
        if (first < 0xd800) add(first, 0xd7ff);
        if (last > 0xdfff) add(0xe000, last);
    }
    return out;
}

std::string written_set(const CodeSet& set) {
    const bool negated = set.contains(last_code_point);
    const auto ranges = written_ranges(negated ? set.complement() : set);
    // The engine is told that a dot takes every character.
    if (ranges.empty()) return negated ? "." : R"([^\x{0}-\x{10ffff}])";
    return (negated ? "[^" : "[") + ranges + "]";
}

class Emitter {
public:
    Emitter(SetPlace place, std::uint32_t captures) : place_(place), next_group_(captures + 1) {}

    std::string pattern(const PatternNode& root) {
        body(root);
        if (!definitions_.empty() && root.items.size() > 1) out_ = "(?:" + out_ + ")";
        if (!definitions_.empty()) out_ += "(?(DEFINE)" + definitions_ + ")";
        return std::move(out_);
    }

private:
    void emit(const PatternNode& node) {
        switch (node.kind) {
            case Kind::set:
                return set(node.set);
            case Kind::sequence:
                for (const auto& item : node.items) emit(item);
                return;
            case Kind::choice:
                out_ += "(?:";
                body(node);
                out_ += ')';
                return;
            case Kind::capture:
                out_ += '(';
                body(node.items.front());
                out_ += ')';
                return;
            case Kind::repeat:
                return repeat(node);
            case Kind::back_reference:
                out_ += "\\g{" + std::to_string(node.number) + "}";
                return;
            default:
                return position(node.kind);
        }
    }

    void position(Kind kind) {
        switch (kind) {
            case Kind::text_start:
                out_ += R"(\A)";
                return;
            case Kind::line_start:  // after every line feed, also one that ends the text
                out_ += R"((?<![^\x{a}]))";
                return;
            case Kind::text_end:
                out_ += R"(\z)";
                return;
            case Kind::line_end:
                out_ += R"((?![^\x{a}]))";
                return;
            case Kind::last_line_end:
                out_ += R"((?=\x{a}?\z))";
                return;
            case Kind::word_edge:
                return edge(true);
            default:  // an empty text has no place that is no edge
                out_ += R"((?!\A\z))";
                return edge(false);
        }
    }

    // If a word character follows, an edge is where none precedes; else where one does.
    void edge(bool wanted) {
        out_ += "(?(?=";
        set(word_set());
        out_ += wanted ? ")(?<!" : ")(?<=";
        set(word_set());
        out_ += wanted ? ")|(?<=" : ")|(?<!";
        set(word_set());
        out_ += "))";
    }

    // A choice within brackets that somebody else wrote.
    void body(const PatternNode& choice) {
        for (std::size_t i = 0; i < choice.items.size(); ++i) {
            if (i > 0) out_ += '|';
            emit(choice.items[i]);
        }
    }

    void repeat(const PatternNode& node) {
        emit(node.items.front());  // every repeatable node is written as one item
        out_ += "{" + std::to_string(node.min) + ",";
        if (node.max != no_maximum) out_ += std::to_string(node.max);
        out_ += '}';
        if (node.lazy) out_ += '?';
    }

    void set(const SharedCodeSet& wanted) {
        const auto& ranges = wanted->ranges();
        if (ranges.size() == 1 && ranges[0].first == ranges[0].last && plain(ranges[0].first)) {
            out_ += written(ranges[0].first);
        } else if (place_ == SetPlace::shared && ranges.size() > large_set) {
            out_ += "(?" + std::to_string(group_of(*wanted)) + ")";
        } else {
            out_ += written_set(*wanted);
        }
    }

    // The number of the group that holds a large set.
    std::uint32_t group_of(const CodeSet& wanted) {
        auto text = written_set(wanted);
        const auto [known, fresh] = groups_.try_emplace(std::move(text), next_group_);
        if (fresh) {
            definitions_ += "(" + known->first + ")";
            ++next_group_;
        }
        return known->second;
    }

    SetPlace place_;
    std::uint32_t next_group_;
    std::string out_;
    std::string definitions_;
    std::map<std::string, std::uint32_t> groups_;
};

}  // namespace

std::string emit_pattern(const ParsedPattern& pattern, SetPlace place) {
    return Emitter(place, pattern.captures).pattern(pattern.root);
}

}  // namespace assent
