// Time, randomness, guards and tools that a test holds in its hands.
#pragma once

#include <assent/clock.hpp>
#include <assent/guard.hpp>
#include <assent/tool.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace assent::test {

/// Stands still unless the test moves it.
class FakeClock final : public Clock {
public:
    UnixMillis now() const override { return now_; }
    std::int64_t monotonic() const override { return monotonic_; }
    void pass(std::int64_t milliseconds) {
        now_ += milliseconds;
        monotonic_ += milliseconds;
    }

private:
    UnixMillis now_ = 1'796'000'000'000;
    std::int64_t monotonic_ = 1'000'000;
};

/// The same numbers for the same seed.
class FakeRandom final : public Random {
public:
    explicit FakeRandom(std::uint64_t seed = 1) : state_(seed) {}
    void fill(std::span<std::uint8_t> bytes) override {
        for (auto& byte : bytes) {
            state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
            byte = static_cast<std::uint8_t>(state_ >> 56);
        }
    }

private:
    std::uint64_t state_;
};

/// The same for several threads at once; which of them gets which is chance.
class SharedRandom final : public Random {
public:
    explicit SharedRandom(std::uint64_t seed = 1) : numbers_(seed) {}
    void fill(std::span<std::uint8_t> bytes) override {
        const std::lock_guard lock(mutex_);
        numbers_.fill(bytes);
    }

private:
    std::mutex mutex_;
    FakeRandom numbers_;
};

/// Says what the test wants for each tool; allows what it was not told of.
class FakeGuard final : public Guard {
public:
    explicit FakeGuard(std::string name = "fake") : name_(std::move(name)) {}
    std::string name() const override { return name_; }
    std::string version() const override { return version_; }
    bool can_ask() const override { return true; }
    Judgement judge(const GuardedCall& call) override {
        ++judged;
        if (throws) throw std::runtime_error("out of order");
        const auto found = verdicts.find(std::string(call.tool_name));
        Judgement judgement{.verdict = found == verdicts.end() ? Verdict::allow : found->second, .reason = reason};
        if (judgement.verdict == Verdict::ask) judgement.question = question;
        return judgement;
    }

    std::map<std::string, Verdict> verdicts;
    Question question;
    std::string reason;
    std::string version_ = "1";
    bool throws = false;
    int judged = 0;

private:
    std::string name_;
};

/// Remembers what it was run with.
class FakeTool final : public Tool {
public:
    explicit FakeTool(ToolSpec spec, std::function<ToolResult(const ApprovedCall&)> body = {})
        : Tool(std::move(spec)), body_(std::move(body)) {}
    std::vector<std::string> runs;
    std::vector<std::string> keys;

private:
    ToolResult run(const ApprovedCall& call) override {
        runs.push_back(call.arguments().text());
        keys.emplace_back(call.idempotency_key());
        return body_ ? body_(call) : ToolResult{.text = "ok " + spec().name};
    }
    std::function<ToolResult(const ApprovedCall&)> body_;
};

inline std::shared_ptr<FakeTool> fake_tool(const std::string& name) {
    return std::make_shared<FakeTool>(ToolSpec{.name = name, .description = "a tool of the test"});
}

}  // namespace assent::test
