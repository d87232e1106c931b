// Every store a test can run against.
#pragma once

#include <assent/memory.hpp>
#include <assent/sqlite.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

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

enum class StoreKind { memory, sqlite };

inline std::unique_ptr<Checkpointer> make_store(StoreKind kind, const TemporaryFolder& folder) {
    if (kind == StoreKind::memory) return std::make_unique<MemoryCheckpointer>();
    return std::make_unique<SqliteCheckpointer>(folder.file("test.db"));
}

inline std::string store_name(const testing::TestParamInfo<StoreKind>& kind) {
    return kind.param == StoreKind::memory ? "Memory" : "Sqlite";
}

}  // namespace assent::test
