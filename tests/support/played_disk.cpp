#include "support/played_disk.hpp"

#include <algorithm>
#include <fstream>
#include <new>

namespace assent::test {
namespace {

constexpr std::size_t sector = 512;

}  // namespace

// An open file: SQLite sees the first member, the real one lies behind this.
struct PlayedFile {
    sqlite3_file seen;
    PlayedDisk* disk;
    std::shared_ptr<PlayedDisk::Contents> contents;

    using Operation = PlayedDisk::Operation;

    static PlayedFile& of(sqlite3_file* file) { return *reinterpret_cast<PlayedFile*>(file); }
    static sqlite3_file* real(sqlite3_file* file) {
        return reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + sizeof(PlayedFile));
    }

    static int close(sqlite3_file* file) {
        const int code = real(file)->pMethods->xClose(real(file));
        of(file).contents.~shared_ptr();
        return code;
    }
    static int read(sqlite3_file* file, void* out, int size, sqlite3_int64 offset) {
        const std::lock_guard lock(of(file).disk->mutex_);
        if (const int code = of(file).disk->begin(Operation::read); code != SQLITE_OK) return code;
        return real(file)->pMethods->xRead(real(file), out, size, offset);
    }
    static int write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
        const std::lock_guard lock(of(file).disk->mutex_);
        if (const int code = of(file).disk->begin(Operation::write); code != SQLITE_OK) return code;
        of(file).contents->pending.push_back(
            {.offset = offset, .bytes = {static_cast<const char*>(bytes), static_cast<std::size_t>(size)}});
        return real(file)->pMethods->xWrite(real(file), bytes, size, offset);
    }
    static int truncate(sqlite3_file* file, sqlite3_int64 size) {
        const std::lock_guard lock(of(file).disk->mutex_);
        if (const int code = of(file).disk->begin(Operation::truncate); code != SQLITE_OK) return code;
        of(file).contents->pending.push_back({.offset = size, .truncates = true});
        return real(file)->pMethods->xTruncate(real(file), size);
    }
    static int sync(sqlite3_file* file, int /*flags*/) {
        const std::lock_guard lock(of(file).disk->mutex_);
        if (const int code = of(file).disk->begin(Operation::sync); code != SQLITE_OK) return code;
        // The real disk need not: nobody cuts its power.
        of(file).disk->synced(*of(file).contents);
        return SQLITE_OK;
    }

    static int file_size(sqlite3_file* file, sqlite3_int64* size) {
        return real(file)->pMethods->xFileSize(real(file), size);
    }
    static int lock(sqlite3_file* file, int kind) { return real(file)->pMethods->xLock(real(file), kind); }
    static int unlock(sqlite3_file* file, int kind) { return real(file)->pMethods->xUnlock(real(file), kind); }
    static int check_lock(sqlite3_file* file, int* out) {
        return real(file)->pMethods->xCheckReservedLock(real(file), out);
    }
    static int control(sqlite3_file* file, int what, void* argument) {
        return real(file)->pMethods->xFileControl(real(file), what, argument);
    }
    static int sector_size(sqlite3_file* file) { return real(file)->pMethods->xSectorSize(real(file)); }
    static int characteristics(sqlite3_file* file) { return real(file)->pMethods->xDeviceCharacteristics(real(file)); }
    static int shared_map(sqlite3_file* file, int page, int size, int extend, void volatile** out) {
        return real(file)->pMethods->xShmMap(real(file), page, size, extend, out);
    }
    static int shared_lock(sqlite3_file* file, int offset, int count, int flags) {
        return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
    }
    static void shared_barrier(sqlite3_file* file) { real(file)->pMethods->xShmBarrier(real(file)); }
    static int shared_unmap(sqlite3_file* file, int remove) {
        return real(file)->pMethods->xShmUnmap(real(file), remove);
    }

    static const sqlite3_io_methods* methods() {
        static const sqlite3_io_methods all{.iVersion = 2,
                                            .xClose = &close,
                                            .xRead = &read,
                                            .xWrite = &write,
                                            .xTruncate = &truncate,
                                            .xSync = &sync,
                                            .xFileSize = &file_size,
                                            .xLock = &lock,
                                            .xUnlock = &unlock,
                                            .xCheckReservedLock = &check_lock,
                                            .xFileControl = &control,
                                            .xSectorSize = &sector_size,
                                            .xDeviceCharacteristics = &characteristics,
                                            .xShmMap = &shared_map,
                                            .xShmLock = &shared_lock,
                                            .xShmBarrier = &shared_barrier,
                                            .xShmUnmap = &shared_unmap,
                                            .xFetch = nullptr,
                                            .xUnfetch = nullptr};
        return &all;
    }
};

PlayedDisk::PlayedDisk(DiskFaults faults, std::uint64_t seed)
    : real_(sqlite3_vfs_find(nullptr)), vfs_(*real_), faults_(faults), random_(seed) {
    vfs_.zName = "played-disk";
    vfs_.pAppData = this;
    vfs_.szOsFile += static_cast<int>(sizeof(PlayedFile));
    vfs_.xOpen = &open;
    vfs_.xDelete = &remove;
    sqlite3_vfs_register(&vfs_, 1);
}

PlayedDisk::~PlayedDisk() {
    sqlite3_vfs_unregister(&vfs_);
}

int PlayedDisk::open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
    auto& disk = *static_cast<PlayedDisk*>(vfs->pAppData);
    const std::lock_guard lock(disk.mutex_);
    file->pMethods = nullptr;
    if (disk.cut_) return SQLITE_IOERR;
    auto* real = PlayedFile::real(file);
    const int code = disk.real_->xOpen(disk.real_, name, real, flags, out);
    if (code != SQLITE_OK) return code;
    auto contents = std::make_shared<Contents>();
    if (name != nullptr) {
        auto& known = disk.names_[name];
        if (known == nullptr) known = contents;
        contents = known;
    }
    auto* played = new (file) PlayedFile{.seen = {}, .disk = &disk, .contents = std::move(contents)};
    played->seen.pMethods = PlayedFile::methods();
    return SQLITE_OK;
}

int PlayedDisk::remove(sqlite3_vfs* vfs, const char* name, int sync_folder) {
    auto& disk = *static_cast<PlayedDisk*>(vfs->pAppData);
    const std::lock_guard lock(disk.mutex_);
    if (disk.cut_) return SQLITE_IOERR_DELETE;
    disk.names_.erase(name);
    return disk.real_->xDelete(disk.real_, name, sync_folder);
}

int PlayedDisk::begin(Operation operation) {
    ++operations_;
    cut_ = cut_ || operations_ == faults_.cut_at;
    const bool fails = faults_.fail_at != 0 && operations_ >= faults_.fail_at && faults_.fails > 0;
    if (!cut_ && !fails) return SQLITE_OK;
    if (!cut_) --faults_.fails;
    switch (operation) {
        case Operation::read:
            return SQLITE_IOERR_READ;
        case Operation::write:
            return faults_.is_full && !cut_ ? SQLITE_FULL : SQLITE_IOERR_WRITE;
        case Operation::truncate:
            return SQLITE_IOERR_TRUNCATE;
        case Operation::sync:
            break;
    }
    return SQLITE_IOERR_FSYNC;
}

void PlayedDisk::synced(Contents& contents) {
    if (faults_.lies) return;
    for (const auto& pending : contents.pending) apply(contents.synced, pending, 0, pending.bytes.size());
    contents.pending.clear();
    synced_names_ = names_;
}

// The bytes of the write from `begin` to `end`.
void PlayedDisk::apply(std::string& bytes, const Pending& pending, std::size_t begin, std::size_t end) {
    const auto offset = static_cast<std::size_t>(pending.offset);
    if (pending.truncates) {
        bytes.resize(std::min(bytes.size(), offset));
        return;
    }
    bytes.resize(std::max(bytes.size(), offset + end));
    std::copy(pending.bytes.begin() + static_cast<std::ptrdiff_t>(begin),
              pending.bytes.begin() + static_cast<std::ptrdiff_t>(end),
              bytes.begin() + static_cast<std::ptrdiff_t>(offset + begin));
}

std::string PlayedDisk::remains_of(const Contents& contents) {
    auto bytes = contents.synced;
    enum Fate : std::uint8_t { kept, torn, lost };
    for (const auto& pending : contents.pending) {
        const auto size = pending.bytes.size();
        switch (std::uniform_int_distribution(0, 2)(random_)) {
            case kept:
                apply(bytes, pending, 0, size);
                break;
            case torn:
                for (std::size_t begin = 0; begin < size; begin += sector) {
                    if (random_() % 2 == 0) apply(bytes, pending, begin, std::min(size, begin + sector));
                }
                break;
            default:
                break;
        }
    }
    return bytes;
}

void PlayedDisk::write_remains(const std::filesystem::path& folder) {
    const std::lock_guard lock(mutex_);
    const auto& names = random_() % 2 == 0 ? names_ : synced_names_;
    for (const auto& [name, contents] : names) {
        std::ofstream out(folder / std::filesystem::path(name).filename(), std::ios::binary);
        out << remains_of(*contents);
    }
}

}  // namespace assent::test
