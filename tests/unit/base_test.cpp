#include "base/base32.hpp"
#include "base/decimal.hpp"
#include "base/display.hpp"
#include "base/json_schema.hpp"
#include "base/look_alikes.hpp"
#include "base/sha256.hpp"
#include "base/time_text.hpp"
#include "base/unknown_field.hpp"

#include <assent/arguments.hpp>

#include <gtest/gtest.h>

namespace assent {
namespace {

struct RefusedText {
    const char* name;
    std::string text;
    const char* problem;
};

class ExactJsonRefuses : public testing::TestWithParam<RefusedText> {};

TEST_P(ExactJsonRefuses, WithThePlaceAndWithoutTheText) {
    const auto parsed = Arguments::parse(GetParam().text, {.bytes_max = 200, .depth_max = 5});
    ASSERT_FALSE(parsed.ok());
    EXPECT_EQ(parsed.failure().kind, FailureKind::refused);
    EXPECT_EQ(parsed.failure().message, GetParam().problem);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ExactJsonRefuses,
    testing::Values(
        RefusedText{"Empty", "", "the json text ends where a value should be at byte 0"},
        RefusedText{"TwoValues", "{} {}", "there is text after the json value at byte 3"},
        RefusedText{"TrailingComma", R"({"a":1,})", "a member name in quotes should stand here at byte 7"},
        RefusedText{"SameKeyTwice", R"({"a":1,"a":2})", "an object has the same key twice at byte 7"},
        RefusedText{"SameKeyTwiceByEscape", R"({"a":1,"\u0061":2})", "an object has the same key twice at byte 7"},
        RefusedText{"SameKeyTwiceBelow", R"({"o":{"a":1,"a":2}})", "an object has the same key twice at byte 12"},
        RefusedText{"LoneHighSurrogate", R"({"a":"\ud800"})", "a lone high surrogate stands here at byte 12"},
        RefusedText{"LoneLowSurrogate", R"({"a":"\udc00"})", "a lone low surrogate stands here at byte 12"},
        RefusedText{"NotUtf8", "{\"a\":\"\xff\"}", "the json text is not valid utf-8"},
        RefusedText{"OverlongUtf8", "{\"a\":\"\xc0\xaf\"}", "the json text is not valid utf-8"},
        RefusedText{"NotANumber", R"({"a":NaN})", "this is no json value at byte 5"},
        RefusedText{"Infinity", R"({"a":Infinity})", "this is no json value at byte 5"},
        RefusedText{"LeadingZero", R"({"a":01})", "a json number has no leading zeros at byte 6"},
        RefusedText{"PlusSign", R"({"a":+1})", "this is no json value at byte 5"},
        RefusedText{"SingleQuotes", "{'a':1}", "a member name in quotes should stand here at byte 1"},
        RefusedText{"CutOff", R"({"a":5)", "a comma or } should follow a member at byte 6"},
        RefusedText{"RawControlCharacter", "{\"a\":\"x\ny\"}",
                    "a control character in a text is not escaped at byte 7"},
        RefusedText{"UnknownEscape", R"({"a":"\x41"})", "this escape is not known in json at byte 7"},
        RefusedText{"TooDeep", R"({"a":[[[[[1]]]]]})", "the json text is nested more than 5 deep at byte 9"},
        RefusedText{"TooLong", R"({"a":")" + std::string(300, 'x') + R"("})",
                    "the json text has 308 bytes; at most 200 are taken"},
        RefusedText{"NoObject", "[1]", "arguments must be a json object"}),
    [](const auto& row) { return row.param.name; });

TEST(ExactJson, FindsTheSameKeyTwiceAmongMany) {
    std::string members;
    for (int i = 0; i < 40; ++i) members += "\"k" + std::to_string(i) + "\":1,";
    EXPECT_EQ(Arguments::parse("{" + members + "\"last\":1}")->root().keys.size(), 41U);
    for (const auto* again : {"k0", "k15", "k16", "k17", "k39"}) {
        const auto read = Arguments::parse("{" + members + "\"" + again + "\":1}");
        ASSERT_FALSE(read.ok()) << again;
        EXPECT_EQ(read.failure().message,
                  "an object has the same key twice at byte " + std::to_string(members.size() + 1));
    }
}

TEST(ExactJson, KeepsTheBytesOfEveryValue) {
    const std::string text = R"( {"n": 1.0000000000000000000001e400, "s":"\u00e9\ud83d\ude00", "l":[1, 2 ]} )";
    const auto parsed = Arguments::parse(text);
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(parsed->text(), text);
    EXPECT_EQ(parsed->find("n")->text, "1.0000000000000000000001e400");
    EXPECT_EQ(parsed->find("s")->string, "é😀");
    EXPECT_EQ(parsed->find("l")->text, "[1, 2 ]");
    EXPECT_EQ(parsed->find("x"), nullptr);
}

TEST(ExactJson, LaysOverTopLevelMembersAndTouchesNothingElse) {
    struct Row {
        const char* base;
        const char* changes;
        const char* expected;
    };
    for (const auto& row : {
             Row{R"({"a": 1.50, "b":"x"})", R"({"b":"y"})", R"({"a": 1.50, "b":"y"})"},
             Row{R"({"a": 1.50})", R"({"c":[1 ,2]})", R"({"a": 1.50,"c":[1 ,2]})"},
             Row{R"({ })", R"({"c":1,"d":2})", R"({ "c":1,"d":2})"},
             Row{R"({"a":1,"b":2,"c":3})", R"({"c":{"x":1},"a":null})", R"({"a":null,"b":2,"c":{"x":1}})"},
             Row{R"({"a":1} )", R"({})", R"({"a":1} )"},
         }) {
        const auto laid = lay_over(*Arguments::parse(row.base), *Arguments::parse(row.changes));
        ASSERT_TRUE(laid.ok());
        EXPECT_EQ(laid->text(), row.expected);
    }
}

TEST(Decimals, CompareByTheDigitsAsWritten) {
    struct Row {
        const char* a;
        const char* b;
        int expected;
    };
    for (const auto& row : {
             Row{"1", "1.0", 0},
             Row{"1E2", "100", 0},
             Row{"-0", "0.0", 0},
             Row{"0.10", "0.1", 0},
             Row{"9007199254740993", "9007199254740992", 1},
             Row{"9007199254740993.0", "9007199254740993", 0},
             Row{"100.00000000000000000001", "100", 1},
             Row{"1e-400", "0", 1},
             Row{"-1e-400", "0", -1},
             Row{"2e400", "1e400", 1},
             Row{"-2", "1", -1},
             Row{"-2", "-1", -1},
             Row{"12", "2", 1},
             Row{"0.001", "0.01", -1},
             Row{"1e99999999999999999999", "1e5", 1},
             Row{"1e-99999999999999999999", "1e-5", -1},
             Row{"123e-2", "1.23", 0},
             Row{"0e5", "0", 0},
         }) {
        EXPECT_EQ(compare_decimals(row.a, row.b), row.expected) << row.a << " " << row.b;
        EXPECT_EQ(compare_decimals(row.b, row.a), -row.expected) << row.b << " " << row.a;
    }
}

TEST(Display, MakesHiddenCharactersVisibleAndLeavesOrdinaryTextAlone) {
    struct Row {
        const char* text;
        const char* shown;
        bool hidden;
    };
    for (const auto& row : {
             Row{"plain ok", "plain ok", false},
             Row{"日本 é ⚠️ 🏳️‍🌈", "日本 é ⚠️ 🏳️‍🌈", false},
             Row{"a\nb", "a\\nb", false},
             Row{"a\x1b[2Jb", "a\\u{1b}[2Jb", true},
             Row{"x\u202egpj.exe", "x\\u{202e}gpj.exe", true},
             Row{"ze\u200bro", "ze\\u{200b}ro", true},
             Row{"a\u00a0b", "a\\u{a0}b", true},
             Row{"\xff", "\\xff", true},
             Row{"a\ufe0fb", "a\\u{fe0f}b", true},
             Row{"😀\u200d\u200d😀", "😀\\u{200d}\\u{200d}😀", true},
             Row{"😀\ufe0f\ufe0f", "😀\ufe0f\\u{fe0f}", true},
             Row{"😀\u200d", "😀\\u{200d}", true},
             Row{"\ue000", "\\u{e000}", true},
             Row{"\u2028", "\\u{2028}", true},
         }) {
        const auto shown = safe_to_show(row.text);
        EXPECT_EQ(shown.text, row.shown);
        EXPECT_EQ(shown.hidden_characters, row.hidden) << row.shown;
    }
    EXPECT_EQ(safe_to_show("a\nb", Lines::keep).text, "a\nb");
}

TEST(LookAlikes, AreWordsThatReadAsOtherWordsAndNoOrdinaryOnes) {
    struct Row {
        const char* text;
        const char* escaped;  // nullptr: nothing to warn of
        const char* reads;
    };
    for (const auto& row : {
             Row{"plain text", nullptr, nullptr},
             Row{"rm -rf /\u0435tc", "\\u{435}tc", "etc"},  // one Cyrillic letter
             Row{"\u0430pprove all", "\\u{430}pprove", "approve"},
             Row{"cat /\u0455\u0443\u0455", "\\u{455}\\u{443}\\u{455}", "sys"},  // a whole word
             Row{"p\u03bfrt", "p\\u{3bf}rt", "port"},                            // Greek
             Row{"\uff52\uff4d x", "\\u{ff52}\\u{ff4d}", "rm"},                  // wide forms
             Row{"\U0001d41e", "\\u{1d41e}", "e"},                               // mathematical
             Row{"a\u2215b", "\\u{2215}", "/"},                                  // a division slash
             Row{"привет, с утра я у дома", nullptr, nullptr},
             Row{"καλημέρα το πρωί", nullptr, nullptr},
             Row{"kadın ışık çay", nullptr, nullptr},
             Row{"naïve café Ångström straße", nullptr, nullptr},
             Row{"日本語のテキスト、全部。", nullptr, nullptr},
             Row{"Δt = 5 μs", nullptr, nullptr},
             Row{"שלום עולם", nullptr, nullptr},
             Row{"مرحبا ١٥", nullptr, nullptr},
             Row{"— “quoted” … ‘it’", nullptr, nullptr},
             Row{"\xff\xfe", nullptr, nullptr},
         }) {
        const auto found = look_alikes(row.text, 5);
        EXPECT_EQ(found.size(), row.escaped == nullptr ? 0 : 1) << row.text;
        if (found.empty() || row.escaped == nullptr) continue;
        EXPECT_EQ(found[0].escaped, row.escaped);
        EXPECT_EQ(found[0].reads, row.reads);
    }
}

TEST(LookAlikes, AreNamedOnceEachUpToTheLimitAndCutWhenLong) {
    const std::string one = "\u0430bc ";
    const auto found = look_alikes(one + one + "\u0430bd \u0430be \u0430bf", 3);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[2].reads, "abe");
    const auto cut = look_alikes(std::string(1000, 'a') + "\u0430", 1);
    ASSERT_EQ(cut.size(), 1U);
    EXPECT_EQ(cut[0].reads, std::string(40, 'a'));
}

TEST(Display, CapsBetweenCharactersAndSaysHowMuchIsMissing) {
    EXPECT_EQ(capped("abc", 3), "abc");
    EXPECT_EQ(capped("aéb", 2), "a … (3 more bytes cut)");
}

TEST(PublicId, IsReadBackWithItsCheckLetters) {
    const auto digest = sha256("binding");
    for (const std::int64_t number : {0L, 1L, 31L, 32L, 1'000'000L, 1L << 50}) {
        const auto id = public_id(number, digest);
        const auto read = read_public_id(id);
        ASSERT_TRUE(read.has_value()) << id;
        EXPECT_EQ(read->number, number);
        EXPECT_EQ(public_id(number, digest).substr(id.size() - id_check_letters), read->check);
    }
    for (const char* text : {"", "abcd", "u1234", "1-abcd", "0123456789abcdefghj"})
        EXPECT_FALSE(read_public_id(text)) << text;
}

TEST(Digests, FieldsDoNotRunIntoEachOther) {
    const std::string_view one[] = {"ab", "c"};
    const std::string_view two[] = {"a", "bc"};
    EXPECT_NE(sha256_fields(one), sha256_fields(two));
    EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(unhex("00fF"), std::string("\0\xff", 2));
}

struct Fit {
    const char* name;
    const char* schema;
    std::string arguments;
    const char* problem;  // null: they fit
};

class Schemas : public testing::TestWithParam<Fit> {};

TEST_P(Schemas, NameTheFieldAndNeverTheValue) {
    const auto checked = check_schema(GetParam().schema, *Arguments::parse(GetParam().arguments));
    EXPECT_EQ(checked.ok() ? "" : checked.failure().message, GetParam().problem == nullptr ? "" : GetParam().problem);
    EXPECT_TRUE(checked.ok() || checked.failure().kind == FailureKind::refused);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Schemas,
    testing::Values(
        Fit{"None", "", R"({"a":1})", nullptr}, Fit{"Empty", "{}", R"({"a":1})", nullptr},
        Fit{"Right", R"({"properties":{"to":{"type":"string"}},"required":["to"],"additionalProperties":false})",
            R"({"to":"a"})", nullptr},
        Fit{"WrongType", R"({"properties":{"to":{"type":"string"}}})", R"({"to":4711})",
            "the argument 'to' does not fit the schema: value type not permitted by 'type' constraint"},
        Fit{"WrongTypeBelow", R"({"properties":{"o":{"properties":{"l":{"items":{"type":"null"}}}}}})",
            R"({"o":{"l":[null,"secret"]}})",
            "the argument 'o.l.1' does not fit the schema: value type not permitted by 'type' constraint"},
        Fit{"Missing", R"({"required":["to"]})", "{}",
            "the arguments do not fit the schema: missing required property 'to'"},
        Fit{"Additional", R"({"additionalProperties":false})", "{\"c\u200bc\":1}",
            "the arguments do not fit the schema: object contains a property that could not be validated using "
            "'properties' or 'additionalProperties' constraints: 'c\\u{200b}c'"},
        Fit{"Enum", R"({"properties":{"a":{"enum":["x"]}}})", R"({"a":"secret"})",
            "the argument 'a' does not fit the schema: failed to match against any enum values"},
        Fit{"Pattern", R"({"properties":{"a":{"pattern":"^[a-z]+$"}}})", R"({"a":"A"})",
            "the argument 'a' does not fit the schema: failed to match regex specified by 'pattern' constraint"},
        Fit{"LongTextAgainstAPattern", R"({"properties":{"a":{"pattern":"^(a|b)*$"}}})",
            R"({"a":")" + std::string(200'000, 'a') + R"("})", nullptr},
        Fit{"CostlyPattern", R"({"properties":{"a":{"pattern":"^(a+)+$"}}})",
            R"({"a":")" + std::string(2000, 'a') + R"(b"})",
            "the argument 'a' does not fit the schema: failed to match regex specified by 'pattern' constraint"},
        Fit{"FormatIsNotChecked", R"({"properties":{"a":{"format":"date"}}})",
            R"({"a":")" + std::string(200'000, '1') + R"("})", nullptr},
        Fit{"FormatAsAName", R"({"properties":{"format":{"type":"string"}}})", R"({"format":1})",
            "the argument 'format' does not fit the schema: value type not permitted by 'type' constraint"},
        Fit{"ConstWithFormat", R"({"properties":{"a":{"const":{"format":"date"}}}})", R"({"a":{}})",
            "the argument 'a' does not fit the schema: failed to match expected value set by 'const' constraint"},
        Fit{"Reference", R"({"definitions":{"t":{"type":"string"}},"properties":{"a":{"$ref":"#/definitions/t"}}})",
            R"({"a":1})", "the argument 'a' does not fit the schema: value type not permitted by 'type' constraint"},
        Fit{"OwnReference", R"({"properties":{"a":{"$ref":"#"}},"additionalProperties":false})", R"({"a":{"b":1}})",
            "the argument 'a' does not fit the schema: object contains a property that could not be validated using "
            "'properties' or 'additionalProperties' constraints: 'b'"},
        Fit{"OwnReferenceBelowNot", R"({"not":{"required":["x"],"items":{"$ref":"#"}}})", R"({"a":1})", nullptr},
        Fit{"OtherKindIsLeftToType", R"({"properties":{"n":{"maximum":5}}})", R"({"n":"9"})", nullptr},
        Fit{"MultipleOf", R"({"properties":{"n":{"multipleOf":2}}})", R"({"n":4.5})",
            "the argument 'n' does not fit the schema: value should be a multiple of 2.000000"},
        Fit{"MultipleOfHuge", R"({"properties":{"n":{"multipleOf":2}}})", R"({"n":123456789012345678901234567890})",
            nullptr},
        Fit{"TooManyForUnique", R"({"properties":{"l":{"uniqueItems":true}}})",
            R"({"l":[0)" +
                [] {
                    std::string rest;
                    for (int i = 1; i <= 1000; ++i) rest += "," + std::to_string(i);
                    return rest;
                }() +
                "]}",
            "a list has more than 1000 items, too many to see whether they are unique"},
        Fit{"NotUnique", R"({"properties":{"l":{"uniqueItems":true}}})", R"({"l":["s",1,"s"]})",
            "the argument 'l' does not fit the schema: elements at indexes #0 and #2 violate uniqueness constraint"},
        Fit{"WholeNumber", R"({"properties":{"n":{"type":"integer"}}})", R"({"n":1.5})",
            "the argument 'n' does not fit the schema: value type not permitted by 'type' constraint"},
        Fit{"DeepArguments", R"({"required":["a"]})", R"({"a":)" + std::string(98, '[') + std::string(98, ']') + "}",
            nullptr}),
    [](const auto& row) { return row.param.name; });

// Each definition refers twice to the next.
std::string doubling_schema(int definitions) {
    std::string text = R"({"$ref":"#/d0")";
    for (int i = 0; i < definitions; ++i) {
        const auto next = R"({"$ref":"#/d)" + std::to_string(i + 1) + "\"}";
        text += ",\"d" + std::to_string(i) + R"(":{"allOf":[)" + next + "," + next + "]}";
    }
    return text + ",\"d" + std::to_string(definitions) + "\":true}";
}

TEST(SchemaTexts, AreRefusedWhenTheyCannotBeUsed) {
    struct Row {
        const char* text;
        const char* problem;
    };
    for (const auto& row : {
             Row{"{", "a member name in quotes should stand here at byte 1"},
             Row{"[]", "it is no json object"},
             Row{R"({"type":"object","type":"string"})", "an object has the same key twice at byte 17"},
             Row{R"({"patternProperties":{"a":{}}})", "patternProperties is not supported"},
             Row{R"({"$ref":"http://x.test/s"})", "a $ref is taken only within the schema, as # or #/..."},
             Row{R"({"$ref":"#/none"})", "a $ref leads nowhere"},
             Row{R"({"$ref":"#"})", "a $ref leads back to itself"},
             Row{R"({"properties":{"a":{"$ref":"#/properties/a"}}})", "a $ref leads back to itself"},
             Row{R"({"anyOf":[{"not":{"$ref":"#"}}]})", "a $ref leads back to itself"},
             Row{R"({"dependencies":{"a":{"$ref":"#"}}})", "a $ref leads back to itself"},
             Row{R"({"a":{"$ref":"#/b"},"b":{"$ref":"#/a"}})", "a $ref leads back to itself"},
             Row{R"({"multipleOf":0})", "multipleOf is not above 0"},
         }) {
        const auto checked = check_schema_text(row.text);
        ASSERT_FALSE(checked.ok()) << row.text;
        EXPECT_EQ(checked.failure().message, std::string("the schema cannot be used: ") + row.problem);
        EXPECT_EQ(checked.failure().kind, FailureKind::usage);
    }
    for (const auto* text : {R"({"type":5})", R"({"type":"strange"})", R"({"properties":[]})", R"({"required":"a"})",
                             R"({"pattern":"("})"}) {
        EXPECT_FALSE(check_schema_text(text).ok()) << text;
    }
    const auto with_pattern = [](std::size_t bytes) { return R"({"pattern":")" + std::string(bytes, 'a') + "\"}"; };
    EXPECT_TRUE(check_schema_text(with_pattern(2000)).ok());
    EXPECT_EQ(check_schema_text(with_pattern(2001)).failure().message,
              "the schema cannot be used: a pattern has more than 2000 bytes");
    EXPECT_TRUE(check_schema_text("").ok());
    EXPECT_TRUE(check_schema_text(doubling_schema(10)).ok());
    EXPECT_EQ(check_schema_text(doubling_schema(60)).failure().message,
              "the schema cannot be used: it has more than 10000 schemas for one value");
}

TEST(UnknownFields, AreNamedWithTheNearestAndAllThatThereAre) {
    constexpr auto fields = R"("properties":{"file_path":{},"content":{}})";
    const auto schema = [&](const std::string& more) { return R"({"type":"object",)" + more + fields + "}"; };
    const auto path = "tool write has no field path (nearest: file_path); it takes file_path, content";
    struct Row {
        const char* name;
        std::string schema;
        const char* changes;
        const char* told;
    };
    for (const auto& row : {
             Row{"Nearest", schema(""), R"({"content":"a","path":"b"})", path},
             Row{"FirstOfSeveral", schema(""), R"({"path":1,"contents":2})", path},
             Row{"Closed", schema(R"("additionalProperties":false,)"), R"({"path":1})", path},
             Row{"LetterCase", schema(""), R"({"Content":"a"})",
                 "tool write has no field Content (nearest: content); it takes file_path, content"},
             Row{"HiddenCharacters", schema(""), "{\"content\\u200b\":1}",
                 "tool write has no field content\\u{200b} (nearest: content); it takes file_path, content"},
             Row{"Shown", schema(""), R"({"mode":"w","content":"a"})", nullptr},
             Row{"Known", schema(""), R"({"content":"a"})", nullptr},
             Row{"Open", schema(R"("additionalProperties":true,)"), R"({"path":1})", nullptr},
             Row{"OpenToSome", schema(R"("additionalProperties":{"type":"string"},)"), R"({"path":1})", nullptr},
             Row{"MorePartsMayAddFields", schema(R"("allOf":[],)"), R"({"path":1})", nullptr},
             Row{"NoFieldsListed", R"({"type":"object"})", R"({"path":1})", nullptr},
             Row{"FieldsThatAreNone", R"({"properties":[1]})", R"({"path":1})", nullptr},
             Row{"NoSchema", "", R"({"path":1})", nullptr},
         }) {
        const auto told =
            unknown_field(row.schema, "write", *Arguments::parse(row.changes), *Arguments::parse(R"({"mode":"r"})"));
        EXPECT_EQ(told.value_or(""), row.told == nullptr ? "" : row.told) << row.name;
    }
}

TEST(TimeText, IsUtcWithMilliseconds) {
    EXPECT_EQ(rfc3339(0), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(rfc3339(1'796'001'657'042), "2026-11-30T01:20:57.042Z");
    EXPECT_EQ(rfc3339(-1), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace assent
