#include "cli/closed_places.hpp"

#include "base/real_places.hpp"
#include "exec/process.hpp"

#include <assent/sqlite.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace assent::cli {
namespace {

namespace fs = std::filesystem;

// As many as the kernel follows.
constexpr int links_max = 40;

// Whether a name on the way to `path` lies in `folder`: a link there could be made to lead elsewhere.
bool leads_through(const fs::path& folder, const fs::path& path, int links_left = links_max) {
    fs::path way;
    for (const auto& part : path) {
        way /= part;
        for (const auto& place : real_places({way.string()})) {
            if (lies_in(place, folder.string())) return true;
        }
        std::error_code error;
        if (!fs::is_symlink(way, error)) continue;
        const auto target = fs::read_symlink(way, error);
        if (!error && links_left > 0 && leads_through(folder, way.parent_path() / target, links_left - 1)) return true;
    }
    return false;
}

// Where a client of PostgreSQL finds passwords: whoever reads them decides for a person.
std::vector<std::string> password_files() {
    std::vector<std::string> files;
    for (const auto& [variable, below_home] :
         {std::pair("PGPASSFILE", ".pgpass"), std::pair("PGSERVICEFILE", ".pg_service.conf")}) {
        const char* set = std::getenv(variable);
        files.push_back(set != nullptr && *set == '/' ? std::string(set) : (home_folder() / below_home).string());
    }
    return files;
}

}  // namespace

std::vector<std::string> closed_paths(const Context& context) {
    std::vector<std::string> paths{state_folder().string(), config_folder().string()};
    if (!context.postgres_url().empty()) {
        const auto secrets = password_files();
        paths.insert(paths.end(), secrets.begin(), secrets.end());
    }
    if (context.db_path().empty()) return paths;
    const auto files = SqliteCheckpointer::files(context.db_path().string());
    paths.insert(paths.end(), files.begin(), files.end());
    paths.push_back(context.receipts_path().string());
    return paths;
}

Result<void> check_outside(const Context& context, const fs::path& folder) {
    const auto refuse = [&](const std::string& how, const fs::path& what) {
        return Failure{FailureKind::usage,
                       "the folder " + folder.string() + how + what.string() + "; let the agent work in another"};
    };
    const std::pair<const char*, fs::path> folders[] = {{"state folder", state_folder()},
                                                        {"configuration", config_folder()}};
    if (!context.db_path().empty() && leads_through(folder, context.db_path()))
        return refuse(" contains the database ", context.db_path());
    for (const auto& [name, kept] : folders) {
        if (leads_through(folder, kept)) return refuse(" contains the " + std::string(name) + " ", kept);
        for (const auto& place : real_places({kept.string()})) {
            if (lies_in(folder.string(), place)) return refuse(" is part of the " + std::string(name) + " ", kept);
        }
    }
    std::error_code error;
    const auto program = fs::read_symlink("/proc/self/exe", error);
    if (!error && leads_through(folder, program)) return refuse(" contains the program ", program);
    if (const auto helper = find_helper({}); helper.ok() && leads_through(folder, *helper))
        return refuse(" contains the program ", *helper);
    return {};
}

}  // namespace assent::cli
