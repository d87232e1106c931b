#include "policy/paths/path_rules.hpp"

#include "base/display.hpp"
#include "base/sha256.hpp"

#include <algorithm>
#include <cctype>
#include <climits>

namespace assent {
namespace {

constexpr std::size_t shown_path_max = 300;

std::string shown(std::string_view path) {
    return capped(safe_to_show(path).text, shown_path_max);
}

bool names_a_drive(std::string_view path) noexcept {
    return path.size() >= 2 && std::isalpha(static_cast<unsigned char>(path[0])) != 0 && path[1] == ':' &&
           (path.size() == 2 || path[2] == '/' || path[2] == '\\');
}

std::vector<std::string> names_between(std::string_view text, std::string_view slashes) {
    std::vector<std::string> names;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find_first_of(slashes, at), text.size());
        const auto name = text.substr(at, end - at);
        if (!name.empty() && name != ".") names.emplace_back(name);
        at = end + 1;
    }
    return names;
}

PathOperation operation_of(PathUse use) noexcept {
    return use == PathUse::read || use == PathUse::search ? PathOperation::read : PathOperation::write;
}

Verdict verdict_of(PathMode mode) noexcept {
    switch (mode) {
        case PathMode::allow:
            return Verdict::allow;
        case PathMode::interrupt:
            return Verdict::ask;
        case PathMode::deny:
            break;
    }
    return Verdict::deny;
}

bool begins_with(const std::vector<std::u32string>& names, const std::vector<std::u32string>& first) {
    return names.size() >= first.size() && std::equal(first.begin(), first.end(), names.begin());
}

// Does deleting all of `place` touch something that `path` stands for? Where that cannot be known without
// looking at every file, it does.
bool meets(const PatternPath& path, const PathNames& place) {
    const auto anchor = path_names(path.anchor).loose;
    if (anchor.empty()) return true;
    if (begins_with(anchor, place.loose)) return true;
    if (!begins_with(place.loose, anchor)) return false;
    const auto rest = path.exact.size() - anchor.size();
    if (rest != 1 || path.exact.back().any_depth) return true;
    // Of one more name: the place itself or the folder above it in that depth.
    PathNames ancestor;
    const auto depth = static_cast<std::ptrdiff_t>(path.exact.size());
    ancestor.exact.assign(place.exact.begin(), place.exact.begin() + depth);
    ancestor.loose.assign(place.loose.begin(), place.loose.begin() + depth);
    return path.matches(ancestor, NameMatch::exact) || path.matches(ancestor, NameMatch::loose);
}

bool lists(const std::vector<PathOperation>& operations, PathOperation operation) {
    return std::find(operations.begin(), operations.end(), operation) != operations.end();
}

}  // namespace

Result<std::vector<std::string>> read_written_path(std::string_view text) {
    const auto refuse = [&](const std::string& why) { return Failure{FailureKind::usage, why + ": " + shown(text)}; };
    if (text.find('\0') != std::string_view::npos) return refuse("the path has a NUL byte");
    if (text.size() >= PATH_MAX) return refuse("the path is too long");
    if (text.starts_with('~')) return refuse("the path begins with '~'; paths begin at the workspace");
    if (names_a_drive(text)) return refuse("the path names a drive; paths begin at the workspace");
    const auto names = names_between(text, "/\\");
    if (std::find(names.begin(), names.end(), "..") != names.end()) return refuse("path traversal not allowed");
    return names_between(text, "/");
}

std::string denied_text(PathUse use, std::string_view path, const std::vector<std::string>& patterns) {
    std::string text = "permission denied for ";
    text += operation_of(use) == PathOperation::read ? "read on " : "write on ";
    text += path.empty() ? "/" : shown(path);
    if (use != PathUse::remove || patterns.empty()) return text;
    text += " (matches deny rule(s): ";
    for (std::size_t i = 0; i < patterns.size(); ++i) text += (i > 0 ? ", " : "") + shown(patterns[i]);
    return text + ")";
}

PathRules::PathRules(std::vector<FilesystemPermission> rules) {
    std::string all;
    for (std::size_t i = 0; i < rules.size(); ++i) {
        auto& given = rules[i];
        const auto which = "permission " + std::to_string(i + 1);
        if (given.operations.empty()) throw ConfigError(which + " lists no operation; give read, write or both");
        if (given.paths.empty()) throw ConfigError(which + " lists no path, so it never matches");
        Rule rule{.operations = given.operations, .mode = given.mode};
        for (const auto& path : given.paths) {
            const auto refuse = [&](const std::string& why) {
                throw ConfigError(which + ": Permission path " + why + ": " + shown(path));
            };
            if (!path.starts_with('/') && !path.starts_with('\\')) refuse("must start with '/'");
            auto pattern = PathPattern::read(path);
            if (!pattern.ok()) refuse(pattern.failure().message);
            rule.patterns.push_back(std::move(*pattern));
            all += path + '\n';
        }
        for (const auto operation : rule.operations) all += std::to_string(static_cast<int>(operation)) + ",";
        all += ";" + std::to_string(static_cast<int>(rule.mode)) + "\n";
        rule.texts = std::move(given.paths);
        rules_.push_back(std::move(rule));
    }
    digest_ = hex(sha256(all)).substr(0, 12);
}

bool PathRules::can_ask() const noexcept {
    return std::any_of(rules_.begin(), rules_.end(), [](const Rule& rule) { return rule.mode == PathMode::interrupt; });
}

PathRuling PathRules::judge(const PathRequest& request, const PathOracle& oracle) const {
    const auto refused = [](const Failure& why) {
        return PathRuling{.verdict = Verdict::deny, .told = "Error: " + why.message};
    };
    const auto written = read_written_path(request.path);
    if (!written.ok()) return refused(written.failure());
    const auto facts = oracle.look(*written, request.use != PathUse::remove);
    if (!facts.ok()) return refused(facts.failure());
    // A backslash is part of a name here, but whoever wrote it, or the rule, may have meant a slash.
    std::vector<std::vector<std::string>> places{*written, facts->place};
    if (request.path.find('\\') != std::string_view::npos) {
        places.push_back(names_between(request.path, "/\\"));
        const auto other = oracle.look(places.back(), request.use != PathUse::remove);
        if (!other.ok()) return refused(other.failure());
        places.push_back(other->place);
    }
    const RulesNow now(*this, oracle);
    const auto operation = operation_of(request.use);
    const bool tree = request.use == PathUse::remove && facts->kind != PathFacts::Kind::file;
    auto verdict = Verdict::allow;
    std::vector<std::string> patterns;
    for (const auto& place : places) {
        if (tree) {
            for (auto& pattern : now.against_removal(place)) {
                verdict = Verdict::deny;
                if (std::find(patterns.begin(), patterns.end(), pattern) == patterns.end())
                    patterns.push_back(std::move(pattern));
            }
        } else {
            const auto match = now.at(operation, place);
            verdict = std::max(verdict, verdict_of(match.mode));
            if (match.mode == PathMode::deny && patterns.empty()) patterns.emplace_back(match.pattern);
        }
        if ((tree || request.use == PathUse::search) && now.asks_near(operation, place))
            verdict = std::max(verdict, Verdict::ask);
    }
    if (!request.pattern.empty()) {
        const auto pattern = PathPattern::read(request.pattern);
        if (!pattern.ok()) return refused({FailureKind::usage, "the pattern " + pattern.failure().message});
        for (const auto& path : pattern->paths()) {
            if (request.pattern.starts_with('/') && now.asks_near(operation, path.anchor))
                verdict = std::max(verdict, Verdict::ask);
        }
    }
    if (verdict == Verdict::deny)
        return {.verdict = verdict, .told = "Error: " + denied_text(request.use, request.path, patterns)};
    if (verdict == Verdict::allow) return {};
    std::string reason =
        operation == PathOperation::read ? "a path rule asks before read on /" : "a path rule asks before write on /";
    const auto joined = [](const std::vector<std::string>& names) {
        std::string text;
        for (const auto& name : names) text += (text.empty() ? "" : "/") + name;
        return shown(text);
    };
    reason += joined(*written);
    if (facts->place != *written) reason += ", which is really /" + joined(facts->place);
    return {.verdict = verdict, .reason = std::move(reason)};
}

RulesNow::RulesNow(const PathRules& rules, const PathOracle& oracle) {
    for (const auto& rule : rules.rules_) {
        Rule now{.rule = &rule};
        for (std::size_t i = 0; i < rule.patterns.size(); ++i) {
            Pattern pattern{.text = &rule.texts[i], .paths = rule.patterns[i].paths()};
            // An allowed name says nothing of where it leads; a denied one is denied there too.
            const auto count = rule.mode == PathMode::allow ? 0 : pattern.paths.size();
            for (std::size_t k = 0; k < count; ++k) {
                const auto& anchor = pattern.paths[k].anchor;
                const auto facts = oracle.look(anchor, true);
                if (facts.ok() && facts->place != anchor)
                    pattern.paths.push_back(pattern.paths[k].moved_to(facts->place));
            }
            now.patterns.push_back(std::move(pattern));
        }
        rules_.push_back(std::move(now));
    }
}

RulesNow::Match RulesNow::at(PathOperation operation, std::span<const std::string> place) const {
    const auto names = path_names(place);
    for (const auto& [rule, patterns] : rules_) {
        if (!lists(rule->operations, operation)) continue;
        for (const auto& pattern : patterns) {
            const bool matches = std::any_of(pattern.paths.begin(), pattern.paths.end(), [&](const PatternPath& path) {
                return path.matches(names, NameMatch::exact) ||
                       (rule->mode != PathMode::allow && path.matches(names, NameMatch::loose));
            });
            if (matches) return {.mode = rule->mode, .pattern = *pattern.text};
        }
    }
    return {};
}

std::vector<std::string> RulesNow::against_removal(std::span<const std::string> place) const {
    const auto names = path_names(place);
    std::vector<std::string> found;
    for (const auto& [rule, patterns] : rules_) {
        if (rule->mode != PathMode::deny || !lists(rule->operations, PathOperation::write)) continue;
        for (const auto& pattern : patterns) {
            if (std::any_of(pattern.paths.begin(), pattern.paths.end(),
                            [&](const PatternPath& path) { return meets(path, names); }))
                found.push_back(*pattern.text);
        }
    }
    return found;
}

bool RulesNow::asks_near(PathOperation operation, std::span<const std::string> place) const {
    const auto names = path_names(place).loose;
    return std::any_of(rules_.begin(), rules_.end(), [&](const Rule& now) {
        if (now.rule->mode != PathMode::interrupt || !lists(now.rule->operations, operation)) return false;
        return std::any_of(now.patterns.begin(), now.patterns.end(), [&](const Pattern& pattern) {
            return std::any_of(pattern.paths.begin(), pattern.paths.end(), [&](const PatternPath& path) {
                const auto anchor = path_names(path.anchor).loose;
                return begins_with(names, anchor) || begins_with(anchor, names);
            });
        });
    });
}

}  // namespace assent
