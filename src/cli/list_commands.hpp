#pragma once
#include "cli/context.hpp"
namespace assent::cli {
struct PendingOptions {
    std::string thread;
    std::string after;
    std::size_t limit = 100;
};
struct ShowOptions {
    std::string id;
    std::string thread;
};
inline int pending_command(Context& c, const PendingOptions& o) {
    (void)c.open_store();
    auto p = *c.approvals().pending(o.thread);
    for (auto& a : p) c.terminal.out(a.id + " " + a.tool + " " + a.arguments);
    return 0;
}
inline int show_command(Context&, const ShowOptions&) {
    return 0;
}
inline int threads_command(Context&) {
    return 0;
}
inline int history_command(Context& c, const std::string& t) {
    auto h = *c.approvals().history(t);
    for (auto& e : h) c.terminal.out(e.event);
    return 0;
}
}  // namespace assent::cli
