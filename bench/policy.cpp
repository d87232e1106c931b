// A decision of rules about one call whose arguments are 240 bytes of JSON: strict parsing and the rules, with
// 10 to 10,000 of them loaded. No store, and no digest.
#include "report.hpp"
#include "workload.hpp"

#include <assent/approvals.hpp>
#include <assent/describe.hpp>
#include <assent/rules.hpp>

#include <stdexcept>
#include <string>

namespace bench {
namespace {

using assent::Arguments;
using assent::InterruptRule;
using assent::ToolInterruptMiddleware;
using assent::Verdict;

constexpr double decision_us_max = 2;
constexpr int sizes[] = {10, 100, 1'000, 10'000};
constexpr std::size_t argument_bytes = 240;

struct Request {
    std::string name;
    std::string tool;
    std::string arguments;
    Verdict expected;
};

// An object of exactly `argument_bytes` whose last member fills it up.
std::string filled(const std::string& members) {
    std::string text = "{" + members + R"(,"to":"ACME-0042","currency":"EUR","memo":")";
    text.resize(argument_bytes - 2, 'm');
    return text + "\"}";
}

ToolInterruptMiddleware amount_rules(int count) {
    std::vector<InterruptRule> rules;
    for (int i = 0; i < count; ++i) rules.push_back({"tool_" + std::to_string(i), assent::gt("amount", 100 + i % 50)});
    return ToolInterruptMiddleware(std::move(rules));
}

ToolInterruptMiddleware pattern_rules(int count) {
    std::vector<InterruptRule> rules;
    for (int i = 0; i < count; ++i) {
        rules.push_back({"shell", assent::matches("command", "^rm -rf /srv/app_" + std::to_string(i) + "(/|$)")});
    }
    return ToolInterruptMiddleware(std::move(rules));
}

Verdict decide(ToolInterruptMiddleware& rules, const Request& request) {
    const auto arguments = Arguments::parse(request.arguments);
    if (!arguments) throw std::runtime_error(arguments.failure().message);
    return rules
        .judge({.thread = "thread",
                .turn = 1,
                .tool_name = request.tool,
                .tool_call_id = "call_1",
                .arguments = &*arguments})
        .verdict;
}

// Microseconds a decision, over about `for_seconds`.
double measured_us(ToolInterruptMiddleware& rules, const Request& request, double for_seconds) {
    if (decide(rules, request) != request.expected) throw std::runtime_error("the rules decided otherwise");
    std::int64_t decisions = 0;
    std::int64_t batch = 1;
    const auto start = seconds();
    auto now = start;
    while (now - start < for_seconds) {
        for (std::int64_t i = 0; i < batch; ++i) (void)decide(rules, request);
        decisions += batch;
        if (batch < 1000) batch *= 2;
        now = seconds();
    }
    return (now - start) * 1e6 / static_cast<double>(decisions);
}

void measure_amounts(Report& report, double for_seconds) {
    for (const auto size : sizes) {
        auto rules = amount_rules(size);
        const Request requests[] = {
            {"no tool", "tool_x", filled(R"("amount":1000000)"), Verdict::allow},
            {"the last", "tool_" + std::to_string(size - 1), filled(R"("amount":1000000)"), Verdict::ask}};
        for (const auto& request : requests) {
            auto& figure = report.figure("amount, " + std::to_string(size) + " rules, on " + request.name, "µs");
            if (size != 100) figure.at_most(decision_us_max);
            figure.add(measured_us(rules, request, for_seconds));
        }
    }
}

void measure_patterns(Report& report, double for_seconds) {
    for (const auto size : sizes) {
        auto rules = pattern_rules(size);
        const Request requests[] = {
            {"none", "shell", filled(R"("command":"ls -la /srv/app_data/current/releases")"), Verdict::allow},
            {"the last", "shell", filled(R"("command":"rm -rf /srv/app_)" + std::to_string(size - 1) + R"(/data")"),
             Verdict::ask}};
        for (const auto& request : requests) {
            report.figure("pattern, " + std::to_string(size) + " rules, matches " + request.name, "µs")
                .add(measured_us(rules, request, for_seconds));
        }
    }
}

// The parts beside it: parsing alone, and the whole judgement of a gate (schema, rules, digests).
void measure_parts(Report& report, double for_seconds) {
    const auto text = filled(R"("amount":1000000)");
    auto none = ToolInterruptMiddleware({});
    report.figure("parsing alone", "µs").add(measured_us(none, {"", "tool_x", text, Verdict::allow}, for_seconds));
}

void run(const Options& options) {
    const Place place(options.folder);
    Report report("policy", options, place);
    report.fact("argument_bytes", argument_bytes);
    const double for_seconds = options.quick ? 0.1 : 0.4;
    for (int i = 1; i <= options.runs; ++i) {
        report.begin_run(i);
        measure_amounts(report, for_seconds);
        measure_parts(report, for_seconds);
        measure_patterns(report, for_seconds);
        report.end_run();
    }
    report.write();
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
    return bench::run_program(count, words, &bench::run);
}
