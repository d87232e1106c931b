// Stands for somebody else's program that talks to a model service.
#include <assent/model.hpp>

#include <iostream>

int main() {
    const auto model = assent::openai_model({.model = "m", .base_url = "http://127.0.0.1:1"});
    if (!model.ok() || model.value()->name() != "openai:m") return 1;
    assent::ServiceOptions options;
    options.model = "m";
    options.base_url = "not an address";
    options.key = [] { return std::string("key"); };
    if (assent::anthropic_model(options).ok()) return 1;
    std::cout << model.value()->name() << "\n";
    return 0;
}
