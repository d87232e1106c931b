// The machine and the folder that a benchmark runs on.
#pragma once

#include <boost/json.hpp>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace bench {

/// The benchmark cannot be run here; the message says what to do.
class NotHere : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A folder of its own on a real disk, removed at the end. Throws NotHere for a file system in memory: a
/// commit that is never synced says nothing.
class Place {
public:
    explicit Place(const std::filesystem::path& folder);
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place();

    /// The path of a file called `name`; whatever an earlier run left of it is removed, side files too.
    [[nodiscard]] std::string fresh(const std::string& name) const;
    [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
    [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }
    /// File system, device, kernel, CPU and cores.
    [[nodiscard]] boost::json::object json() const;

private:
    std::filesystem::path folder_;
    std::string file_system_;
    std::string device_;
};

/// CPU time since the start of the machine and of this process with its ended children, in seconds.
struct CpuTime {
    double machine = 0;
    double own = 0;
    double clock = 0;
    [[nodiscard]] static CpuTime now();
};
/// Cores that other programs kept busy between two points.
[[nodiscard]] double foreign_cores(const CpuTime& from, const CpuTime& to);

/// Seconds on the monotonic clock.
[[nodiscard]] double seconds();
/// The most memory this process had resident so far, or has now, in MiB.
[[nodiscard]] double resident_peak_mib();
[[nodiscard]] double resident_mib();

}  // namespace bench
