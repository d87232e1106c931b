#include "store/postgres/server_clock.hpp"

#include "store/postgres/connection.hpp"

namespace assent::postgres {
namespace {

constexpr const char* select_clock = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";

}  // namespace

UnixMillis ServerClock::now() const {
    return known_ ? monotonic() + ahead_ : system_clock().now();
}

void ServerClock::ask(Connection& connection) {
    const auto before = monotonic();
    const auto server_time = connection.run(select_clock).integer(0, 0);
    const auto after = monotonic();
    ahead_ = server_time - (before + (after - before) / 2);
    known_ = true;
}

}  // namespace assent::postgres
