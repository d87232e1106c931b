// A store by its address, as the program takes it.
#pragma once

#include <assent/checkpointer.hpp>

#include <memory>
#include <string>

namespace bench {

/// `address`: sqlite:PATH or postgresql://…; `connections`: at most so many to a server. Throws std::runtime_error.
[[nodiscard]] std::unique_ptr<assent::Checkpointer> open_store(const std::string& address, int connections = 8);

}  // namespace bench
