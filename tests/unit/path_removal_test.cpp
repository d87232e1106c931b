// What path permissions say of a removal: of a tree, every deny pattern that meets it; of a plain file, the first
// match, as of a write.
#include "policy/paths/path_rules.hpp"

#include <gtest/gtest.h>

namespace assent {
namespace {

using enum PathOperation;

// A world without links, in which everything is of one kind.
class Plain final : public PathOracle {
public:
    explicit Plain(PathFacts::Kind kind) : kind_(kind) {}
    Result<PathFacts> look(std::span<const std::string> parts, bool) const override {
        return PathFacts{.place = {parts.begin(), parts.end()}, .kind = kind_};
    }

private:
    PathFacts::Kind kind_;
};

PathRuling removal(const PathRules& rules, std::string_view path, PathFacts::Kind kind = PathFacts::Kind::folder) {
    return rules.judge({.use = PathUse::remove, .path = path}, Plain(kind));
}

FilesystemPermission deny_write(std::vector<std::string> paths) {
    return {.operations = {write}, .paths = std::move(paths), .mode = PathMode::deny};
}

FilesystemPermission allow_all(std::string path) {
    return {.operations = {read, write}, .paths = {std::move(path)}, .mode = PathMode::allow};
}

TEST(PathRemoval, IsDeniedWhereADenyPatternMeetsTheTreeInEitherDirection) {
    struct Row {
        const char* pattern;
        const char* target;
        bool denied;
    };
    for (const auto& row : {
             Row{"/other/**", "/proj", false},
             Row{"/projshop/**", "/proj", false},
             Row{"/proj2", "/proj", false},
             Row{"/proj/secrets", "/proj/logs", false},
             Row{"/proj/*.log", "/proj/notes.txt", false},
             Row{"/proj/*", "/proj/app/child", true},
             Row{"/proj/*.log", "/proj/app.log/child", true},
             Row{"/proj/*", "/proj/app/deep/nested", true},
             Row{"/proj/*/secrets", "/proj/app", true},
             Row{"/proj/**/secrets", "/proj/app", true},
             Row{"/proj/**/*.log", "/proj/sub", true},
             Row{"/proj/*.log", "/proj/app.log", true},
             Row{"/proj/*", "/proj/app", true},
             Row{"/proj/{secrets,keys}", "/proj/secrets", true},
             Row{"/proj/[ab].txt", "/proj/a.txt", true},
             Row{"/proj/f?le.txt", "/proj/other.txt", false},
             Row{"/proj/a.txt", "/proj/a.txt", true},
             Row{"/proj", "/proj", true},
             Row{"/proj/secrets/**", "/proj", true},
             Row{"/proj/**", "/proj/logs", true},
             Row{"/proj", "/proj/sub/deep", true},
             Row{"/proj/secrets", "/proj", true},
             Row{"/anything/**", "/", true},
             Row{"/**/secrets", "/proj", true},
             Row{"/proj/**", "/proj/", true},
             Row{"/proj/", "/proj/sub", true},
             Row{"/proj/", "/proj/", true},
         }) {
        const auto wanted = row.denied ? Verdict::deny : Verdict::allow;
        EXPECT_EQ(removal(PathRules({deny_write({row.pattern})}), row.target).verdict, wanted)
            << row.pattern << " and " << row.target;
        // An allow rule before it does not open a tree.
        EXPECT_EQ(removal(PathRules({allow_all("/**"), deny_write({row.pattern})}), row.target).verdict, wanted)
            << row.pattern << " and " << row.target;
        // Nor does it matter that a file beside it is allowed by name.
        EXPECT_EQ(removal(PathRules({allow_all("/proj/free"), deny_write({row.pattern})}), row.target).verdict, wanted)
            << row.pattern << " and " << row.target;
    }
}

TEST(PathRemoval, NamesEachPatternThatMeetsItOnceInTheOrderOfTheRules) {
    struct Row {
        std::vector<FilesystemPermission> rules;
        const char* patterns;  // null: it is allowed
    };
    for (const auto& row : {
             Row{{}, nullptr},
             Row{{deny_write({"/proj/secrets/**"}), deny_write({"/proj/*.key"})}, "/proj/secrets/**, /proj/*.key"},
             Row{{deny_write({"/proj/b", "/elsewhere/**", "/proj/a"})}, "/proj/b, /proj/a"},
             Row{{deny_write({"/proj/a"}), deny_write({"/x"}), deny_write({"/proj/b", "/proj/a"})}, "/proj/a, /proj/b"},
             Row{{{.operations = {read}, .paths = {"/proj/**"}, .mode = PathMode::deny}}, nullptr},
             Row{{deny_write({"/proj/1", "/proj/2", "/proj/3", "/proj/4", "/proj/5", "/proj/6", "/proj/7", "/proj/8"})},
                 "/proj/1, /proj/2, /proj/3, /proj/4, /proj/5, /proj/6, /proj/7, /proj/8"},
         }) {
        const auto ruling = removal(PathRules(row.rules), "/proj");
        if (row.patterns == nullptr) {
            EXPECT_EQ(ruling.verdict, Verdict::allow);
            continue;
        }
        EXPECT_EQ(ruling.told, std::string("Error: permission denied for write on /proj (matches deny rule(s): ") +
                                   row.patterns + ")");
    }
}

TEST(PathRemoval, OfAPlainFileIsDecidedByTheFirstMatch) {
    using Kind = PathFacts::Kind;
    const auto interrupt =
        FilesystemPermission{.operations = {write}, .paths = {"/proj/**"}, .mode = PathMode::interrupt};
    struct Row {
        std::vector<FilesystemPermission> rules;
        Kind kind;
        Verdict verdict;
    };
    for (const auto& row : {
             Row{{allow_all("/proj/**"), deny_write({"/**"})}, Kind::file, Verdict::allow},
             Row{{deny_write({"/**"}), allow_all("/proj/**")}, Kind::file, Verdict::deny},
             Row{{deny_write({"/other/**"})}, Kind::file, Verdict::allow},
             Row{{interrupt}, Kind::file, Verdict::ask},
             // What is a folder, an empty one too, or is not known to be a file, is a tree.
             Row{{allow_all("/proj/**"), deny_write({"/**"})}, Kind::folder, Verdict::deny},
             Row{{allow_all("/proj/**"), deny_write({"/**"})}, Kind::missing, Verdict::deny},
         }) {
        EXPECT_EQ(removal(PathRules(row.rules), "/proj/a.txt", row.kind).verdict, row.verdict);
    }
}

}  // namespace
}  // namespace assent
