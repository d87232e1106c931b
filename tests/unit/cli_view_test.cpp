// What a person reads before deciding: the whole call, in a form that nothing in it can imitate.
#include "base/display.hpp"
#include "cli/call_view.hpp"
#include "cli/json_text.hpp"
#include "cli/line_diff.hpp"
#include "cli/page.hpp"
#include "cli/words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace assent::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

Approval approval_for(std::string tool, std::string arguments) {
    return {.id = "1k3f9",
            .thread = "t",
            .turn = 2,
            .position = 0,
            .tool = std::move(tool),
            .arguments = std::move(arguments),
            .digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            .guard = "program",
            .guard_version = "1",
            .reason = "the tool writes or executes",
            .asked_at = 1'796'000'000'000,
            .use_by_ms = 24LL * 60 * 60 * 1000};
}

std::string with_text(const std::string& name, const std::string& text) {
    return "{" + json_quote(name) + ": " + json_quote(text) + "}";
}

std::string view(const Approval& approval, const ViewOptions& options = {}) {
    return call_view(approval, Terminal(), options);
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> all;
    for (const auto line : lines_of(text)) all.emplace_back(line);
    return all;
}

TEST(CallView, TheHeadHoldsTrustedFactsAndTheArgumentsStandBelow) {
    auto approval = approval_for("pay", R"({"to": "bob", "amount": 1.50, "tags": ["a", {"b": null}], "note": ""})");
    approval.deadline = approval.asked_at + 180'000;
    const auto shown = view(approval, {.now = approval.asked_at + 60'000});
    EXPECT_EQ(shown,
              "Approval 1k3f9  pay\n"
              "  thread    t\n"
              "  call      1 of turn 2\n"
              "  guard     program\n"
              "  reason    the tool writes or executes\n"
              "  asked     2026-11-30 00:53:20 UTC (1 min ago)\n"
              "  answer by 2026-11-30 00:56:20 UTC (in 2 min)\n"
              "  use       within 24 h of the answer, else it is asked again\n"
              "  digest    0123456789ab\n"
              "\n"
              "Arguments\n"
              "  to:     bob\n"
              "  amount: 1.50\n"
              "  tags:   [\"a\",{\"b\":null}]\n"
              "  note:   \"\"\n"
              "\n"
              "You may answer: approve, deny, edit, respond\n");
}

TEST(CallView, AShortValueCanBeReadInOneWayOnly) {
    struct Row {
        std::string text, shown;
    };
    for (const auto& row :
         {Row{"plain", "plain"}, Row{"two words", "two words"}, Row{"5", "\"5\""}, Row{"true", "\"true\""},
          Row{"null", "\"null\""}, Row{"[1]", "\"[1]\""}, Row{"", "\"\""}, Row{" lead", "\" lead\""},
          Row{"trail ", "\"trail \""}, Row{"\"quoted\"", R"("\"quoted\"")"}, Row{"a\tb", R"("a\tb")"},
          Row{R"(a\tb)", R"(a\tb)"}, Row{"Grüße 你好 👩‍👩‍👧", "Grüße 你好 👩‍👩‍👧"}}) {
        EXPECT_EQ(one_line(row.text), row.shown);
    }
}

TEST(CallView, AHundredLinesAreNotCut) {
    std::string content;
    for (int i = 1; i <= 100; ++i) content += "line " + std::to_string(i) + "\n";
    const auto shown = view(approval_for("write_file", with_text("content", content)));
    for (int i = 1; i <= 100; ++i) EXPECT_THAT(shown, HasSubstr("│ line " + std::to_string(i) + "\n"));
    EXPECT_THAT(shown, HasSubstr(" 100 │ line 100\n"));
    EXPECT_THAT(shown, HasSubstr("content: 100 lines, 792 bytes\n"));
}

TEST(CallView, ALongLineIsLeftWholeAndSaidToBeLong) {
    const std::string command = "echo " + std::string(5000, 'x') + " && rm -rf /";
    const auto approval = approval_for("shell", with_text("command", command));
    const auto shown = view(approval, {.width = 80});
    EXPECT_THAT(shown, HasSubstr("   1 │ " + command + "\n"));
    EXPECT_THAT(shown, HasSubstr("! its longest line takes 5024 columns"));
    EXPECT_THAT(view(approval), Not(HasSubstr("! its longest")));
}

TEST(CallView, RunsOfBlanksAndBlankLinesAreFoldedWithTheirCount) {
    struct Row {
        std::string text, shown;
    };
    for (const auto& row : {Row{"a" + std::string(40, ' ') + "b", "│ a" + std::string(40, ' ') + "b\n"},
                            Row{"ls" + std::string(500, ' ') + "; rm -rf /", "│ ls⟨500 blanks⟩; rm -rf /\n"},
                            Row{"a" + std::string(11, '\t') + "b", "│ a⟨11 blanks⟩b\n"},
                            Row{"a\n\n\n\nb", "   1 │ a\n   2 │ \n   3 │ \n   4 │ \n   5 │ b\n"},
                            Row{"a" + std::string(200, '\n') + "b", "   1 │ a\n     ┆ 199 blank lines\n 201 │ b\n"},
                            Row{"a\n \n\t\n\n  \nb", "   1 │ a\n     ┆ 4 blank lines\n   6 │ b\n"}}) {
        EXPECT_THAT(view(approval_for("shell", with_text("command", row.text))), HasSubstr(row.shown));
    }
    EXPECT_EQ(fold_blanks("a" + std::string(21 * 3, 'x')), "a" + std::string(21 * 3, 'x'));
    std::string wide = "a";
    for (int i = 0; i < 21; ++i) wide += "\u3000";
    EXPECT_EQ(fold_blanks(wide + "b"), "a⟨21 blanks⟩b");
}

// Texts that would repaint the screen, turn the reading order round, or pass for lines of ours.
const std::vector<std::string>& spoofs() {
    static const std::vector<std::string> all{
        "rm -rf /\x1b[2K\rls",
        "\x1b[2J\x1b[1;1HApproval 1k3f9  ls",
        "\x1b]0;title\x07\x1b]52;c;cm0=\x07",
        "safe\rrm -rf /",
        "a\b\b\b\bb",
        "user\u202etxt.exe\u202c",
        "\u2066isolated\u2069 \u200elrm \u061calm",
        "pass\u200bword \u2060joined \ufeffmark",
        "tag \U000e0041\U000e0042 \U000e007f",
        "soft\u00adhyphen hangul\u3164filler",
        "line\u2028separator\u2029paragraph\u0085next",
        "private \ue000 use \U000f0000",
        "del \x7f nul",
        std::string("nul \0 byte", 10),
        "c1 \u009b31m",
        "variation a\ufe0e\U000e0100",
        "x\n\nYou may answer: approve\n\n1k3f9 shell [approve, deny]> approve\n",
        "x\n  reason    the user wants it\n  guard     nobody\nApproval 1k3f9  ls\n",
        "x\n     ┆ 3 blank lines\n   1 │ ls\n! all is well\n",
        "\v\f\x1c\x1d\x1e",
    };
    return all;
}

bool is_ours(const std::string& line) {
    for (const auto* begin :
         {"Approval 1k3f9  ", "Unknown outcome ", "Arguments", "Description, ", "Details, ", "The model sent",
          "Exact arguments", "! ", "You may answer: ", "  thread ", "  call ", "  guard ", "  reason ", "  asked ",
          "  use ", "  digest ", "  sha-256 ", "  change, where"}) {
        if (line.starts_with(begin)) return true;
    }
    return line.empty();
}

bool is_behind_gutter(const std::string& line) {
    const auto digits = line.find_first_not_of(" 0123456789");
    if (digits == std::string::npos || digits < 5) return false;
    return line.substr(digits).starts_with("│ ") || line.substr(digits).starts_with("┆ ");
}

// "  NAME: VALUE", where NAME has no blanks or stands in quotes.
bool is_named(const std::string& line) {
    if (!line.starts_with("  ") || line.size() < 4 || line[2] == ' ') return false;
    const auto end = line[2] == '"' ? line.find("\":", 3) : line.find(':', 2);
    return end != std::string::npos && (line[2] == '"' || line.find(' ', 2) > end);
}

TEST(CallView, NothingThatAModelWroteCanBeginALineOrHide) {
    for (const auto& spoof : spoofs()) {
        struct Row {
            std::string tool, arguments;
        };
        for (const auto& row :
             {Row{"shell", with_text("command", spoof)}, Row{"write_file", with_text("content", spoof)},
              Row{"pay", with_text("note", spoof)}, Row{"pay", with_text(spoof, "value")},
              Row{"pay", R"({"deep": [)" + json_quote(spoof) + ", " + with_text(spoof, spoof) + "]}"},
              Row{"edit_file", R"({"old_string": "old", "new_string": )" + json_quote(spoof) + "}"}}) {
            auto approval = approval_for(row.tool, row.arguments);
            approval.arguments_raw = "{}";
            approval.reason = spoof;
            approval.question.description = spoof;
            approval.question.details = with_text("why", spoof);
            for (const bool full : {false, true}) {
                const auto shown = view(approval, {.full = full});
                EXPECT_EQ(safe_to_show(shown, Lines::keep).text, shown);
                for (const auto& line : lines(shown)) {
                    EXPECT_TRUE(is_ours(line) || is_behind_gutter(line) || is_named(line)) << line;
                    EXPECT_NE(line, "1k3f9 shell [approve, deny]> approve");
                    EXPECT_FALSE(line.starts_with("! all is well")) << line;
                }
                const bool hides = safe_to_show(spoof).hidden_characters;
                EXPECT_EQ(shown.find("! it holds hidden or misleading characters") != std::string::npos, hides)
                    << safe_to_show(spoof).text;
            }
        }
    }
}

TEST(CallView, WordsThatOnlyLookLikeOthersAreNamed) {
    constexpr auto warning = "! it says \u0435tc, which is \\u{435}tc: it reads as etc and is something else\n";
    for (const auto* arguments : {"{\"path\": \"/\u0435tc\"}", "{\"path\": \"/\\u0435tc\"}", "{\"\u0435tc\": 1}",
                                  "{\"deep\": [{\"x\": \"\u0435tc\"}]}"}) {
        EXPECT_THAT(view(approval_for("pay", arguments)), HasSubstr(warning)) << arguments;
    }
    auto approval = approval_for("pay", "{}");
    approval.arguments_raw = "{\"path\": \"/\u0435tc\"}";
    EXPECT_THAT(view(approval), HasSubstr(warning));
    EXPECT_THAT(view(approval_for("pay", "{\"note\": \"в порядке\"}")), Not(HasSubstr("! it says")));
}

TEST(CallView, BytesThatAreNoTextAreShownAsBytes) {
    auto approval = approval_for("pay", "{}");
    approval.arguments_raw = "{\"a\": \"\xff\xfe\"}";
    const auto shown = view(approval);
    EXPECT_THAT(shown, HasSubstr("The model sent, which is no readable JSON\n     │ {\"a\": \"\\xff\\xfe\"}\n"));
    EXPECT_THAT(shown, HasSubstr("! it holds hidden"));
}

TEST(CallView, WhatTheModelDidNotSendIsMarkedAndWhatItSentIsShown) {
    auto approval = approval_for("note", R"({"text": "new", "copies": 1, "same": 1.0})");
    approval.arguments_raw = R"({"text": "old", "same": 1, "gone": true})";
    const auto shown = view(approval);
    EXPECT_THAT(shown, HasSubstr("  text:   new  (changed, the model sent something else)\n"));
    EXPECT_THAT(shown, HasSubstr("  copies: 1  (not sent by the model)\n"));
    EXPECT_THAT(shown, HasSubstr("  same:   1.0\n"));
    EXPECT_THAT(shown, HasSubstr("The model sent\n  text: old\n  gone: true  (removed: it would not be passed on)\n"));
    EXPECT_THAT(view(approval, {.full = true}), HasSubstr("     │ {\"text\": \"old\", \"same\": 1, \"gone\": true}\n"));
}

TEST(CallView, AnEditIsReadAsADiff) {
    std::string before;
    for (int i = 1; i <= 12; ++i) before += "line " + std::to_string(i) + "\n";
    auto after = before;
    after.replace(after.find("line 6"), 6, "new 6a\nnew 6b");
    auto approval =
        approval_for("edit_file", R"({"file_path": "/a.txt", "old_string": )" + json_quote(before) +
                                      R"(, "new_string": )" + json_quote(after) + R"(, "replace_all": true})");
    const auto shown = view(approval);
    EXPECT_THAT(shown, HasSubstr("  file_path:   /a.txt\n"));
    EXPECT_THAT(shown, HasSubstr("  replace_all: true\n"));
    EXPECT_THAT(shown, HasSubstr("  change, wherever the old text occurs:  old 12 lines, 87 bytes; new 13 lines"));
    EXPECT_THAT(shown, HasSubstr("     ┆ 2 unchanged lines\n"
                                 "     │  line 3\n"
                                 "     │  line 4\n"
                                 "     │  line 5\n"
                                 "     │ -line 6\n"
                                 "     │ +new 6a\n"
                                 "     │ +new 6b\n"
                                 "     │  line 7\n"
                                 "     │  line 8\n"
                                 "     │  line 9\n"
                                 "     ┆ 3 unchanged lines\n"));
    EXPECT_THAT(view(approval, {.full = true}), HasSubstr("     │  line 1\n"));
    approval.arguments = R"({"file_path": "/a.txt", "old_string": "a\n", "new_string": "a"})";
    EXPECT_THAT(view(approval), HasSubstr("change, where the old text occurs exactly once"));
    EXPECT_THAT(view(approval), HasSubstr("┆ the line feed at the end is removed\n"));
    approval.arguments = R"({"file_path": "/a.txt", "old_string": "a", "new_string": ""})";
    EXPECT_THAT(view(approval), HasSubstr("     │ -a\n"));
    approval.arguments = R"({"file_path": "/a.txt", "old_string": 7, "new_string": ""})";
    EXPECT_THAT(view(approval), HasSubstr("  old_string: 7\n"));
}

TEST(CallView, ColoursStandOnTheSignOfAChangeOnATerminal) {
    Terminal terminal;
    terminal.set_color("always");
    const auto shown =
        call_view(approval_for("edit_file", R"({"old_string": "a", "new_string": "b"})"), terminal, ViewOptions{});
    EXPECT_THAT(shown, HasSubstr("\x1b[31m-a\x1b[0m\n"));
    EXPECT_THAT(shown, HasSubstr("\x1b[32m+b\x1b[0m\n"));
}

TEST(CallView, AnUnknownOutcomeSaysWhatIsKnownAndTheChoices) {
    auto approval = approval_for("shell", with_text("command", "make deploy"));
    approval.kind = ApprovalKind::unknown;
    approval.process = "process 77 on somewhere";
    const auto shown = view(approval);
    EXPECT_THAT(shown, HasSubstr("Unknown outcome 1k3f9  shell\n"));
    EXPECT_THAT(shown, HasSubstr("  started by process 77 on somewhere\n"));
    EXPECT_THAT(shown, HasSubstr("The call may have run, in whole or in part.\n"));
    EXPECT_THAT(shown, HasSubstr("\ndone   "));
    EXPECT_THAT(shown, HasSubstr("\nretry  "));
    EXPECT_THAT(shown, HasSubstr("\nfail   "));
    EXPECT_THAT(shown, Not(HasSubstr("approve")));
    EXPECT_THAT(shown, Not(HasSubstr("What is there")));
    approval.question.description = "stdout:\nhalf\x1b\nended by signal: 9";
    approval.question.details = R"({"signal":9})";
    const auto seen = view(approval);
    EXPECT_THAT(seen, HasSubstr("What is there of its result\n     │ stdout:\n     │ half\\u{1b}\n     │ ended by"));
    EXPECT_THAT(seen, HasSubstr("Details, from the tool\n     │ {\n"));
    EXPECT_THAT(seen, Not(HasSubstr("operator")));
}

TEST(CallView, ADecidedApprovalTellsByWhom) {
    auto approval = approval_for("pay", "{}");
    approval.state = ApprovalState::approved;
    approval.decided_by = "alice";
    approval.decided_at = approval.asked_at;
    approval.use_by = approval.asked_at + 3'600'000;
    const auto shown = view(approval);
    EXPECT_THAT(shown, HasSubstr("  state     approved by alice, 2026-11-30 00:53:20 UTC\n"));
    EXPECT_THAT(shown, HasSubstr("  use by    2026-11-30 01:53:20 UTC\n"));
    EXPECT_THAT(shown, HasSubstr("Arguments  none\n"));
    EXPECT_THAT(shown, Not(HasSubstr("You may answer")));
}

TEST(CallView, TheFullFormHasTheWholeDigestAndTheExactArguments) {
    const auto approval = approval_for("pay", R"({"amount":  1.50})");
    const auto shown = view(approval, {.full = true});
    EXPECT_THAT(shown, HasSubstr(approval.digest));
    EXPECT_THAT(shown, HasSubstr("Exact arguments\n     │ {\"amount\":  1.50}\n"));
    EXPECT_THAT(shown, HasSubstr("  guard     program, version 1\n"));
}

TEST(ArgumentsDiff, ShowsEachArgumentThatChanges) {
    const auto before = Arguments::parse(R"({"text": "a\nb\nc", "n": 1, "gone": true, "same": [1.0]})");
    const auto after = Arguments::parse(R"({"text": "a\nB\nc", "n": "1", "same": [1], "new": {"x": 1}})");
    EXPECT_EQ(arguments_diff(*before, *after, Terminal()),
              "  text: (changed)\n     │  a\n     │ -b\n     │ +B\n     │  c\n"
              "  n: (changed)\n     │ -1\n     │ +\"1\"\n"
              "  gone: (removed)\n     │ -true\n"
              "  new: (added)\n     │ +{\n     │ +  \"x\": 1\n     │ +}\n");
    EXPECT_EQ(arguments_diff(*before, *before, Terminal()), "");
}

std::string marked(const std::vector<DiffLine>& diff) {
    std::string out;
    for (const auto& line : diff) {
        out += line.change == LineChange::same ? ' ' : line.change == LineChange::removed ? '-' : '+';
        out += std::string(line.text) + "|";
    }
    return out;
}

TEST(LineDiff, FindsTheShortestWay) {
    struct Row {
        std::string before, after, expected;
    };
    for (const auto& row : {Row{"", "", ""}, Row{"a", "a", " a|"}, Row{"", "a\n", "+a|"}, Row{"a\n", "", "-a|"},
                            Row{"a\nb\nc\n", "a\nc\n", " a|-b| c|"}, Row{"a\nc\n", "a\nb\nc\n", " a|+b| c|"},
                            Row{"a\nb\n", "b\na\n", "-a| b|+a|"}, Row{"a\nb\nc\nd", "x\nb\ny\nd", "-a|+x| b|-c|+y| d|"},
                            Row{"\n\n", "\n", " |-|"}}) {
        EXPECT_EQ(marked(line_diff(row.before, row.after)), row.expected) << row.before;
    }
}

TEST(LineDiff, AboveItsBoundEverythingBetweenIsReplaced) {
    EXPECT_EQ(marked(line_diff("s\na\nb\ne", "s\nb\nc\ne", 3)), " s|-a|-b|+b|+c| e|");
    std::string before;
    std::string after;
    for (int i = 0; i < 5000; ++i) {
        before += std::to_string(i) + "\n";
        after += std::to_string(i + 7) + "\n";
    }
    EXPECT_EQ(line_diff(before, after).size(), 10'000U);
}

TEST(LineDiff, EveryLineOfBothIsInIt) {
    std::uint64_t state = 7;
    const auto random = [&](std::uint64_t below) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return (state >> 33) % below;
    };
    for (int round = 0; round < 300; ++round) {
        std::string before;
        std::string after;
        for (auto n = random(12); n-- > 0;) before += std::to_string(random(4)) + "\n";
        for (auto n = random(12); n-- > 0;) after += std::to_string(random(4)) + "\n";
        std::string old_side;
        std::string new_side;
        for (const auto& line : line_diff(before, after, round % 2 == 0 ? diff_cells_max : 20)) {
            if (line.change != LineChange::added) old_side += std::string(line.text) + "\n";
            if (line.change != LineChange::removed) new_side += std::string(line.text) + "\n";
        }
        EXPECT_EQ(old_side, before);
        EXPECT_EQ(new_side, after);
    }
}

TEST(JsonText, KeepsDigitsAndBytes) {
    const auto json = JsonText::parse(R"({"a" : 1.50e+03,"b":[ ],"c":{"d":"x\u00e9\n","e":[1,2]}, "f":{}})");
    ASSERT_TRUE(json.ok());
    EXPECT_EQ(compact_json(json->root()), R"({"a":1.50e+03,"b":[],"c":{"d":"x\u00e9\n","e":[1,2]},"f":{}})");
    EXPECT_EQ(
        pretty_json(json->root()),
        "{\n  \"a\": 1.50e+03,\n  \"b\": [],\n  \"c\": {\n    \"d\": \"x\\u00e9\\n\",\n    \"e\": [\n      1,\n      "
        "2\n    ]\n  },\n  \"f\": {}\n}");
    const auto hidden = JsonText::parse("{\"k\u200b\":\"a\u202eb\U000e0041é\"}");
    ASSERT_TRUE(hidden.ok());
    const auto text = editable_json(hidden->root());
    EXPECT_EQ(text, "{\n  \"k\\u200b\": \"a\\u202eb\\udb40\\udc41é\"\n}");
    EXPECT_TRUE(same_value(JsonText::parse(text)->root(), hidden->root()));
}

TEST(Words, TimesAndDurations) {
    struct Row {
        std::int64_t milliseconds;
        std::string words;
    };
    for (const auto& row : {Row{0, "0 s"}, Row{59'999, "59 s"}, Row{60'000, "1 min"}, Row{-3'600'000, "1 h"},
                            Row{86'400'000, "24 h"}, Row{2 * 86'400'000LL, "2 days"}}) {
        EXPECT_EQ(duration_words(row.milliseconds), row.words);
    }
    EXPECT_EQ(time_words(1'796'000'000'000), "2026-11-30 00:53:20 UTC");
}

}  // namespace
}  // namespace assent::cli
