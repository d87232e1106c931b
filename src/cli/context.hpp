// What every command needs: the terminal, the store, and who is asking.
#pragma once

#include "cli/terminal.hpp"

#include <assent/approvals.hpp>
#include <assent/checkpointer.hpp>

#include <filesystem>
#include <memory>
#include <string>

namespace assent::cli {

/// Folders of the user's own, by the XDG rules.
[[nodiscard]] std::filesystem::path home_folder();
[[nodiscard]] std::filesystem::path state_folder();
[[nodiscard]] std::filesystem::path config_folder();
/// The signed-in user and how: "terminal" with a terminal, else "process".
[[nodiscard]] Reviewer current_user();

/// `text` as one word of a shell's line, in quotes if it needs them.
[[nodiscard]] std::string shell_word(const std::string& text);

class Context {
public:
    Terminal terminal;
    std::string db_url;      ///< As given; empty: the default.
    int lease_seconds = 10;  ///< How long others wait for this process when it gives no sign; on a server.

    /// Opens the store of `--db` unless it is open. Failure kinds usage and database.
    Result<void> open_store();
    /// Finds out which database `--db` names, without touching it. Failure kind usage.
    Result<void> locate_store();
    /// A store that ends with the program, although `--db` names another.
    void keep_nothing();
    [[nodiscard]] Checkpointer& store() const { return *store_; }
    [[nodiscard]] Approvals approvals() const { return Approvals(*store_); }
    /// The store's time, once it is open.
    [[nodiscard]] UnixMillis now() const { return store_->clock().now(); }
    /// Which tables the database has, once located.
    [[nodiscard]] Result<StoreFormat> format() const;
    /// The database as people may see it, once located.
    [[nodiscard]] std::string shown_db() const;
    /// The address of a PostgreSQL database, with its password; empty for another.
    [[nodiscard]] std::string postgres_url() const;
    /// The database's file, absolute, once located; empty for memory and servers.
    [[nodiscard]] const std::filesystem::path& db_path() const noexcept { return db_path_; }
    /// Where receipts of commands are kept: beside the database, whatever link led to it; of a server in the
    /// state folder.
    [[nodiscard]] std::filesystem::path receipts_path() const;
    /// What a user types after `assent` to reach the same database; empty for the default. Without a password.
    [[nodiscard]] std::string db_option() const;
    /// False if the database ends with the program.
    [[nodiscard]] bool durable() const noexcept { return durable_; }

private:
    std::unique_ptr<Checkpointer> store_;
    bool read_only_ = false;
    bool durable_ = true;
    std::filesystem::path db_path_;
};

}  // namespace assent::cli
