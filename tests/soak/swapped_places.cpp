#include "soak/swapped_places.hpp"

#include "base/unique_fd.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string_view>
#include <system_error>

namespace assent::soak {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view free_text = "free text\n";
constexpr int spares = 4;
constexpr int mend_every = 16;

// Below the workspace: denied, denied, asked about. `outside` is beside it.
constexpr const char* closed[] = {"secrets", "halls/private", "asked"};

void put(const fs::path& path, const std::string& text) {
    std::error_code ignored;
    fs::create_directories(path.parent_path(), ignored);
    std::ofstream(path, std::ios::binary) << text;
}

void write_new(int folder, const char* name, int flags) {
    const UniqueFd file(openat(folder, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags, 0666));
    if (file.open()) (void)!write(file.get(), free_text.data(), free_text.size());
}

fs::file_type type_of(const fs::path& path) {
    std::error_code ignored;
    return fs::symlink_status(path, ignored).type();
}
bool is_folder(const fs::path& path) {
    return type_of(path) == fs::file_type::directory;
}
bool is_link(const fs::path& path) {
    return type_of(path) == fs::file_type::symlink;
}
bool is_there(const fs::path& path) {
    return type_of(path) != fs::file_type::not_found;
}

}  // namespace

SwappedPlace::SwappedPlace(const fs::path& root, int number, std::uint64_t seed) : root_(root), dice_(seed) {
    const auto n = std::to_string(number);
    std::string up;
    switch (number % 4) {
        case 0:
        case 1:
            folder_ = swapped_ = "place-" + n;
            break;
        case 2:
            folder_ = "deep-" + n + "/mid/end";
            swapped_ = "deep-" + n + "/mid";
            up = "../";
            break;
        default:
            folder_ = "files-" + n;
            swapped_ = folder_ + "/key";
            file_ = true;
            up = "../";
    }
    // A spare is a link of another depth that leads nowhere; it counts once it is in its place.
    for (const auto* target : {"secrets", "halls/private", "asked", "../outside", "hop"})
        links_.push_back(up + target + (file_ ? "/key" : ""));
    slots_.push_back(root_ / swapped_);
    for (int i = 0; i < spares; ++i) slots_.push_back(root_ / "spare" / (n + "-" + std::to_string(i)));
    for (const auto& slot : slots_) {
        fs::create_directories(slot.parent_path());
        make(slot, &slot == slots_.data());
    }
}

// The first is free to use; of the others about half.
void SwappedPlace::make(const fs::path& at, bool first) {
    if (first || dice_.chance(50)) return mend(at);
    std::error_code ignored;
    fs::create_symlink(dice_.pick(links_), at, ignored);
}

// A folder or file as everybody may use it. A tool that cannot delete what it has moved aside puts it back, also a
// link that was swapped in: nothing is written through one here.
void SwappedPlace::mend(const fs::path& at) {
    if (file_) return write_new(AT_FDCWD, at.c_str(), O_TRUNC);
    (void)mkdir(at.c_str(), 0777);
    const UniqueFd folder(open(at.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder.open()) return;
    for (const auto* name : {"sub", "end", "end/sub"}) (void)mkdirat(folder.get(), name, 0777);
    for (const auto* name : {"key", "sub/key", "end/key", "end/sub/key"}) write_new(folder.get(), name, O_EXCL);
}

void SwappedPlace::swap() {
    const auto& place = slots_.front();
    const auto& spare = slots_[1 + static_cast<std::size_t>(dice_.roll(spares))];
    if (renameat2(AT_FDCWD, place.c_str(), AT_FDCWD, spare.c_str(), RENAME_EXCHANGE) == 0) {
        ++swaps_;
    } else {
        for (const auto& slot : slots_) {
            std::error_code ignored;
            fs::create_directories(slot.parent_path(), ignored);
            if (!is_there(slot)) make(slot, false);
        }
    }
    if (swaps_ % mend_every == 0 && (file_ ? !is_link(place) : is_folder(place))) mend(place);
}

World::World(const fs::path& base, int places, std::uint64_t seed) : base_(base) {
    for (const auto* folder : closed) {
        const auto text = std::string(folder) == "asked" ? std::string("text") : std::string(denied_text);
        for (const auto* name : {"key", "sub/key", "end/key", "end/sub/key"})
            put(root() / folder / name, text + " free text\n");
    }
    for (const auto* folder : {"secrets", "halls/private"}) {
        put(root() / folder / denied_name, std::string(denied_text));
        put(root() / folder / "sub" / denied_name, std::string(denied_text));
    }
    for (const auto* name : {"key", "sub/key", "end/key"}) put(base_ / "outside" / name, std::string(denied_text));
    put(base_ / "outside" / denied_name, std::string(denied_text));
    fs::create_symlink("halls/private", root() / "hop");
    for (int i = 0; i < places; ++i)
        places_.push_back(std::make_unique<SwappedPlace>(root(), i, seed + static_cast<std::uint64_t>(i)));
    before_ = facts();
}

// Whatever writes to a file or makes a name in a folder, even for a moment, changes these.
World::Facts World::facts() const {
    Facts all;
    const auto add = [&](const fs::path& path) {
        struct stat facts{};
        if (lstat(path.c_str(), &facts) != 0) return;
        all[path.lexically_relative(base_).string()] =
            std::to_string(facts.st_ino) + " " + std::to_string(facts.st_size) + " " +
            std::to_string(facts.st_mtim.tv_sec) + "." + std::to_string(facts.st_mtim.tv_nsec) + " " +
            std::to_string(facts.st_ctim.tv_sec) + "." + std::to_string(facts.st_ctim.tv_nsec);
    };
    std::vector<fs::path> folders{base_ / "outside"};
    for (const auto* folder : closed) folders.push_back(root() / folder);
    for (const auto& folder : folders) {
        add(folder);
        for (const auto& entry : fs::recursive_directory_iterator(folder)) add(entry.path());
    }
    return all;
}

std::string World::changed() const {
    const auto now = facts();
    std::string all;
    for (const auto& [path, known] : before_) {
        const auto found = now.find(path);
        if (found == now.end()) {
            all += path + " is gone\n";
        } else if (found->second != known) {
            all += path + " was changed\n";
        }
    }
    for (const auto& [path, known] : now) {
        if (!before_.contains(path)) all += path + " is new\n";
    }
    return all;
}

}  // namespace assent::soak
