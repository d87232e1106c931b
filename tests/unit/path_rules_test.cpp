// Patterns of paths and the rules made of them, as text.
#include "policy/paths/path_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace assent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names_of(std::string_view path) {
    auto names = read_written_path(path);
    EXPECT_TRUE(names.ok()) << path;
    return names.ok() ? *names : std::vector<std::string>();
}

TEST(PathPatterns, MatchWholePaths) {
    struct Row {
        const char* pattern;
        const char* path;
        bool matches;
    };
    for (const auto& row : {
             Row{"/secrets/**", "/secrets/a/b", true},
             Row{"/secrets/**", "/secrets", true},
             Row{"/secrets/**", "/secrets2/a", false},
             Row{"/secrets/**", "/work/secrets/a", false},
             Row{"/secrets/**", "/secrets/.git/config", true},
             Row{"/secrets/**", "/secrets/a\nb", true},
             Row{"/**", "/", true},
             Row{"/**", "/.env", true},
             Row{"/**/secrets", "/secrets", true},
             Row{"/**/secrets", "/a/b/secrets", true},
             Row{"/**/a/**/b", "/x/a/b", true},
             Row{"/**/a/**/b", "/b/a", false},
             Row{"/**/**/b", "/b", true},
             Row{"/proj/**/*.log", "/proj/c.log", true},
             Row{"/proj/**/*.log", "/proj/x/y/c.log", true},
             Row{"/proj/*", "/proj/a/b", false},
             Row{"/proj/*", "/proj", false},
             Row{"/proj/*.log", "/proj/.log", true},
             Row{"/proj/a*b", "/proj/ab", true},
             Row{"/proj/a*b*c", "/proj/axbybzc", true},
             Row{"/proj/a*b", "/proj/axxc", false},
             Row{"/proj/a**b", "/proj/a/b", false},
             Row{"/data/?", "/data/\xc3\xa9", true},
             Row{"/data/?", "/data/ab", false},
             Row{"/data/?", "/data/\xff", true},
             Row{"/?env", "/.env", true},
             Row{"/{a,b}.txt", "/b.txt", true},
             Row{"/{a,b}.txt", "/c.txt", false},
             Row{"/{a,b}.txt", "/{a,b}.txt", false},
             Row{"/{a/b,c}/x", "/a/b/x", true},
             Row{"/{a,{b,c}d}", "/cd", true},
             Row{"/{a,}b", "/b", true},
             Row{"/x{a..c}", "/xb", true},
             Row{"/x{a..c}", "/xd", false},
             Row{"/x{c..a}", "/xb", true},
             Row{"/v{1..12}", "/v10", true},
             Row{"/v{01..12}", "/v9", false},
             Row{"/v{01..12}", "/v09", true},
             Row{"/[ab].txt", "/c.txt", false},
             Row{"/[a-c].txt", "/b.txt", true},
             Row{"/[!a-c].txt", "/b.txt", false},
             Row{"/[^a-c].txt", "/d.txt", true},
             Row{"/[]a].txt", "/].txt", true},
             Row{"/[{]a[}]", "/{a}", true},
             Row{"/a.txt", "/axtxt", false},
             Row{"/a.txt", "/a.txt\n", false},
             Row{"/proj//./x/", "/proj/x", true},
             Row{"/work\\sub\\**", "/work/sub/a", true},
             Row{"/secrets/**", "/SECRETS/a", false},
         }) {
        const auto pattern = PathPattern::read(row.pattern);
        ASSERT_TRUE(pattern.ok()) << row.pattern << ": " << pattern.failure().message;
        EXPECT_EQ(pattern->matches(path_names(names_of(row.path)), NameMatch::exact), row.matches)
            << row.pattern << " for " << row.path;
    }
}

TEST(PathPatterns, LooselyLetterCaseAndUnicodeFormDoNotCount) {
    struct Row {
        const char* pattern;
        const char* path;
        bool matches;
    };
    for (const auto& row : {
             Row{"/secrets/**", "/SECRETS/Key", true},
             Row{"/SECRETS/K*", "/secrets/key", true},
             Row{"/\xc3\x84rger", "/\xc3\xa4rger", true},
             Row{"/cafe\xcc\x81/**", "/caf\xc3\xa9/a", true},
             Row{"/caf\xc3\xa9/**", "/cafe\xcc\x81/a", true},
             Row{"/stra\xc3\x9f"
                 "e",
                 "/STRASSE", true},
             Row{"/[A-C]x", "/bX", true},
             Row{"/[A-z]", "/_", true},
             Row{"/secrets",
                 "/s\xd0\xb5"
                 "crets",
                 false},
             Row{"/secrets", "/secrets\xe2\x80\x8b", false},
             Row{"/a\xfe", "/a\xff", false},
         }) {
        const auto pattern = PathPattern::read(row.pattern);
        ASSERT_TRUE(pattern.ok()) << row.pattern;
        EXPECT_EQ(pattern->matches(path_names(names_of(row.path)), NameMatch::loose), row.matches)
            << row.pattern << " for " << row.path;
    }
}

TEST(PathPatterns, ManyStarsTakeNoLongTime) {
    std::string pattern = "/";
    for (int i = 0; i < 100; ++i) pattern += "a*";
    const auto stars = PathPattern::read(pattern + "b");
    ASSERT_TRUE(stars.ok());
    EXPECT_FALSE(stars->matches(path_names(std::vector{std::string(200, 'a')}), NameMatch::exact));
    std::string folders;
    for (int i = 0; i < 500; ++i) folders += "/**/a";
    const auto deep = PathPattern::read(folders + "/b");
    ASSERT_TRUE(deep.ok());
    EXPECT_FALSE(deep->matches(path_names(std::vector<std::string>(1000, "a")), NameMatch::exact));
}

std::string config_error(std::vector<FilesystemPermission> rules) {
    try {
        const PathRules made(std::move(rules));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(PathRulesMade, SayWhichPathCannotBeUsed) {
    const auto with = [](std::string path) {
        return config_error({{.operations = {PathOperation::read}, .paths = {"/good", std::move(path)}}});
    };
    EXPECT_EQ(with("work/**"), "permission 1: Permission path must start with '/': work/**");
    EXPECT_EQ(with("C:/x"), "permission 1: Permission path must start with '/': C:/x");
    EXPECT_EQ(with("/a/../b"), "permission 1: Permission path must not contain '..': /a/../b");
    EXPECT_EQ(with("/a\\..\\b"), "permission 1: Permission path must not contain '..': /a\\..\\b");
    EXPECT_EQ(with("/{a,..}/b"), "permission 1: Permission path must not contain '..': /{a,..}/b");
    EXPECT_EQ(with("/~/b"), "permission 1: Permission path must not contain '~': /~/b");
    EXPECT_THAT(with(std::string("/a\0b", 4)), HasSubstr("has a NUL byte"));
    EXPECT_THAT(with("/" + std::string(5000, 'a')), HasSubstr("is longer than 4096 bytes"));
    EXPECT_THAT(with("/[a"), HasSubstr("a [ has no ] behind it in its name; write [[] for the character"));
    EXPECT_THAT(with("/[b-a]"), HasSubstr("a range that ends before it begins"));
    EXPECT_THAT(with("/[[:alpha:]]"), HasSubstr("named classes"));
    EXPECT_THAT(with("/{a,b"), HasSubstr("a { has no } behind it"));
    EXPECT_THAT(with("/a}"), HasSubstr("a } has no { before it"));
    EXPECT_THAT(with("/{a}"), HasSubstr("braces need a comma or a range"));
    EXPECT_THAT(with("/{a..bc}"), HasSubstr("a range in braces goes from one character or number to another"));
    EXPECT_THAT(with("/{1..1000}{1..1000}"), HasSubstr("the braces stand for too many paths"));
    EXPECT_THAT(with("/{1..99999}"), HasSubstr("the braces stand for too many paths"));
    EXPECT_THAT(with("/{a,{b,{c,{d,{e,{f,{g,{h,{i,{j,{k,{l,m}}}}}}}}}}}}"), HasSubstr("nested too deep"));
    EXPECT_EQ(with("/good/**"), "accepted");
    EXPECT_EQ(config_error({{.paths = {"/a"}}}), "permission 1 lists no operation; give read, write or both");
    EXPECT_EQ(
        config_error({{.operations = {PathOperation::read}, .paths = {"/a"}}, {.operations = {PathOperation::read}}}),
        "permission 2 lists no path, so it never matches");
}

TEST(PathRulesMade, AreReadFromJson) {
    const auto read = read_permissions(
        R"([{"operations":["read","write"],"paths":["/a/**"],"mode":"deny"},{"operations":["read"],"paths":["/b"]}])");
    ASSERT_TRUE(read.ok());
    EXPECT_THAT(*read, ElementsAre(FilesystemPermission{.operations = {PathOperation::read, PathOperation::write},
                                                        .paths = {"/a/**"},
                                                        .mode = PathMode::deny},
                                   FilesystemPermission{.operations = {PathOperation::read}, .paths = {"/b"}}));
    struct Row {
        const char* json;
        const char* message;
    };
    for (const auto& row : {
             Row{"[", "the permissions are no json"},
             Row{"{}", "the permissions are no list of objects"},
             Row{"[1]", "permission 1 is no object"},
             Row{R"([{"mode":"block"}])", "permission 1 has an unknown mode; use allow, deny or interrupt"},
             Row{R"([{"mode":1}])", "permission 1 has an unknown mode; use allow, deny or interrupt"},
             Row{R"([{"operations":["execute"]}])",
                 "permission 1 has the unknown operation 'execute'; use read or write"},
             Row{R"([{"paths":"/a"}])", "permission 1 needs a list of texts in 'paths'"},
             Row{R"([{"paths":[1]}])", "permission 1 needs a list of texts in 'paths'"},
             Row{R"([{},{"path":[]}])", "permission 2 has the unknown key 'path'"},
         }) {
        const auto bad = read_permissions(row.json);
        ASSERT_FALSE(bad.ok()) << row.json;
        EXPECT_THAT(bad.failure().message, testing::StartsWith(row.message)) << row.json;
    }
}

// What a link leads to; empty: out of the workspace.
using Targets = std::map<std::string, std::vector<std::string>>;

// A world in which some names are links, and all else is there under its own name.
class Links final : public PathOracle {
public:
    explicit Links(Targets links, PathFacts::Kind kind = PathFacts::Kind::folder)
        : links_(std::move(links)), kind_(kind) {}
    Result<PathFacts> look(std::span<const std::string> parts, bool) const override {
        PathFacts facts{.place = {parts.begin(), parts.end()}, .kind = kind_};
        if (parts.empty()) return facts;
        const auto link = links_.find(parts[0]);
        if (link == links_.end()) return facts;
        if (link->second.empty()) return Failure{FailureKind::tool, "the path leads out of the folder"};
        facts.place = link->second;
        facts.place.insert(facts.place.end(), parts.begin() + 1, parts.end());
        return facts;
    }

private:
    Targets links_;
    PathFacts::Kind kind_;
};

PathRules secrets(PathMode mode, const char* pattern = "/secrets/**") {
    return PathRules({{.operations = {PathOperation::read, PathOperation::write}, .paths = {pattern}, .mode = mode}});
}

TEST(PathRulesJudge, TheRealPlaceCountsAndWhatCannotBeKnownIsDenied) {
    const Links world(Targets{{"link", {"secrets"}}, {"out", {}}, {"name", {"free"}}});
    const auto told = [&](const PathRules& rules, PathUse use, std::string_view path) {
        return rules.judge({.use = use, .path = path}, world).told;
    };
    const auto rules = secrets(PathMode::deny);
    EXPECT_EQ(told(rules, PathUse::read, "link/a"), "Error: permission denied for read on link/a");
    EXPECT_EQ(told(rules, PathUse::write, "/link/a"), "Error: permission denied for write on /link/a");
    EXPECT_EQ(told(rules, PathUse::search, "link"), "Error: permission denied for read on link");
    EXPECT_EQ(told(rules, PathUse::remove, "/"),
              "Error: permission denied for write on / (matches deny rule(s): /secrets/**)");
    EXPECT_EQ(told(rules, PathUse::read, "out"), "Error: the path leads out of the folder");
    EXPECT_EQ(told(rules, PathUse::read, "a/../secrets"), "Error: path traversal not allowed: a/../secrets");
    EXPECT_EQ(told(rules, PathUse::read, "~root"),
              "Error: the path begins with '~'; paths begin at the workspace: ~root");
    EXPECT_EQ(told(rules, PathUse::read, "free/a"), "");
    // A rule that names a link covers what it leads to.
    EXPECT_EQ(told(secrets(PathMode::deny, "/name"), PathUse::write, "free"),
              "Error: permission denied for write on free");
    EXPECT_EQ(told(secrets(PathMode::deny, "/name"), PathUse::write, "free2"), "");
}

TEST(PathRulesJudge, AQuestionTellsTheRealPlace) {
    const Links world(Targets{{"link", {"secrets"}}});
    const auto ruling = secrets(PathMode::interrupt).judge({.use = PathUse::write, .path = "link/a"}, world);
    EXPECT_EQ(ruling.verdict, Verdict::ask);
    EXPECT_EQ(ruling.reason, "a path rule asks before write on /link/a, which is really /secrets/a");
    EXPECT_NE(secrets(PathMode::interrupt).digest(), secrets(PathMode::deny).digest());
    EXPECT_TRUE(secrets(PathMode::interrupt).can_ask());
    EXPECT_FALSE(secrets(PathMode::deny).can_ask());
}

TEST(PathRulesJudge, ANameWithABackslashIsJudgedInBothReadings) {
    const Links world(Targets{}, PathFacts::Kind::file);
    // In the folder itself there may be a file of this very name.
    const auto rules = secrets(PathMode::deny, "/*");
    EXPECT_EQ(rules.judge({.use = PathUse::read, .path = "work\\a"}, world).verdict, Verdict::deny);
    EXPECT_EQ(rules.judge({.use = PathUse::read, .path = "work/a"}, world).verdict, Verdict::allow);
}

}  // namespace
}  // namespace assent
