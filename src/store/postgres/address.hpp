// The address of a PostgreSQL database, and what in it nobody else may see.
#pragma once

#include <assent/postgres.hpp>

#include <string>
#include <string_view>

namespace assent::postgres {

/// Whether this is meant as the address of a PostgreSQL database.
[[nodiscard]] bool is_address(std::string_view text) noexcept;

struct Address {
    std::string url;  ///< For libpq.
    PostgresOptions options;
};

/// `options` with what the address says besides libpq's own parameters. Failure kind `usage`; it quotes nothing of
/// the address.
Result<Address> read_address(std::string_view text, PostgresOptions options);

/// The address without passwords, for people and logs.
[[nodiscard]] std::string without_passwords(std::string_view address);

/// Overwrites the passwords in an argument of the program, which everybody on the machine can read.
void overwrite_passwords(char* argument) noexcept;

}  // namespace assent::postgres
