// The program's own habit without a policy: tools that write or execute ask, tools that only read run;
// --ask, --allow and --deny say otherwise by name.
#pragma once

#include <assent/guard.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace assent::cli {

struct ToolNames {
    std::vector<std::string> ask;
    std::vector<std::string> allow;
    std::vector<std::string> deny;

    bool operator==(const ToolNames&) const = default;
};

class ProgramGuard final : public Guard {
public:
    explicit ProgramGuard(ToolNames names) : names_(std::move(names)) {}
    [[nodiscard]] std::string name() const override { return "program"; }
    /// Changes with the names, so that calls which wait are judged again when they do.
    [[nodiscard]] std::string version() const override;
    [[nodiscard]] bool can_ask() const override { return true; }
    [[nodiscard]] std::vector<std::string> tools_named() const override;
    /// All but what the user allows.
    [[nodiscard]] bool covers(std::string_view tool) const override;
    [[nodiscard]] Judgement judge(const GuardedCall& call) override;

private:
    ToolNames names_;
};

}  // namespace assent::cli
