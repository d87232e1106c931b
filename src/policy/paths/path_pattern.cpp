#include "policy/paths/path_pattern.hpp"

#include "policy/paths/braces.hpp"

#include <algorithm>

namespace assent {
namespace {

using Token = NamePattern::Token;

Failure refuse(const char* message) {
    return {FailureKind::usage, message};
}

Result<Token> read_class(std::u32string_view text) {
    Token token{.kind = Token::Kind::set};
    if (!text.empty() && (text[0] == U'!' || text[0] == U'^')) {
        token.negated = true;
        text.remove_prefix(1);
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto first = text[i];
        if (first == U'[' && i + 1 < text.size() && (text[i + 1] == U':' || text[i + 1] == U'.' || text[i + 1] == U'='))
            return refuse("named classes such as [:alpha:] are not known; write [a-z]");
        auto last = first;
        if (i + 2 < text.size() && text[i + 1] == U'-') {
            last = text[i + 2];
            i += 2;
        }
        if (last < first) return refuse("a class has a range that ends before it begins");
        token.ranges.emplace_back(first, last);
    }
    return token;
}

Result<NamePattern> read_name(std::string_view text) {
    NamePattern name;
    if (text == "**") {
        name.any_depth = true;
        return name;
    }
    while (!text.empty()) {
        if (text[0] == '[') {
            const auto end = end_of_class(text, 0);
            if (end == std::string_view::npos)
                return refuse("a [ has no ] behind it in its name; write [[] for the character");
            const auto token = read_class(characters_of(text.substr(1, end - 2)));
            if (!token.ok()) return token.failure();
            name.tokens.push_back(*token);
            text.remove_prefix(end);
            continue;
        }
        if (text[0] == '*') {
            if (name.tokens.empty() || name.tokens.back().kind != Token::Kind::many)
                name.tokens.push_back({.kind = Token::Kind::many});
            text.remove_prefix(1);
            continue;
        }
        if (text[0] == '?') {
            name.tokens.push_back({.kind = Token::Kind::one});
            text.remove_prefix(1);
            continue;
        }
        const auto plain = text.substr(0, text.find_first_of("[*?"));
        for (const auto point : characters_of(plain)) name.tokens.push_back({.character = point});
        text.remove_prefix(plain.size());
    }
    return name;
}

// Literal runs are folded whole, as one letter may become two. A class keeps what it named and gains
// its other case: in a rule that denies, more is right.
NamePattern loose_name(const NamePattern& name) {
    NamePattern out{.any_depth = name.any_depth};
    std::u32string run;
    const auto end_run = [&] {
        for (const auto point : loose_form(run)) out.tokens.push_back({.character = point});
        run.clear();
    };
    for (const auto& token : name.tokens) {
        if (token.kind == Token::Kind::character) {
            run += token.character;
            continue;
        }
        end_run();
        out.tokens.push_back(token);
        if (token.kind != Token::Kind::set || token.negated) continue;
        for (const auto& [first, last] : token.ranges) {
            const auto a = loose_form({&first, 1});
            const auto b = loose_form({&last, 1});
            if (a.size() == 1 && b.size() == 1 && a <= b) out.tokens.back().ranges.emplace_back(a[0], b[0]);
        }
    }
    end_run();
    return out;
}

bool token_matches(const Token& token, char32_t point) {
    switch (token.kind) {
        case Token::Kind::character:
            return token.character == point;
        case Token::Kind::one:
            return true;
        case Token::Kind::set:
            return token.negated != std::any_of(token.ranges.begin(), token.ranges.end(), [&](const auto& range) {
                       return range.first <= point && point <= range.second;
                   });
        case Token::Kind::many:
            break;
    }
    return false;
}

Result<PatternPath> read_path(std::string_view text) {
    PatternPath path;
    bool literal = true;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('/', at), text.size());
        const auto part = text.substr(at, end - at);
        at = end + 1;
        if (part.empty() || part == ".") continue;
        if (part == "..") return refuse("must not contain '..'");
        if (part == "~") return refuse("must not contain '~'");
        auto name = read_name(part);
        if (!name.ok()) return name.failure();
        // Two in a row say the same as one, and would cost twice.
        if (name->any_depth && !path.exact.empty() && path.exact.back().any_depth) continue;
        literal = literal && name->is_literal();
        if (literal) path.anchor.emplace_back(part);
        path.loose.push_back(loose_name(*name));
        path.exact.push_back(std::move(*name));
    }
    return path;
}

}  // namespace

bool NamePattern::is_literal() const noexcept {
    return !any_depth && std::all_of(tokens.begin(), tokens.end(),
                                     [](const Token& token) { return token.kind == Token::Kind::character; });
}

bool NamePattern::matches(std::u32string_view name, bool dots_explicit) const {
    if (dots_explicit && !name.empty() && name[0] == U'.' &&
        (tokens.empty() || tokens[0].kind != Token::Kind::character))
        return false;
    // The last `*` may take one more each time what follows it does not fit.
    std::size_t token = 0;
    std::size_t at = 0;
    std::size_t star = tokens.size();
    std::size_t resume = 0;
    while (at < name.size()) {
        if (token < tokens.size() && tokens[token].kind == Token::Kind::many) {
            star = token++;
            resume = at;
        } else if (token < tokens.size() && token_matches(tokens[token], name[at])) {
            ++token;
            ++at;
        } else if (star < tokens.size()) {
            token = star + 1;
            at = ++resume;
        } else {
            return false;
        }
    }
    while (token < tokens.size() && tokens[token].kind == Token::Kind::many) ++token;
    return token == tokens.size();
}

PatternPath::Reach PatternPath::reach(const PathNames& path, NameMatch how) const {
    const auto& names = how == NameMatch::loose ? path.loose : path.exact;
    const auto& patterns = how == NameMatch::loose ? loose : exact;
    const bool dots = how == NameMatch::no_dots;
    // reached[i]: the patterns so far stand for the first i names.
    std::vector<bool> reached(names.size() + 1, false);
    reached[0] = true;
    bool beyond = false;
    for (const auto& pattern : patterns) {
        beyond = beyond || reached.back();
        std::vector<bool> next(names.size() + 1, false);
        for (std::size_t i = 0; i <= names.size(); ++i) {
            if (pattern.any_depth) {
                const bool on = i > 0 && next[i - 1] && !(dots && names[i - 1].starts_with(U'.'));
                next[i] = reached[i] || on;
            } else {
                next[i] = i > 0 && reached[i - 1] && pattern.matches(names[i - 1], dots);
            }
        }
        reached = std::move(next);
        beyond = beyond || (pattern.any_depth && reached.back());
    }
    return {.whole = reached.back(), .beyond = beyond};
}

bool PatternPath::matches(const PathNames& path, NameMatch how) const {
    return reach(path, how).whole;
}

bool PatternPath::leads_below(const PathNames& path, NameMatch how) const {
    return reach(path, how).beyond;
}

PatternPath PatternPath::moved_to(std::span<const std::string> new_anchor) const {
    PatternPath moved{.anchor = {new_anchor.begin(), new_anchor.end()}};
    for (const auto& part : new_anchor) {
        NamePattern name;
        for (const auto point : characters_of(part)) name.tokens.push_back({.character = point});
        moved.loose.push_back(loose_name(name));
        moved.exact.push_back(std::move(name));
    }
    const auto rest = static_cast<std::ptrdiff_t>(anchor.size());
    moved.exact.insert(moved.exact.end(), exact.begin() + rest, exact.end());
    moved.loose.insert(moved.loose.end(), loose.begin() + rest, loose.end());
    return moved;
}

Result<PathPattern> PathPattern::read(std::string_view text) {
    if (text.size() > pattern_bytes_max) return refuse("is longer than 4096 bytes");
    if (text.find('\0') != std::string_view::npos) return refuse("has a NUL byte");
    std::string clean(text);
    std::replace(clean.begin(), clean.end(), '\\', '/');
    const auto texts = without_braces(clean, pattern_paths_max);
    if (!texts.ok()) return texts.failure();
    PathPattern pattern;
    for (const auto& one : *texts) {
        auto path = read_path(one);
        if (!path.ok()) return path.failure();
        pattern.paths_.push_back(std::move(*path));
    }
    return pattern;
}

bool PathPattern::matches(const PathNames& path, NameMatch how) const {
    return std::any_of(paths_.begin(), paths_.end(), [&](const PatternPath& one) { return one.matches(path, how); });
}

bool PathPattern::leads_below(const PathNames& path, NameMatch how) const {
    return std::any_of(paths_.begin(), paths_.end(),
                       [&](const PatternPath& one) { return one.leads_below(path, how); });
}

}  // namespace assent
