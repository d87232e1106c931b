// The bundled demo: ordinary business files, no key, no network.
#pragma once

#include <string_view>

namespace assent::cli {

/// The name under which a thread records that it runs the demo's script.
inline constexpr std::string_view demo_model = "demo";

/// In the form of a script model.
extern const std::string_view demo_script;

/// Files that the demo makes before it starts, and what is in them.
struct DemoFile {
    std::string_view path;
    std::string_view text;
};
inline constexpr DemoFile demo_files[] = {
    {"orders.csv", "order,customer,amount\nA-1001,Lindqvist,120.00\nA-1002,Okafor,89.50\nA-1003,Moreau,240.00\n"},
    {"old-invoices/2019.txt", "Invoices of 2019. Keep until the end of 2029.\n"},
};
/// What the write proposes, and the folder that the command would remove.
inline constexpr std::string_view demo_report = "report.md";
inline constexpr std::string_view demo_folder = "old-invoices";

}  // namespace assent::cli
