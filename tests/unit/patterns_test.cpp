#include "policy/patterns/python_pattern.hpp"

#include <assent/rules.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace assent {
namespace {

using Found = PythonPattern::Found;

std::string refusal(const std::string& pattern) {
    try {
        const PythonPattern compiled(pattern);
    } catch (const std::invalid_argument& problem) {
        return problem.what();
    }
    return "accepted";
}

struct Search {
    const char* pattern;
    std::string text;
    bool found;
};

class Patterns : public testing::TestWithParam<Search> {};

TEST_P(Patterns, MatchAsInTheirDialect) {
    const auto& row = GetParam();
    EXPECT_EQ(PythonPattern(row.pattern).search(row.text), row.found ? Found::yes : Found::no)
        << row.pattern << " in " << row.text;
}

INSTANTIATE_TEST_SUITE_P(Literals, Patterns,
                         testing::Values(Search{"", "", true}, Search{"a.c", "xabcx", true},
                                         Search{"a.c", "a\nc", false}, Search{"(?s)a.c", "a\nc", true},
                                         Search{R"(\x41\u00e9\U0001F600\101)", "Aé😀A", true},
                                         Search{R"(\a\f\n\r\t\v\0)", std::string("\a\f\n\r\t\v\0", 7), true},
                                         Search{R"(\.\*\-\é)", ".*-é", true}, Search{"a#b c", "a#b c", true},
                                         Search{"(?#note)a", "a", true}, Search{R"((?#a\)b)c)", "c", true},
                                         Search{"]}{", "]}{", true}, Search{"\xf0\x9f\x98\x80", "😀", true},
                                         Search{R"(\ud800)", "a", false}));

INSTANTIATE_TEST_SUITE_P(Sets, Patterns,
                         testing::Values(Search{"[]a]", "]", true}, Search{"[^]a]", "]", false},
                                         Search{"[a-]", "-", true}, Search{"[-a]", "-", true},
                                         Search{R"([\]\\])", "\\", true}, Search{R"([\b])", "\b", true},
                                         Search{R"([\d-])", "-", true}, Search{R"([^\W\d])", "5", false},
                                         Search{R"([^\W\d])", "x", true}, Search{"[[:alpha:]]", ":]", true},
                                         Search{"[a-z]", "é", false}, Search{"[^a]", "\n", true},
                                         Search{R"([\d\D])", "x", true}, Search{R"([^\d\D])", "x", false},
                                         Search{R"([\ud7ff-\ue000])", "a", false}));

INSTANTIATE_TEST_SUITE_P(Classes, Patterns,
                         testing::Values(Search{R"(\d)", "٣", true}, Search{R"(\d)", "²", false},
                                         Search{R"(\w)", "²", true}, Search{R"(\w)", "日", true},
                                         Search{R"(\w)", "\u0301", false}, Search{R"(\w)", "_", true},
                                         Search{R"(\s)", "\x1c", true}, Search{R"(\s)", "\x1f", true},
                                         Search{R"(\s)", "\u0085", true}, Search{R"(\s)", "\u180e", false},
                                         Search{R"(\s)", "\u200b", false}, Search{R"(\S)", "\u3000", false},
                                         Search{R"(\D)", "7", false}, Search{R"(\W)", "é", false},
                                         // A digit that came with Unicode 15 is none here, whatever ICU is installed.
                                         Search{R"(\d)", "\U0001E4F0", false}, Search{R"(\w)", "\U00011F50", false}));

INSTANTIATE_TEST_SUITE_P(
    Places, Patterns,
    testing::Values(Search{"a$", "a\n", true}, Search{"a$", "a\n\n", false}, Search{R"(a\Z)", "a\n", false},
                    Search{R"(a\Z)", "a", true}, Search{"^b", "a\nb", false}, Search{"(?m)^b", "a\nb", true},
                    Search{"(?m)a$", "a\nb", true}, Search{"(?m)^$", "a\n", true}, Search{"(?m)$b", "a\nb", false},
                    Search{R"(\Ab)", "a\nb", false}, Search{R"((?m)\Ab)", "a\nb", false},
                    Search{R"(\bé\b)", "a é b", true}, Search{R"(\bpay\b)", "prepay", false},
                    Search{R"(\bpay\b)", "pay", true}, Search{R"(\b)", "", false}, Search{R"(\B)", "", false},
                    Search{R"(\B)", " ", true}, Search{R"(\B)", "a", false}, Search{R"(a\Bb)", "ab", true},
                    Search{"a^b", "ab", false}, Search{"^$", "\n", true}, Search{"a\r$", "a\r\n", true}));

INSTANTIATE_TEST_SUITE_P(Repeats, Patterns,
                         testing::Values(Search{"^a{2}$", "aa", true}, Search{"^a{2}$", "aaa", false},
                                         Search{"^a{2,}$", "aaa", true}, Search{"^a{,2}$", "aaa", false},
                                         Search{"^a{,2}$", "", true}, Search{"^a{,}$", "aaa", true},
                                         Search{"^a{0}$", "a", false}, Search{"a{x}", "a{x}", true},
                                         Search{"a{1", "a{1", true}, Search{"a{}", "a{}", true},
                                         Search{"^a+?$", "aaa", true}, Search{"^(?:ab)*$", "abab", true},
                                         Search{"^a{2}?$", "aa", true}, Search{"^(?:^a)?b", "ab", true},
                                         Search{"^(?:)*a", "a", true}, Search{"(?:a*)*b", "aab", true},
                                         Search{"(?:a|b)+c", "abac", true}, Search{"x{2,3}?y", "xxxy", true}));

INSTANTIATE_TEST_SUITE_P(Groups, Patterns,
                         testing::Values(Search{"^(a|b|)$", "", true}, Search{"a|b", "xb", true},
                                         Search{"|a", "x", true}, Search{R"((a|b)\1)", "ab", false},
                                         Search{R"((a|b)\1)", "abb", true}, Search{R"((?P<q>.)x(?P=q))", "1x1", true},
                                         Search{R"((?P<é_1>.)(?P=é_1))", "aa", true}, Search{R"((a)?\1b)", "b", false},
                                         Search{R"(((((((((((a))))))))))\10)", "aa", true},
                                         Search{R"((?:(a)|b)*\1)", "aba", true}, Search{R"((a)\1{2})", "aaa", true},
                                         Search{R"(()\1a)", "a", true}, Search{R"((a|)*\1b)", "aab", true},
                                         Search{R"((?:(a)|b|\1)+c)", "abac", true}));

INSTANTIATE_TEST_SUITE_P(
    WithoutCase, Patterns,
    testing::Values(
        Search{"(?i)straße", "STRAßE", true}, Search{"(?i)ß", "ẞ", true}, Search{"(?i)ß", "ss", false},
        Search{"(?i)k", "\u212a", true}, Search{"(?i)s", "\u017f", true}, Search{"(?i)i", "\u0131", true},
        Search{"(?i)i", "\u0130", true}, Search{"(?i)σ", "ς", true}, Search{"(?i)µ", "μ", true},
        Search{"(?i)ﬅ", "ﬆ", true}, Search{"(?i)[a-z]", "\u017f", true}, Search{"(?i)[^k]", "\u212a", false},
        Search{"(?i)[A-Z]", "q", true}, Search{"(?i)Ǆ", "ǅ", true}, Search{"(?i)в", "ᲀ", true},
        Search{"(?i)𐐀", "𐐨", true}, Search{"(?i)(?s)A.B", "a\nb", true}, Search{"(?im)^A", "x\na", true},
        Search{"a", "A", false}, Search{R"((?i)(k)\1)", "k\u212a", true}, Search{R"((?i)(s)\1)", "s\u017f", false},
        Search{R"((?i)(é)\1)", "éÉ", true}, Search{R"((?ai)(é)\1)", "éÉ", false}, Search{"(?ai)k", "\u212a", false},
        Search{"(?ai)[A-Z]", "q", true}, Search{"(?i)\U00010400", "\U00010428", true},
        // Past the first plane sets compare differently.
        Search{"(?i)[\U00010400x]", "\U00010400", false}, Search{"(?i)[\U00010400-\U00010401]", "\U00010428", true},
        Search{"(?i)(?:\U00010400|x)", "\U00010400", false}, Search{"(?i)[\u02bc-\U00010000]", "\u0149", true}));

INSTANTIATE_TEST_SUITE_P(Looks, Patterns,
                         testing::Values(Search{"a(?=b)", "ab", true}, Search{"a(?=b)", "ac", false},
                                         Search{"a(?!b)", "ab", false}, Search{"a(?!b)", "ac", true},
                                         Search{"(?<=a)b", "ab", true}, Search{"(?<=a)b", "b", false},
                                         Search{"(?<!a)b", "b", true}, Search{"(?<!a)b", "ab", false},
                                         Search{"(?<=ab|cd)e", "cde", true}, Search{"(?<=(?:ab){2})c", "ababc", true},
                                         Search{R"((?=(a+))\1b)", "aab", true}, Search{R"((a)(?<=\1)b)", "ab", true},
                                         Search{"(?=a)*b", "b", true}, Search{"(?<=^)a", "ba", false},
                                         Search{"(?<=$)", "a", true}, Search{"(?<=a{70000})b", "b", false}));

INSTANTIATE_TEST_SUITE_P(Atomic, Patterns,
                         testing::Values(Search{"(?>a*)a", "aaa", false}, Search{"(?>a|ab)c", "abc", false},
                                         Search{"a*+a", "aaa", false}, Search{"a++b", "aab", true},
                                         Search{"a?+a", "a", false}, Search{"a{1,2}+a", "aa", false},
                                         Search{"a{1,2}+a", "aaa", true}, Search{"(?:ab)*+a", "ababa", true},
                                         Search{"^(?:a|ab)*+c", "abc", false}, Search{"(?:)*+a", "a", true},
                                         // What a group remembers of a way that failed is the dialect's own.
                                         Search{R"((?:(a)|\1){2,2}+(?>))", "ba", true},
                                         Search{R"(((a)b*(?(1)x|y)))", "ay", true}));

INSTANTIATE_TEST_SUITE_P(Conditions, Patterns,
                         testing::Values(Search{"^(a)?(?(1)b|c)$", "ab", true}, Search{"^(a)?(?(1)b|c)$", "c", true},
                                         Search{"^(a)?(?(1)b|c)$", "ac", false},
                                         Search{"^(?P<q>a)?(?(q)b)$", "ab", true},
                                         Search{"^(?P<q>a)?(?(q)b)$", "", true}, Search{"^(?(1)a|b)(c)", "bc", true},
                                         Search{"^(?(1)|b)(c)", "c", false}, Search{"(a)(?( +1 )b|c)", "ab", true},
                                         Search{"(a)(?(\u0661)b|c)", "ab", true},
                                         Search{"^(?:(?(1)b|(a)))*$", "abb", true}));

INSTANTIATE_TEST_SUITE_P(Flags, Patterns,
                         testing::Values(Search{"a(?i:b)c", "aBc", true}, Search{"a(?i:b)c", "aBC", false},
                                         Search{"(?i)a(?-i:b)c", "AbC", true}, Search{"(?i)a(?-i:b)c", "ABC", false},
                                         Search{"(?s-i:.)", "\n", true}, Search{"(?m:^)b", "a\nb", true},
                                         Search{"(?m:a$)", "a\nb", true}, Search{"(?a)\\w", "é", false},
                                         Search{"(?a:\\w)", "é", false}, Search{"(?a)(?u:\\w)", "é", true},
                                         Search{"(?a)\\s", "\x1c", false}, Search{"(?a)\\bé", "é", false},
                                         Search{"(?u)\\w", "é", true}, Search{"(?x) a b # c\n d", "abd", true},
                                         Search{"(?x) a\\ b [ ]", "a b ", true}, Search{"(?x:a b) c", "ab c", true},
                                         Search{"(?x)(?-x:a b)", "a b", true}, Search{"(?x)a #\\\n b\nc", "ac", true},
                                         Search{"(?x)a +", "aa", true}, Search{"(?x) (?i) A", "a", true},
                                         Search{"(?t)a|b", "b", true}));

INSTANTIATE_TEST_SUITE_P(Names, Patterns,
                         testing::Values(Search{R"(\N{DIGIT ONE})", "1", true},
                                         Search{R"([\N{em dash}-\N{EM DASH}])", "—", true},
                                         Search{R"(\N{LF})", "\n", true}, Search{R"(\N{VS16})", "\ufe0f", true},
                                         Search{R"(\N{vs256})", "\U000e01ef", true},
                                         Search{R"(\N{HANGUL SYLLABLE GA})", "가", true},
                                         Search{R"(\N{CJK UNIFIED IDEOGRAPH-4E00})", "一", true}));

INSTANTIATE_TEST_SUITE_P(LargeNumbers, Patterns,
                         testing::Values(Search{"^a{70000}$", std::string(70000, 'a'), true},
                                         Search{"^a{70000}$", std::string(69999, 'a'), false},
                                         Search{"(?:ab|c){4294967294}", "ab", false},
                                         Search{"^(?:ab){,100000}$", "abab", true}));

TEST(PatternRefusals, GiveThePositionAndTheProblem) {
    struct Row {
        std::string pattern;
        const char* problem;
    };
    for (const auto& row : {
             Row{"*a", "at character 0: nothing to repeat"},
             Row{"é(|*a)", "at character 3: nothing to repeat"},
             Row{"^*", "at character 1: nothing to repeat"},
             Row{R"(\b+)", "at character 2: nothing to repeat"},
             Row{"{2}", "at character 0: nothing to repeat"},
             Row{"a**", "at character 2: a repeat of a repeat"},
             Row{"a{2}{3}", "at character 4: a repeat of a repeat"},
             Row{"a{3,2}", "at character 1: the least number of repeats is above the greatest"},
             Row{"a{4294967295}", "at character 1: there are more than 4294967294 repeats"},
             Row{"x[a", "at character 1: the set is not closed"},
             Row{"[]", "at character 0: the set is not closed"},
             Row{"[a-", "at character 0: the set is not closed"},
             Row{"[z-a]", "at character 1: the range ends before it begins"},
             Row{R"([a-\d])", "at character 1: a range goes from one character to another"},
             Row{"a)", "at character 1: there is no group to close"},
             Row{"a(b", "at character 1: the group is not closed"},
             Row{"(?", "at character 0: the group is not closed"},
             Row{"(?i", "at character 0: the group is not closed"},
             Row{"(?#a", "at character 0: the comment is not closed"},
             Row{"(?P<a", "at character 0: the group name is not closed"},
             Row{"(?P<1>a)", "at character 0: a group name is a letter or _, then letters, digits, _"},
             Row{"(?P<>a)", "at character 0: the group name is missing"},
             Row{"(?P<n>a)(?P<n>b)", "at character 8: the group name n is taken"},
             Row{"(?P=n)", "at character 0: there is no group of this name before this"},
             Row{"(?P>n)", "at character 0: unknown kind of group"},
             Row{"(?R)", "at character 0: unknown kind of group"},
             Row{R"(\1(a))", "at character 0: there is no group 1 before this"},
             Row{R"((a\1))", "at character 2: the group it refers to is still open"},
             Row{R"(a\q)", R"(at character 1: unknown escape \q)"},
             Row{R"([\Z])", R"(at character 1: unknown escape \Z)"},
             Row{R"([\8])", R"(at character 1: unknown escape \8)"},
             Row{R"(\z)", R"(at character 0: unknown escape \z)"},
             Row{R"(\x4)", "at character 0: this escape needs 2 hex digits"},
             Row{R"(\u12)", "at character 0: this escape needs 4 hex digits"},
             Row{R"(\U00110000)", "at character 0: there is no such character"},
             Row{R"(\400)", R"(at character 0: an octal escape goes up to \377)"},
             Row{"a\\", "at character 1: a backslash ends the pattern"},
             Row{"a(?i)", "at character 1: flags stand at the start of a pattern"},
             Row{"a|(?i)b", "at character 2: flags stand at the start of a pattern"},
             Row{"é\xff", "at character 1: not valid utf-8"},
             Row{"(?<=a+)b", "at character 0: what is looked behind for has no fixed width"},
             Row{"a(?<!b|cd)", "at character 1: what is looked behind for has no fixed width"},
             Row{"(?<=(?:a{4294967294}){2})", "at character 0: the look-behind is too wide"},
             Row{R"((?<=(a)\1))", "at character 7: the group it refers to is in the same look-behind"},
             Row{R"((?<=(?P<n>a)(?(n)b)))", "at character 12: the group it refers to is in the same look-behind"},
             Row{R"((a)(?<=(?(2)b|c))(d))", "at character 7: the group it refers to is still open"},
             Row{"(?<a)", "at character 0: unknown kind of group"},
             Row{"(?>a", "at character 0: the group is not closed"},
             Row{"a*+*", "at character 3: a repeat of a repeat"},
             Row{"a{2}++", "at character 5: a repeat of a repeat"},
             Row{"(a)(?(2)b)", "at character 3: there is no group 2"},
             Row{"(a)(?(0)b)", "at character 3: there is no group 0"},
             Row{"(a)(?(-1)b)", "at character 3: a group is asked for by its name or its number"},
             Row{"(a)(?(n)b)", "at character 3: there is no group of this name before this"},
             Row{"(a)(?()b)", "at character 3: the group name is missing"},
             Row{"(a)(?(1)b|c|d)", "at character 11: a conditional group has at most two alternatives"},
             Row{"(?L)a", "at character 0: the flag L is for bytes only"},
             Row{"(?au)a", "at character 0: the flags a and u exclude each other"},
             Row{"(?a)(?u)b", "at character 4: the flags a and u exclude each other"},
             Row{"(?i-i:a)", "at character 0: the flag i is turned on and off"},
             Row{"(?-a:a)", "at character 0: the flags a cannot be turned off"},
             Row{"(?t:a)", "at character 0: the flag t is for a whole pattern"},
             Row{"(?t)a*", "at character 5: the flag t takes no repeats"},
             Row{"(?i-)", "at character 0: a flag is missing after -"},
             Row{"(?-i)a", "at character 0: a colon is missing after the flags"},
             Row{"(?iz)a", "at character 0: after flags come more of them, - or : or )"},
             Row{"(?x)a # b\n* *", "at character 12: a repeat of a repeat"},
             Row{R"(\N)", "at character 0: a name in braces is missing"},
             Row{R"(\N{)", "at character 0: the character name is not closed"},
             Row{R"(\N{}a)", "at character 0: the character name is missing"},
             Row{R"(a\N{DIGIT ELEVEN})", "at character 1: no character has this name"},
             // Of Unicode 15; a sequence; the dialect knows no names of these.
             Row{R"(\N{KAWI DIGIT ONE})", "at character 0: no character has this name"},
             Row{R"(\N{KEYCAP NUMBER SIGN})", "at character 0: no character has this name"},
             Row{R"(\N{TANGUT IDEOGRAPH-17000})", "at character 0: no character has this name"},
             Row{R"(\N{hangul syllable ga})", "at character 0: no character has this name"},
             Row{std::string(252, '('), "at character 251: groups are nested more than 250 deep"},
             Row{std::string(70000, 'a'), "at character 0: it has 70000 bytes; at most 65536 are taken"},
         }) {
        EXPECT_EQ(refusal(row.pattern), std::string("pattern refused ") + row.problem) << row.pattern.substr(0, 40);
    }
}

TEST(PatternSizes, RepeatsCostNothingUntilTheyAreTaken) {
    const PythonPattern pattern("(?:(?:a{1000}b){1000}c){1000}");
    EXPECT_EQ(pattern.search(std::string(5000, 'a')), Found::no);
}

TEST(PatternSizes, ThoseOfFullLengthAreTaken) {
    const auto repeated = [](std::string_view part) {
        std::string pattern;
        while (pattern.size() + part.size() <= 65536) pattern += part;
        return pattern;
    };
    for (const auto* part :
         {"a", "a|", "()", "(?:)", "a*", R"([\w\s!-~])", R"(\N{LF})", R"(\b)", "{1", "(?i:[!-\uffff])"}) {
        EXPECT_EQ(refusal(repeated(part)), "accepted") << part;
    }
    EXPECT_EQ(refusal("(" + repeated("(?(1)a|b)").substr(0, 63000) + ")"), "accepted");
}

TEST(PatternSizes, ManyLargeSetsShareOneCopy) {
    std::string words;
    for (int i = 0; i < 200; ++i) words += R"(\w\b\W?)";
    std::string text;
    for (int i = 0; i < 200; ++i) text += "é ";
    EXPECT_EQ(PythonPattern(words).search(text), Found::yes);
    EXPECT_EQ(PythonPattern(words).search(text.substr(0, text.size() / 2)), Found::no);
}

TEST(PatternSizes, DeeplyNestedGroupsAreTaken) {
    EXPECT_EQ(PythonPattern(std::string(249, '(') + "a" + std::string(249, ')') + "+").search("a"), Found::yes);
}

TEST(PatternWays, AreNotTriedTwiceIfNoGroupIsReferredTo) {
    for (const auto* pattern : {"(a+)+$", "(a|a)*c", "(a|aa)+$", "(?:(?:a*)*)*c", "(?:a*?)*?c", "(?:a?){500}a{500}$",
                                "(?=(a+)+$)b", "(?:a{1,9}){1,99}$"}) {
        EXPECT_EQ(PythonPattern(pattern).search(std::string(500, 'a') + "b"), Found::no) << pattern;
    }
    EXPECT_EQ(PythonPattern("(?:a+)+b$").search(std::string(500, 'a') + "b"), Found::yes);
    EXPECT_EQ(PythonPattern("(?:a|aa){999,}b$").search(std::string(1000, 'a') + "b"), Found::yes);
}

// Steps are counted, not seconds: the same search ends in the same way on every machine.
TEST(PatternLimits, EndASearchThatWouldTakeTooLong) {
    EXPECT_EQ(PythonPattern(R"((a)(?:a+)+\1$)").search(std::string(5000, 'a') + "b"), Found::cannot_say);
    EXPECT_EQ(PythonPattern(R"((a)(?:a+)+\1$)").search(std::string(15, 'a') + "b"), Found::no);
    // Each place is quick, all places together are not.
    const PythonPattern pattern("[^y]*[yz]");
    EXPECT_EQ(pattern.search(std::string(5'000, 'a')), Found::no);
    EXPECT_EQ(pattern.search(std::string(20'000, 'a')), Found::cannot_say);
    EXPECT_EQ(pattern.search(std::string(20'000, 'a') + "y"), Found::yes);
    // Repeats of nothing, of which the dialect takes as many as are asked for.
    EXPECT_EQ(PythonPattern("(?:){4000000000}").search(""), Found::cannot_say);
}

TEST(PatternLimits, EndASearchThatWouldTakeTooMuchMemory) {
    const auto text = [](std::size_t size) { return std::string(size, 'a') + "b"; };
    EXPECT_EQ(PythonPattern("(?:(a))*b").search(text(400'000)), Found::yes);
    EXPECT_EQ(PythonPattern("(?:(a))*b").search(text(1'500'000)), Found::cannot_say);
}

TEST(PatternLimits, TextsThatAreNoUtf8CannotBeSearched) {
    EXPECT_EQ(PythonPattern("a").search("\xff"), Found::cannot_say);
    EXPECT_EQ(PythonPattern("").search("a\xed\xa0\x80"), Found::cannot_say);
}

TEST(PatternLimits, AreAMatchInARule) {
    const auto arguments = R"({"text":")" + std::string(5000, 'a') + R"(b"})";
    const auto condition = matches("text", R"((a)(?:a+)+\1$)");
    try {
        (void)condition(*JsonText::parse(arguments));
        ADD_FAILURE();
    } catch (const PredicateError& error) {
        EXPECT_EQ(error.kind(), PredicateError::Kind::limit);
        EXPECT_STREQ(error.what(), "the pattern for the argument 'text' took more steps than allowed");
    }
    EXPECT_TRUE(should_interrupt({{"t", condition}}, "t", arguments));
}

TEST(PatternThreads, ShareOneCompiledPattern) {
    const PythonPattern pattern(R"((\w+)@\1\.test$)");
    std::atomic<int> found = 0;
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int k = 0; k < 500; ++k) found += pattern.search("x evil@evil.test\n") == Found::yes ? 1 : 0;
        });
    }
    threads.clear();
    EXPECT_EQ(found, 2000);
}

}  // namespace
}  // namespace assent
