// Stands for somebody else's program until there is an example to build.
#include <assent/arguments.hpp>

#include <iostream>

int main() {
    const auto arguments = assent::Arguments::parse(R"({"amount": 12.50})");
    if (!arguments.ok() || assent::Arguments::parse("[1]").ok()) return 1;
    std::cout << arguments->sha256() << "\n";
    return 0;
}
