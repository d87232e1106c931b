// Changes of files as the journal keeps them: what differs, and never half a character.
#include "journal/thread_files.hpp"
#include "base/display.hpp"
#include "journal/encoding.hpp"
#include "support/dice.hpp"

#include <gtest/gtest.h>

namespace assent::journal {
namespace {

using namespace assent::test;

std::string after(const std::string& before, const FileChange& change) {
    Files files{{change.path, std::make_shared<const std::string>(before)}};
    apply(files, change);
    const auto found = files.find(change.path);
    return found == files.end() ? "(none)" : *found->second;
}

TEST(FileChanges, SayWhatDiffers) {
    struct Row {
        const char* name;
        std::string before;
        std::string after;
        FileChange change;
    };
    for (const auto& row : {
             Row{"nothing", "abc", "abc", {"/f", false, 3, 0, ""}},
             Row{"in the middle", "one two three", "one 2 three", {"/f", false, 4, 3, "2"}},
             Row{"at the beginning", "bc", "abc", {"/f", false, 0, 0, "a"}},
             Row{"at the end", "ab", "abc", {"/f", false, 2, 0, "c"}},
             Row{"doubled", "aa", "aaa", {"/f", false, 2, 0, "a"}},
             Row{"shorter", "abcabc", "abc", {"/f", false, 3, 3, ""}},
             Row{"all", "abc", "xyz", {"/f", false, 0, 3, "xyz"}},
             Row{"to nothing", "abc", "", {"/f", false, 0, 3, ""}},
             // These differ in their last byte only, those in their first.
             Row{"the end of a character", "x\xc3\xa4y", "x\xc3\xb6y", {"/f", false, 1, 2, "\xc3\xb6"}},
             Row{"the beginning of a character", "\xc3\xa4", "\xc4\xa4", {"/f", false, 0, 2, "\xc4\xa4"}},
         }) {
        EXPECT_EQ(change_of("/f", &row.before, &row.after), row.change) << row.name;
        EXPECT_EQ(after(row.before, row.change), row.after) << row.name;
    }
    const std::string text = "abc";
    EXPECT_EQ(change_of("/f", nullptr, &text), (FileChange{"/f", false, 0, 0, "abc"}));
    EXPECT_EQ(change_of("/f", &text, nullptr), (FileChange{.path = "/f", .removed = true}));
    EXPECT_EQ(after("abc", {.path = "/f", .removed = true}), "(none)");
}

TEST(FileChanges, OfADamagedRowEndWithTheFile) {
    EXPECT_EQ(after("abc", {"/f", false, 9, 1, "x"}), "abcx");
    EXPECT_EQ(after("abc", {"/f", false, 2, 99, "x"}), "abx");
    Files files;
    apply(files, {.path = "/none", .removed = true});
    EXPECT_TRUE(files.empty());
}

TEST(FileChanges, MakeOneTextOfAnyOther) {
    for (const auto seed : seeds()) {
        SCOPED_TRACE("ASSENT_TEST_SEED=" + std::to_string(seed));
        Dice dice(seed);
        const auto random_text = [&] {
            std::string text;
            for (int i = dice.roll(12); i > 0; --i)
                text += dice.pick(
                    {"a", "b", "\n", "\xc3\xa4", "\xc3\xb6", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x81"});
            return text;
        };
        for (int i = 0; i < 5000; ++i) {
            const auto before = random_text();
            const auto wanted = random_text();
            const auto change = change_of("/f", &before, &wanted);
            ASSERT_TRUE(valid_utf8(change.text)) << before << " to " << wanted;
            // What is stored is what is applied.
            const Event event = FilesChanged{.attempt = "a", .changes = {change}};
            const auto stored = decode(encode(std::span(&event, 1)), 0);
            ASSERT_TRUE(stored.ok());
            ASSERT_EQ(after(before, std::get<FilesChanged>(stored->at(0)).changes.at(0)), wanted);
        }
    }
}

TEST(FileChanges, OfALargeFileStaySmall) {
    std::string text(100'000, 'x');
    std::size_t stored = 0;
    constexpr std::size_t edits = 500;
    for (std::size_t i = 0; i < edits; ++i) {
        auto next = text;
        next.replace(i * 150, 5, "edit!");
        const Event event = FilesChanged{.attempt = "a", .changes = {change_of("/f", &text, &next)}};
        stored += encode(std::span(&event, 1)).size();
        text = std::move(next);
    }
    EXPECT_LT(stored, edits * 200);
}

}  // namespace
}  // namespace assent::journal
