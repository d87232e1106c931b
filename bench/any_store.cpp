#include "any_store.hpp"

#include <assent/postgres.hpp>
#include <assent/sqlite.hpp>

namespace bench {

std::unique_ptr<assent::Checkpointer> open_store(const std::string& address, int connections) {
    static const std::string sqlite = "sqlite:";
    if (address.starts_with(sqlite)) return std::make_unique<assent::SqliteCheckpointer>(address.substr(sqlite.size()));
    return std::make_unique<assent::PostgresCheckpointer>(address,
                                                          assent::PostgresOptions{.connections_max = connections});
}

}  // namespace bench
