#include "cli/demo_script.hpp"

namespace assent::cli {

const std::string_view demo_script = R"json({"turns": [
  {"text": "I will look at the orders first.",
   "calls": [{"id": "call_1", "name": "read_file", "arguments": {"file_path": "orders.csv"}}]},
  {"text": "I will write the report and tidy up the old invoices.",
   "calls": [
     {"id": "call_2", "name": "write_file", "arguments": {"file_path": "report.md", "content": "# Orders of the week\n\n| order | amount |\n|---|---|\n| A-1001 | 120.00 |\n| A-1002 | 89.50 |\n| A-1003 | 240.00 |\n\nTotal: 449.50\n"}},
     {"id": "call_3", "name": "shell", "arguments": {"command": "rm -r old-invoices"}}]},
  {"text": "That is all. I did only what you allowed; whatever you denied did not happen."}
]})json";

}  // namespace assent::cli
