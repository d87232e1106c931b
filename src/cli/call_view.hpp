#pragma once
#include <assent/approval.hpp>
#include "cli/terminal.hpp"
namespace assent::cli {
struct ViewOptions {};
inline std::string call_view(const Approval& a, const Terminal&, const ViewOptions& = {}) {
    return a.id + " " + a.tool + " " + a.arguments;
}
}  // namespace assent::cli
