#include "cli/context.hpp"

#include "store/postgres/address.hpp"

#include <assent/memory.hpp>
#include <assent/postgres.hpp>
#include <assent/sqlite.hpp>

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace assent::cli {
namespace {

namespace fs = std::filesystem;

}  // namespace

fs::path home_folder() {
    if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') return home;
    const auto* user = getpwuid(geteuid());
    return user != nullptr && user->pw_dir != nullptr ? user->pw_dir : "/";
}

namespace {

fs::path xdg(const char* variable, const char* below_home) {
    const char* set = std::getenv(variable);
    const fs::path base = set != nullptr && *set == '/' ? fs::path(set) : home_folder() / below_home;
    return base / "assent";
}

// The state folder is nobody else's business: it is made for its owner alone, and one that was opened to
// others is closed again.
Result<void> make_private_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder.parent_path(), error);
    if (mkdir(folder.c_str(), S_IRWXU) == 0) return {};
    if (errno != EEXIST) {
        return Failure{FailureKind::database,
                       "the folder " + folder.string() + " cannot be made; check its parent's permissions"};
    }
    struct stat facts{};
    const bool others = stat(folder.c_str(), &facts) == 0 && (facts.st_mode & (S_IRWXG | S_IRWXO)) != 0;
    if (others && chmod(folder.c_str(), S_IRWXU) != 0) {
        return Failure{FailureKind::database, "others may enter the folder " + folder.string() +
                                                  ", which holds who decided what; make it your own with mode 0700"};
    }
    return {};
}

}  // namespace

fs::path state_folder() {
    return xdg("XDG_STATE_HOME", ".local/state");
}
fs::path config_folder() {
    return xdg("XDG_CONFIG_HOME", ".config");
}

Reviewer current_user() {
    const auto* user = getpwuid(geteuid());
    return {.name = user != nullptr ? user->pw_name : std::to_string(geteuid()),
            .signed_in = isatty(STDIN_FILENO) == 1 ? "terminal" : "process"};
}

Result<void> Context::locate_store() {
    if (db_url == "memory:") return {};
    if (postgres::is_address(db_url)) {
        auto address = postgres::read_address(db_url, {});
        return address ? Result<void>() : address.failure();
    }
    constexpr std::string_view scheme = "sqlite:";
    if (!db_url.empty() && (!db_url.starts_with(scheme) || db_url == scheme)) {
        return Failure{FailureKind::usage, "--db takes sqlite:PATH, postgresql://… or memory:, not " + db_url};
    }
    auto path = db_url.empty() ? (state_folder() / "assent.db").string() : db_url.substr(scheme.size());
    constexpr std::string_view read_only = "?mode=ro";
    if (!db_url.empty() && path.ends_with(read_only)) {
        read_only_ = true;
        path.resize(path.size() - read_only.size());
    }
    if (!db_url.empty() && path.contains('?')) {
        return Failure{FailureKind::usage, "the only setting a database takes is ?mode=ro, not " + db_url};
    }
    std::error_code error;
    db_path_ = fs::absolute(path, error);
    return {};
}

Result<void> Context::open_store() {
    if (store_ != nullptr) return {};
    if (auto located = locate_store(); !located) return located;
    const auto server = postgres_url();
    if (db_path_.empty() && server.empty()) {
        keep_nothing();
        return {};
    }
    // Of a server the receipts of commands are kept there.
    if (db_url.empty() || !server.empty()) {
        if (auto made = make_private_folder(state_folder()); !made) return made;
    }
    if (!server.empty()) {
        auto connected = PostgresCheckpointer::open(server, {.lease_ms = std::int64_t{lease_seconds} * 1000});
        if (!connected) return connected.failure();
        store_ = std::move(connected).value();
        return {};
    }
    auto opened = SqliteCheckpointer::open(db_path_.string(), {.read_only = read_only_});
    if (!opened) return opened.failure();
    store_ = std::move(opened).value();
    return {};
}

void Context::keep_nothing() {
    store_ = std::make_unique<MemoryCheckpointer>();
    durable_ = false;
}

Result<StoreFormat> Context::format() const {
    if (!db_path_.empty()) return SqliteCheckpointer::format(db_path_.string());
    if (const auto server = postgres_url(); !server.empty()) return PostgresCheckpointer::format(server);
    return Failure{FailureKind::usage, "a database in memory is new each time; name another with --db"};
}

std::string Context::shown_db() const {
    if (!db_path_.empty()) return db_path_.string();
    return postgres::without_passwords(db_url);
}

std::string Context::postgres_url() const {
    return postgres::is_address(db_url) ? db_url : std::string();
}

std::filesystem::path Context::receipts_path() const {
    if (db_path_.empty()) return state_folder() / "receipts";
    std::error_code error;
    auto path = fs::weakly_canonical(db_path_, error);
    return path += "-receipts";
}

std::string Context::db_option() const {
    return db_url.empty() ? std::string() : " --db " + shell_word(postgres::without_passwords(db_url));
}

std::string shell_word(const std::string& text) {
    const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    const bool harmless = std::all_of(text.begin(), text.end(),
                                      [&](char c) { return plain(c) || std::string_view("-./:@%+=,").contains(c); });
    if (harmless && !text.empty()) return text;
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

}  // namespace assent::cli
