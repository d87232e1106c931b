// Every store a test can run against. Those in PostgreSQL only in programs that are built with ASSENT_TEST_POSTGRES, a
// file with the address of a server: see assent_store_test.
#pragma once

#include <assent/memory.hpp>
#include <assent/sqlite.hpp>
#ifdef ASSENT_TEST_POSTGRES
#include <assent/postgres.hpp>
#endif

#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace assent::test {

/// A folder of its own below the system's temporary folder, gone with the object.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "assent-test-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = name;
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    const std::filesystem::path& path() const { return path_; }
    std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

/// `pooled` is PostgreSQL behind a pooler of transactions.
enum class StoreKind { memory, sqlite, postgres, pooled };

#ifdef ASSENT_TEST_POSTGRES
inline std::string postgres_url(StoreKind kind = StoreKind::postgres) {
    const bool pooled = kind == StoreKind::pooled;
    std::ifstream file(pooled ? ASSENT_TEST_POOLER : ASSENT_TEST_POSTGRES);
    std::string url;
    if (!std::getline(file, url)) {
        throw std::runtime_error(pooled ? "no pooler runs; tools/postgres-pooler starts one"
                                        : "no server runs; tools/postgres-server starts one");
    }
    return url;
}
/// Tables of its own for each folder.
inline PostgresOptions postgres_options(const TemporaryFolder& folder) {
    auto schema = folder.path().filename().string();
    for (auto& c : schema) c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return {.schema = schema, .sweep_ms = 0, .server_time = false};
}
inline std::vector<StoreKind> store_kinds() {
    return {StoreKind::memory, StoreKind::sqlite, StoreKind::postgres};
}
/// For what a store itself does.
inline std::vector<StoreKind> all_store_kinds() {
    return {StoreKind::memory, StoreKind::sqlite, StoreKind::postgres, StoreKind::pooled};
}
#else
inline std::vector<StoreKind> store_kinds() {
    return {StoreKind::memory, StoreKind::sqlite};
}
#endif

inline std::unique_ptr<Checkpointer> make_store(StoreKind kind, const TemporaryFolder& folder) {
#ifdef ASSENT_TEST_POSTGRES
    if (kind == StoreKind::postgres || kind == StoreKind::pooled)
        return std::make_unique<PostgresCheckpointer>(postgres_url(kind), postgres_options(folder));
#endif
    if (kind == StoreKind::memory) return std::make_unique<MemoryCheckpointer>();
    return std::make_unique<SqliteCheckpointer>(folder.file("test.db"));
}

inline std::string store_name(const testing::TestParamInfo<StoreKind>& kind) {
    switch (kind.param) {
        case StoreKind::memory:
            return "Memory";
        case StoreKind::sqlite:
            return "Sqlite";
        case StoreKind::postgres:
            return "Postgres";
        case StoreKind::pooled:
            break;
    }
    return "Pooled";
}

}  // namespace assent::test
