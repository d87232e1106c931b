#include "cli/settings.hpp"

#include <gtest/gtest.h>

namespace assent::cli {
namespace {

TEST(RunSettings, AreReadAsTheyWereWritten) {
    RunSettings settings{.model = "script:a.json",
                         .base_url = "http://localhost:1",
                         .workspace = "/w",
                         .names = {.ask = {"a"}, .allow = {"b", "c"}, .deny = {"d"}},
                         .writable = {"/x"},
                         .max_turns = 3,
                         .max_calls = 4,
                         .use_by_ms = 5,
                         .lease_seconds = 6};
    EXPECT_EQ(RunSettings::read(settings.json())->json(), settings.json());
    settings.use_by_ms.reset();
    EXPECT_EQ(RunSettings::read(settings.json())->use_by_ms, std::nullopt);
    EXPECT_EQ(RunSettings::read(R"({"version":1})")->use_by_ms, RunSettings{}.use_by_ms);
}

TEST(RunSettings, AreNotReadInPart) {
    for (const auto* json : {"", "[]", "{}", R"({"version":2})", R"({"version":"1"})", R"({"version":1e0})"}) {
        const auto read = RunSettings::read(json);
        ASSERT_FALSE(read.ok()) << json;
        EXPECT_EQ(read.failure().message,
                  "the thread was not made by this program; resume it with the program that made it");
    }
    for (const auto* member :
         {R"("use_by_ms":"5")", R"("use_by_ms":5e300)", R"("use_by_ms":5.5)", R"("max_turns":99999999999)",
          R"("max_calls":null)", R"("lease_seconds":true)", R"("model":5)", R"("deny":"shell")", R"("deny":[5])"}) {
        const auto read = RunSettings::read(std::string(R"({"version":1,)") + member + "}");
        ASSERT_FALSE(read.ok()) << member;
        EXPECT_EQ(
            read.failure().message,
            "what the thread runs with cannot be read; the database is damaged or was written by a newer version");
    }
}

}  // namespace
}  // namespace assent::cli
