#include <assent/built_in_guard.hpp>

#include "base/real_places.hpp"
#include "base/sha256.hpp"
#include "tools/line_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <optional>
#include <utility>

namespace assent {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view program_name = "assent";
constexpr std::array<std::string_view, 7> deciding{"approve", "deny", "edit", "respond", "resolve", "resume", "abort"};

// The name of a file ends here, so `/a/state` is not found in `/a/states`.
bool name_ends(std::string_view text, std::size_t at) {
    if (at >= text.size()) return true;
    const char c = text[at];
    return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.' && c != '-';
}

bool mentions(std::string_view text, std::string_view path) {
    for (auto at = text.find(path); at != std::string_view::npos; at = text.find(path, at + 1)) {
        if (name_ends(text, at + path.size())) return true;
    }
    return false;
}

class BuiltInGuard final : public Guard {
public:
    explicit BuiltInGuard(BuiltInOptions options) : options_(std::move(options)) {
        std::string all = options_.workspace + "\n" + options_.home;
        for (const auto& path : options_.closed) all += "\n" + path;
        version_ = hex(sha256(all)).substr(0, 12);
    }

    [[nodiscard]] std::string name() const override { return "built-in"; }
    [[nodiscard]] std::string version() const override { return version_; }
    [[nodiscard]] bool can_ask() const override { return false; }

    [[nodiscard]] Judgement judge(const GuardedCall& call) override {
        if (call.arguments == nullptr) return {.verdict = Verdict::allow};
        const auto closed = closed_places();
        for (const auto* name : {"command", "cmd"}) {
            const auto* line = call.arguments->find(name);
            if (line == nullptr || line->kind != JsonNode::Kind::string) continue;
            if (auto reason = reason_against_line(line->string, closed)) return denial(*reason);
        }
        for (const auto* name : {"path", "file_path"}) {
            const auto* path = call.arguments->find(name);
            if (path == nullptr || path->kind != JsonNode::Kind::string) continue;
            if (const auto place = closed_at(path->string, closed)) return denial(reason_of("the path", *place));
        }
        return {.verdict = Verdict::allow};
    }

private:
    static Judgement denial(std::string reason) { return {.verdict = Verdict::deny, .reason = std::move(reason)}; }

    static std::string reason_of(const std::string& what, const std::string& place) {
        return what + " names " + place + ", which is closed to every tool; leave it to the person";
    }

    // Looked up for each call: a link may have been put there meanwhile.
    [[nodiscard]] std::vector<std::string> closed_places() const {
        auto places = real_places(options_.closed);
        for (const auto& path : options_.closed) {
            const auto given = fs::path(path).lexically_normal().string();
            if (given.starts_with('/') && given != "/") places.push_back(given);
        }
        return places;
    }

    [[nodiscard]] std::optional<std::string> reason_against_line(const std::string& line,
                                                                 const std::vector<std::string>& closed) const {
        const auto plain = plain_line(line, options_.home);
        for (const auto& place : closed) {
            if (mentions(plain, place)) return reason_of("the command", place);
        }
        for (const auto& command : line_words(plain)) {
            bool program_seen = false;
            for (const auto word : command) {
                if (program_seen && std::find(deciding.begin(), deciding.end(), word) != deciding.end())
                    return "the command runs " + std::string(program_name) + " " + std::string(word) +
                           ", which is for people only; leave it to the person";
                program_seen = program_seen || word.substr(word.rfind('/') + 1) == program_name;
                if (const auto place = closed_at(word, closed)) return reason_of("the command", *place);
            }
        }
        return std::nullopt;
    }

    /// The closed place that `path` leads to, seen from the workspace or from the root.
    [[nodiscard]] std::optional<std::string> closed_at(std::string_view path,
                                                       const std::vector<std::string>& closed) const {
        if (path.empty() || path.contains('\0')) return std::nullopt;
        auto inside = path;
        while (inside.starts_with('/')) inside.remove_prefix(1);
        auto places = real_places({(fs::path(options_.workspace) / path).string()});
        if (path.starts_with('/')) {
            const auto more = real_places({(fs::path(options_.workspace) / inside).string()});
            places.insert(places.end(), more.begin(), more.end());
        }
        for (const auto& place : places) {
            for (const auto& taboo : closed) {
                if (lies_in(place, taboo)) return taboo;
            }
        }
        return std::nullopt;
    }

    BuiltInOptions options_;
    std::string version_;
};

}  // namespace

std::shared_ptr<Guard> built_in_guard(BuiltInOptions options) {
    return std::make_shared<BuiltInGuard>(std::move(options));
}

}  // namespace assent
