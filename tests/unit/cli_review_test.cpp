// A person at a pseudo-terminal: what counts as a decision, and what never does.
#include "base/unique_fd.hpp"
#include "cli/review.hpp"
#include "support/stores.hpp"

#include <assent/arguments.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <poll.h>
#include <pty.h>
#include <sys/eventfd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <future>

namespace assent::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int patience_ms = 20'000;

// A terminal with a person before it, and a review on it.
class Seat {
public:
    Seat() {
        int person = -1;
        int program = -1;
        winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
        if (openpty(&person, &program, nullptr, nullptr, &size) != 0) throw std::runtime_error("no terminal");
        person_.reset(person);
        program_.reset(program);
        wake_.reset(eventfd(0, EFD_CLOEXEC));
        terminal_ = Terminal({.in = program, .out = program, .err = program});
    }
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;
    ~Seat() {
        if (outcome_.valid()) interrupt();
    }

    const Terminal& terminal() const { return terminal_; }
    void begin(const Approval& approval, int dead_time_ms = 0) {
        ReviewOptions options{.wake_fd = wake_.get(), .editor_folder = folder_.path(), .dead_time_ms = dead_time_ms};
        outcome_ =
            std::async(std::launch::async, [this, approval, options] { return review(approval, terminal_, options); });
    }
    void type(std::string_view keys) {
        ASSERT_EQ(write(person_.get(), keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
    }
    // Types once the program has shown `text` after what was seen before.
    void type_after(const std::string& text, std::string_view keys) {
        ASSERT_TRUE(see(text)) << "not shown: " << text << "\nseen:\n" << screen_;
        type(keys);
    }
    bool see(const std::string& text) {
        while (true) {
            const auto found = screen_.find(text, seen_);
            if (found != std::string::npos) {
                seen_ = found + text.size();
                return true;
            }
            pollfd wait{.fd = person_.get(), .events = POLLIN, .revents = 0};
            if (poll(&wait, 1, patience_ms) <= 0) return false;
            std::array<char, 4096> buffer{};
            const auto got = read(person_.get(), buffer.data(), buffer.size());
            if (got <= 0) return false;
            screen_.append(buffer.data(), static_cast<std::size_t>(got));
        }
    }
    void interrupt() { ASSERT_EQ(eventfd_write(wake_.get(), 1), 0); }
    ReviewOutcome outcome() {
        if (outcome_.wait_for(std::chrono::milliseconds(patience_ms)) != std::future_status::ready) {
            ADD_FAILURE() << "the review does not end; seen:\n" << screen_;
            interrupt();
        }
        return outcome_.get();
    }
    Decision decision() {
        auto ended = outcome();
        if (auto* decision = std::get_if<Decision>(&ended)) return *decision;
        ADD_FAILURE() << "no decision; seen:\n" << screen_;
        return {};
    }
    void hang_up() { person_.reset(); }
    const std::string& screen() const { return screen_; }
    const test::TemporaryFolder& folder() const { return folder_; }

private:
    test::TemporaryFolder folder_;
    UniqueFd person_, program_, wake_;
    Terminal terminal_;
    std::string screen_;
    std::size_t seen_ = 0;
    std::future<ReviewOutcome> outcome_;
};

class CliReview : public testing::Test {
protected:
    CliReview() {
        unsetenv("VISUAL");
        unsetenv("EDITOR");
        approval_ = {.id = "1k3f9",
                     .thread = "t",
                     .turn = 1,
                     .tool = "pay",
                     .arguments = R"({"to": "bob", "amount": 1.50})",
                     .digest = std::string(64, 'd'),
                     .guard = "program"};
    }
    ~CliReview() override {
        unsetenv("VISUAL");
        unsetenv("EDITOR");
    }

    // An editor that runs this shell script on the file.
    void set_editor(const std::string& script) {
        const auto path = seat_.folder().file("editor.sh");
        std::ofstream(path) << script;
        setenv("EDITOR", ("sh " + path).c_str(), 1);
    }
    std::size_t files_left() const {
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::directory_iterator(seat_.folder().path()))
            count += entry.is_directory() ? 1 : 0;
        return count;
    }
    Decision with_digest(Decision decision) const {
        decision.digest = approval_.digest;
        return decision;
    }

    Seat seat_;
    Approval approval_;
};

TEST_F(CliReview, WholeWordsAndTheirBeginningsDecide) {
    for (const auto* word : {"approve\n", "a\n", "  APProve \n"}) {
        Seat seat;
        seat.begin(approval_);
        seat.type_after("> ", word);
        EXPECT_EQ(seat.decision(), with_digest(approve())) << word;
        EXPECT_THAT(seat.screen(), HasSubstr("1k3f9 pay [approve, deny, edit, respond, later, view, ?]> "));
    }
}

TEST_F(CliReview, OtherWordsDecideNothing) {
    seat_.begin(approval_);
    for (const auto* word : {"yes\n", "y\n", "\n", "approve it\n", "aa\n", "approved\n", "done\n", "1\n"}) {
        seat_.type_after("> ", word);
        ASSERT_TRUE(seat_.see("Nothing is decided.")) << word;
    }
    seat_.type_after("> ", "later\n");
    EXPECT_EQ(seat_.outcome(), ReviewOutcome(ReviewLater{}));
}

TEST_F(CliReview, DenyTakesAReason) {
    seat_.begin(approval_);
    seat_.type_after("> ", "deny\n");
    seat_.type_after("(may be empty): ", "too much\n");
    EXPECT_EQ(seat_.decision(), with_digest(deny("too much")));
}

TEST_F(CliReview, DenyTakesNoReasonToo) {
    seat_.begin(approval_);
    seat_.type_after("> ", "d\n");
    seat_.type_after("(may be empty): ", "\n");
    EXPECT_EQ(seat_.decision(), with_digest(deny()));
}

TEST_F(CliReview, RespondTakesATextAndNothingWithoutOne) {
    seat_.begin(approval_);
    seat_.type_after("> ", "respond\n");
    seat_.type_after("(one line): ", "\n");
    ASSERT_TRUE(seat_.see("No text, so nothing is decided."));
    seat_.type_after("> ", "r\n");
    seat_.type_after("(one line): ", "paid by hand\n");
    EXPECT_EQ(seat_.decision(), with_digest(respond("paid by hand")));
}

TEST_F(CliReview, WhatWasTypedBeforeTheQuestionIsThrownAway) {
    seat_.type("approve\napprove\nappro");
    seat_.begin(approval_);
    ASSERT_TRUE(seat_.see("]> "));
    seat_.type("deny\n");
    seat_.type_after("(may be empty): ", "no\n");
    EXPECT_EQ(seat_.decision(), with_digest(deny("no")));
}

TEST_F(CliReview, KeysOnTheirWayDuringTheDeadTimeAreThrownAway) {
    seat_.begin(approval_, 300);
    seat_.type_after("You may answer: ", "approve\n");
    seat_.type_after("]> ", "l\n");
    EXPECT_EQ(seat_.outcome(), ReviewOutcome(ReviewLater{}));
}

TEST_F(CliReview, AfterAWrongWordTheRestOfAPasteDoesNotDecide) {
    seat_.begin(approval_);
    seat_.type_after("> ", "hello\napprove\n");
    ASSERT_TRUE(seat_.see("Nothing is decided."));
    seat_.type_after("> ", "later\n");
    EXPECT_EQ(seat_.outcome(), ReviewOutcome(ReviewLater{}));
}

TEST_F(CliReview, TheEndOfInputLeavesItOpen) {
    seat_.begin(approval_);
    seat_.type_after("> ", "\x04");
    EXPECT_EQ(seat_.outcome(), ReviewOutcome(ReviewLater{.input_ended = true}));
}

TEST_F(CliReview, HalfALineAndTheEndOfInputLeaveItOpen) {
    seat_.begin(approval_);
    seat_.type_after("> ", "approve\x04\x04");
    EXPECT_EQ(seat_.outcome(), ReviewOutcome(ReviewLater{.input_ended = true}));
}

TEST_F(CliReview, TheEndOfInputInsteadOfAReasonLeavesItOpen) {
    seat_.begin(approval_);
    seat_.type_after("> ", "deny\n");
    seat_.type_after("(may be empty): ", "\x04");
    EXPECT_EQ(seat_.outcome(), ReviewOutcome(ReviewLater{.input_ended = true}));
}

TEST_F(CliReview, AClosedTerminalLeavesItOpen) {
    seat_.begin(approval_);
    ASSERT_TRUE(seat_.see("> "));
    seat_.hang_up();
    EXPECT_EQ(seat_.outcome(), ReviewOutcome(ReviewLater{.input_ended = true}));
}

TEST_F(CliReview, ASignalLeavesItOpen) {
    seat_.begin(approval_);
    ASSERT_TRUE(seat_.see("> "));
    seat_.interrupt();
    EXPECT_EQ(seat_.outcome(), ReviewOutcome(ReviewInterrupted{}));
}

TEST_F(CliReview, ASignalDuringTheDeadTimeOrAReasonLeavesItOpen) {
    seat_.begin(approval_, patience_ms);
    ASSERT_TRUE(seat_.see("You may answer"));
    seat_.interrupt();
    EXPECT_EQ(seat_.outcome(), ReviewOutcome(ReviewInterrupted{}));
    Seat seat;
    seat.begin(approval_);
    seat.type_after("> ", "deny\n");
    ASSERT_TRUE(seat.see("(may be empty): "));
    seat.interrupt();
    EXPECT_EQ(seat.outcome(), ReviewOutcome(ReviewInterrupted{}));
}

TEST_F(CliReview, OnlyAllowedDecisionsAreOffered) {
    approval_.question.allowed = {DecisionKind::approve, DecisionKind::deny};
    seat_.begin(approval_);
    seat_.type_after("[approve, deny, later, view, ?]> ", "edit\n");
    ASSERT_TRUE(seat_.see("Nothing is decided."));
    seat_.type_after("> ", "?\n");
    ASSERT_TRUE(seat_.see("decide nothing now"));
    EXPECT_THAT(seat_.screen(), Not(HasSubstr("respond")));
    seat_.type_after("> ", "a\n");
    EXPECT_EQ(seat_.decision(), with_digest(approve()));
}

TEST_F(CliReview, ViewShowsItAgainWithTheWholeDigest) {
    seat_.begin(approval_);
    seat_.type_after("> ", "v\n");
    ASSERT_TRUE(seat_.see(approval_.digest));
    ASSERT_TRUE(seat_.see("Exact arguments"));
    seat_.type_after("> ", "l\n");
    EXPECT_EQ(seat_.outcome(), ReviewOutcome(ReviewLater{}));
}

TEST_F(CliReview, AnEditIsShownAndConfirmed) {
    set_editor("stat -c %a \"$1\" > \"$(dirname \"$0\")/mode\"; sed -i 's/1\\.50/2.50/' \"$1\"\n");
    seat_.begin(approval_);
    seat_.type_after("> ", "edit\n");
    ASSERT_TRUE(seat_.see("-1.50"));
    ASSERT_TRUE(seat_.see("+2.50"));
    seat_.type_after("Use these arguments? [yes, no]> ", "yes\n");
    const auto decision = seat_.decision();
    EXPECT_EQ(decision, with_digest(edit(R"({"to":"bob","amount":2.50})")));
    EXPECT_EQ(files_left(), 0U);
    std::string mode;
    std::ifstream(seat_.folder().file("mode")) >> mode;
    EXPECT_EQ(mode, "600");
}

TEST_F(CliReview, AnEditThatIsNotConfirmedDecidesNothingAndIsKept) {
    set_editor("cat \"$1\" >> \"$(dirname \"$0\")/seen\"; sed -i 's/bob/carol/' \"$1\"\n");
    seat_.begin(approval_);
    seat_.type_after("> ", "edit\n");
    seat_.type_after("Use these arguments? [yes, no]> ", "no\n");
    ASSERT_TRUE(seat_.see("Nothing is decided."));
    seat_.type_after("> ", "e\n");
    seat_.type_after("Use these arguments? [yes, no]> ", "y\n");
    EXPECT_EQ(seat_.decision(), with_digest(edit(R"({"to":"carol","amount":1.50})")));
    std::ifstream file(seat_.folder().file("seen"));
    const std::string seen{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(seen, "{\n  \"to\": \"bob\",\n  \"amount\": 1.50\n}\n{\n  \"to\": \"carol\",\n  \"amount\": 1.50\n}\n");
}

TEST_F(CliReview, InvalidJsonIsToldAndAskedAgain) {
    set_editor(
        "if test -e \"$0.again\"; then echo '{\"to\": \"eve\"}' > \"$1\"; else echo '{\"to\": }' > \"$1\"; touch "
        "\"$0.again\"; fi\n");
    seat_.begin(approval_);
    seat_.type_after("> ", "edit\n");
    ASSERT_TRUE(seat_.see("The arguments cannot be used: "));
    seat_.type_after("> ", "edit\n");
    ASSERT_TRUE(seat_.see("amount: (removed)"));
    seat_.type_after("Use these arguments? [yes, no]> ", "yes\n");
    EXPECT_EQ(seat_.decision(), with_digest(edit(R"({"to":"eve"})")));
}

TEST_F(CliReview, AnEditorThatFailsOrChangesNothingDecidesNothing) {
    set_editor("sed -i 's/bob/eve/' \"$1\"; exit 3\n");
    seat_.begin(approval_);
    seat_.type_after("> ", "edit\n");
    ASSERT_TRUE(seat_.see("ended with a failure"));
    set_editor("true\n");
    seat_.type_after("]> ", "edit\n");
    ASSERT_TRUE(seat_.see("Nothing is changed."));
    seat_.type_after("]> ", "a\n");
    EXPECT_EQ(seat_.decision(), with_digest(approve()));
    EXPECT_EQ(files_left(), 0U);
}

TEST_F(CliReview, ASignalEndsTheEditorAndLeavesItOpen) {
    set_editor("echo ready > /dev/tty 2>&1 || echo ready; exec sleep 60\n");
    seat_.begin(approval_);
    seat_.type_after("> ", "edit\n");
    ASSERT_TRUE(seat_.see("ready"));
    seat_.interrupt();
    EXPECT_EQ(seat_.outcome(), ReviewOutcome(ReviewInterrupted{}));
    EXPECT_EQ(files_left(), 0U);
}

TEST_F(CliReview, WithoutAnEditorALineOfJsonIsTaken) {
    seat_.begin(approval_);
    seat_.type_after("> ", "edit\n");
    seat_.type_after("(empty: back): ", "{\"to\": \"bob\", \"to\": \"eve\"}\n");
    ASSERT_TRUE(seat_.see("The arguments cannot be used: "));
    seat_.type_after("]> ", "edit\n");
    seat_.type_after("(empty: back): ", "\n");
    ASSERT_TRUE(seat_.see("Nothing is changed."));
    seat_.type_after("]> ", "edit\n");
    seat_.type_after("(empty: back): ", "{\"to\": \"eve\", \"amount\": 1.500}\n");
    seat_.type_after("[yes, no]> ", "maybe\n");
    seat_.type_after("[yes, no]> ", "yes\n");
    EXPECT_EQ(seat_.decision(), with_digest(edit(R"({"to":"eve","amount":1.50})")));
}

TEST_F(CliReview, WhereEditsLayKeysOverWhatWasLeftOutStays) {
    approval_.question.style = assent::Style::rules;
    seat_.begin(approval_);
    seat_.type_after("> ", "edit\n");
    seat_.type_after("(empty: back): ", "{\"amount\": 2}\n");
    seat_.type_after("[yes, no]> ", "yes\n");
    EXPECT_EQ(seat_.decision(), with_digest(edit(R"({"amount":2})")));
    EXPECT_THAT(seat_.screen(), Not(HasSubstr("(removed)")));
}

TEST_F(CliReview, ALineThatTheTerminalCutsIsNotUsed) {
    seat_.begin(approval_);
    seat_.type_after("> ", "deny\n");
    ASSERT_TRUE(seat_.see("(may be empty): "));
    // The terminal echoes each piece, so that none is lost on its way.
    for (int i = 0; i < 50; ++i) {
        seat_.type(std::string(100, 'x'));
        if (i < 40) {
            ASSERT_TRUE(seat_.see(std::string(100, 'x')));
        }
    }
    seat_.type("\n");
    ASSERT_TRUE(seat_.see("The terminal cuts so long a line"));
    seat_.type_after("]> ", "l\n");
    EXPECT_EQ(seat_.outcome(), ReviewOutcome(ReviewLater{}));
}

TEST_F(CliReview, ALongerResultComesFromTheEditor) {
    set_editor("printf 'first\\nsecond\\n' > \"$1\"\n");
    seat_.begin(approval_);
    seat_.type_after("> ", "respond\n");
    seat_.type_after("in your editor): ", "\n");
    ASSERT_TRUE(seat_.see("│ second"));
    seat_.type_after("Give it? [yes, no]> ", "yes\n");
    EXPECT_EQ(seat_.decision(), with_digest(respond("first\nsecond")));
}

TEST_F(CliReview, AnUnknownOutcomeIsResolved) {
    approval_.kind = ApprovalKind::unknown;
    seat_.begin(approval_);
    seat_.type_after("[done, retry, fail, later, view, ?]> ", "approve\n");
    ASSERT_TRUE(seat_.see("Nothing is decided."));
    seat_.type_after("]> ", "retry\n");
    seat_.type_after("[yes, no]> ", "no\n");
    seat_.type_after("]> ", "d\n");
    seat_.type_after("(may be empty): ", "it is there\n");
    EXPECT_EQ(seat_.outcome(), ReviewOutcome(ReviewResolution{.how = Resolution::done, .text = "it is there"}));
    for (const auto how : {Resolution::retry, Resolution::fail}) {
        Seat seat;
        seat.begin(approval_);
        seat.type_after("]> ", std::string(to_string(how)) + "\n");
        seat.type_after(how == Resolution::retry ? "[yes, no]> " : "(may be empty): ",
                        how == Resolution::retry ? "yes\n" : "\n");
        EXPECT_EQ(seat.outcome(), ReviewOutcome(ReviewResolution{.how = how}));
    }
}

}  // namespace
}  // namespace assent::cli
