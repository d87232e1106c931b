#include "conformance/case.hpp"
#include "conformance/folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace assent::conformance {
namespace {

namespace fs = std::filesystem;

class ConformanceFolder : public testing::Test {
protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "assent-conformance-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { fs::remove_all(folder_); }

    void write(const fs::path& name, const std::string& text) {
        fs::create_directories((folder_ / name).parent_path());
        std::ofstream(folder_ / name) << text;
    }
    struct Run {
        int status;
        std::string output;
    };
    Run run(const std::vector<Exception>& exceptions = {}) {
        std::ostringstream out;
        const int status = run_folder(folder_, exceptions, out);
        return {status, out.str()};
    }

    fs::path folder_;
};

TEST_F(ConformanceFolder, IsEmptyOrMissing) {
    EXPECT_EQ(run().status, 0);
    EXPECT_EQ(run().output, "");
    std::ostringstream out;
    EXPECT_EQ(run_folder(folder_ / "none", {}, out), 2);
}

TEST_F(ConformanceFolder, CountsWhatIsNotBuiltAndPassesOverTexts) {
    write("README.md", "");
    write("approval_outcomes.json", "[\n{\"name\": \"a\"},\n{\"name\": \"b\"}\n]\n");
    write("policy/x/a.toml", "version = 1\n[[test]]\nname = \"a\"\n");
    write("policy/b.toml", "[[rule]]\n[[test]]\n [[test]]\n");
    write("policy/skipped.md", "");
    EXPECT_EQ(run().output, "approval_outcomes.json: 2 not yet\npolicy: 3 not yet\n");
    EXPECT_EQ(run().status, 0);
}

TEST_F(ConformanceFolder, RefusesNamesThatItDoesNotKnow) {
    write("predicate.json", "[]");
    write("policy/a.json", "[]");
    EXPECT_EQ(run().status, 1);
    EXPECT_EQ(run().output,
              "policy/a.json: no file of cases has this name\npredicate.json: no file of cases has this name\n");
}

TEST_F(ConformanceFolder, NamesTheRowThatFails) {
    write("interrupt_ids.json",
          "[\n"
          R"({"kind": "text", "tool_call_id": "a", "interrupt_id": "approve_a"},)"
          "\n"
          R"({"kind": "text", "tool_call_id": "a", "interrupt_id": "approve_b"},)"
          "\n"
          R"({"name": "odd", "kind": "text", "tool_call_id": "a", "id": "approve_a"})"
          "\n]\n");
    EXPECT_EQ(run().status, 1);
    EXPECT_EQ(run().output,
              "  interrupt_ids.json:3: expected interrupt_id \"approve_b\", got \"approve_a\"\n"
              "  interrupt_ids.json:odd: unknown word 'id'\n"
              "interrupt_ids.json: 1 passed, 2 failed\n");
}

TEST_F(ConformanceFolder, LetsOneInAHundredBeAnException) {
    const std::string bad = R"({"kind": "text", "tool_call_id": "a", "interrupt_id": "x"})";
    const std::string good = R"({"kind": "text", "tool_call_id": "a", "interrupt_id": "approve_a"})";
    const Exception exception{"interrupt_ids.json", "2", "wrong"};
    write("interrupt_ids.json", "[\n" + bad + "\n]");
    EXPECT_EQ(run({exception}).status, 1);
    std::string many = "[\n" + bad;
    for (int i = 0; i < 99; ++i) many += ",\n" + good;
    write("interrupt_ids.json", many + "]");
    EXPECT_EQ(run({exception}).status, 0);
    EXPECT_EQ(run({exception}).output,
              "  interrupt_ids.json:2: excepted: wrong\ninterrupt_ids.json: 99 passed, 0 failed\n");
}

struct Row {
    const char* name;
    void (*run)(const JsonNode&);
    const char* text;
    const char* problem;  // null: the case passes
};

class ConformanceCase : public testing::TestWithParam<Row> {};

TEST_P(ConformanceCase, IsJudged) {
    const auto node = JsonText::parse(GetParam().text);
    ASSERT_TRUE(node.ok());
    std::string problem;
    try {
        GetParam().run(node->root());
    } catch (const CaseFailed& failed) {
        problem = failed.what();
    }
    EXPECT_EQ(problem, GetParam().problem == nullptr ? "" : GetParam().problem);
}

#define PREDICATE R"("kind":"predicate","predicate":"gt","field":"a","value":1,"arguments":"{\"a\":2}")"
#define DECISION R"("tool":"t","requested":{"n":1},"answer":"{\"action\":\"edit\",\"arguments\":{\"n\":2.0}}")"

INSTANTIATE_TEST_SUITE_P(
    Predicates, ConformanceCase,
    testing::Values(
        Row{"Right", run_predicate_case, "{" PREDICATE R"(,"call":"match","should_interrupt":true})", nullptr},
        Row{"NothingNamed", run_predicate_case, "{" PREDICATE "}", nullptr},
        Row{"WrongCall", run_predicate_case, "{" PREDICATE R"(,"call":"no_match"})",
            "expected call \"no_match\", got match"},
        Row{"AnyOf", run_predicate_case, "{" PREDICATE R"(,"call":["no_match","match"]})", nullptr},
        Row{"Or", run_predicate_case, "{" PREDICATE R"(,"call":"no_match","or":"match"})", nullptr},
        Row{"OneOf", run_predicate_case, "{" PREDICATE R"(,"one_of":["no_match","match"]})", nullptr},
        Row{"UnknownValue", run_predicate_case, "{" PREDICATE R"(,"call":["match","matches"]})",
            "unknown word \"matches\""},
        Row{"UnknownKind", run_predicate_case, R"({"kind":"rule"})", "unknown word \"rule\""},
        Row{"UnknownSpecial", run_predicate_case,
            R"({"kind":"predicate","predicate":"gt","field":"a","value":null,"value_special":"Infinity","arguments":"{}"})",
            "unknown word \"Infinity\""},
        Row{"WrongInterrupt", run_predicate_case, "{" PREDICATE R"(,"should_interrupt":false})",
            "expected should_interrupt false, got true"},
        Row{"WrongField", run_predicate_case, "{" PREDICATE R"(,"reported_field":"a"})",
            "expected reported_field \"a\", got null"},
        Row{"CountsConditions", run_predicate_case,
            R"({"kind":"rules","rules":[{"tool":"*","predicate":"eq","field":"a","value":1}],"tool":"t","arguments":"{\"a\":2}","predicates_called":0})",
            "expected predicates_called 0, got 1"}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Decisions, ConformanceCase,
    testing::Values(
        Row{"SameValue", run_tool_decision_case, "{" DECISION R"(,"outcome":"run_edited","arguments_used":{"n":2}})",
            nullptr},
        Row{"OtherValue", run_tool_decision_case,
            "{" DECISION R"(,"outcome":"run_edited","arguments_used":{"n":2.0000000000000000000001}})",
            "expected arguments_used {\"n\":2.0000000000000000000001}, got {\"n\":2.0}"},
        Row{"Schema", run_tool_decision_case,
            "{" DECISION R"(,"schema":{"properties":{"n":{"maximum":1}}},"outcome":"invalid_edit"})", nullptr},
        Row{"BrokenSchema", run_tool_decision_case, "{" DECISION R"(,"schema":[],"outcome":"invalid_edit"})",
            "the schema cannot be used: it is no json object"},
        Row{"UnknownOutcome", run_tool_decision_case, "{" DECISION R"(,"outcome":"runs"})", "unknown word \"runs\""},
        Row{"UnknownKey", run_tool_decision_case, "{" DECISION R"(,"outcome":"run_edited","ran":1})",
            "unknown word 'ran'"},
        Row{"WrongReason", run_tool_decision_case,
            R"({"tool":"t","requested":{},"answer":"false","outcome":"deny","reason":"no"})",
            "expected reason \"no\", got \"denied by reviewer\""},
        Row{"ReasonOfTheOther", run_tool_decision_case,
            R"({"tool":"t","requested":{},"answer":"false","outcome":"refused","or":"deny","reason_kind":"none"})",
            nullptr}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Patterns, ConformanceCase,
    testing::Values(
        Row{"Match", run_regex_case, R"({"kind":"look","pattern":"(?<=a)b","text":"ab","result":"match"})", nullptr},
        Row{"None", run_regex_case, R"({"pattern":"a","text":"b","result":"none"})", nullptr},
        Row{"Error", run_regex_case, R"({"pattern":"(","text":"","result":"error"})", nullptr},
        Row{"AnyOf", run_regex_case, R"({"pattern":"(","text":"","result":["none","error"]})", nullptr},
        Row{"Wrong", run_regex_case, R"({"pattern":"a","text":"a","result":"none"})",
            "expected result \"none\", got match"},
        Row{"NoError", run_regex_case, R"({"pattern":"a","text":"a","result":"error"})",
            "expected result \"error\", got match"},
        Row{"NoAnswer", run_regex_case, R"({"pattern":"(?:){4000000000}","text":"","result":"match"})",
            "expected result \"match\", got cannot_say"},
        Row{"UnknownResult", run_regex_case, R"({"pattern":"a","text":"a","result":"matches"})",
            "unknown word \"matches\""},
        Row{"UnknownKey", run_regex_case, R"({"pattern":"a","text":"a","flags":"i"})", "unknown word 'flags'"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace assent::conformance
