// The power is cut under the SQLite store, and its disk fails: what was told as stored is there, what was told as not
// stored is not, and the chains hold. The last rows may be torn, the database never is.
//
//   power_loss [--seed N] [--cuts N]
//
// The disk is played (tests/support/played_disk.hpp), the store and SQLite are real.
#include "support/fakes.hpp"
#include "support/played_disk.hpp"
#include "support/stores.hpp"

#include "journal/encoding.hpp"

#include <assent/sqlite.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string_view>

namespace assent {
namespace {

using namespace assent::test;
namespace fs = std::filesystem;

using Command = std::array<std::uint8_t, 16>;
constexpr std::array<const char*, 3> threads{"a", "b", "c"};

/// What a caller was told of one append.
enum class Told : std::uint8_t { stored, perhaps, not_stored };

struct Tried {
    Command command{};
    std::string thread;
    Told told = Told::not_stored;
    std::int64_t opens = 0;   ///< Number of the approval that it opened, if it is known.
    std::int64_t closes = 0;  ///< Of the one that it closed.
};

/// Random appends, all of which follow from the seed, as several callers make them.
class Workload {
public:
    Workload(std::uint64_t seed, std::size_t body_max) : chance_(seed), numbers_(seed), body_max_(body_max) {}

    /// Ends early where the store cannot be opened.
    void run(const std::string& path, int appends) {
        for (int done = 0; done < appends;) {
            auto store = SqliteCheckpointer::open(path);
            if (!store) return;
            // Now and then everything is closed, as when a program ends.
            const int until = std::min(appends, done + static_cast<int>(chance_() % 40) + 1);
            for (; done < until; ++done) append(**store);
        }
    }

    [[nodiscard]] const std::vector<Tried>& tried() const noexcept { return tried_; }

private:
    void append(Checkpointer& store) {
        Tried one{.thread = threads[chance_() % threads.size()]};
        Append wanted{.thread_id = one.thread, .create = true, .at = at_++, .kinds = {"user_message"}};
        numbers_.fill(wanted.command);
        one.command = wanted.command;
        wanted.salt = "salt";
        wanted.body = std::string(chance_() % body_max_, static_cast<char>('a' + chance_() % 26));
        const auto what = chance_() % 4;
        if (what == 0) wanted.opens = {{.turn = 1, .guard = "rules", .digest = "d", .question = "q"}};
        if (what == 1) one.closes = an_open_one(one.thread);
        if (one.closes != 0) wanted.closes = {one.closes};
        if (what == 2) wanted.snapshot = Snapshot{.version = 1, .state = wanted.body};
        const auto result = store.append(wanted);
        if (result && result->status == AppendStatus::done) {
            one.told = Told::stored;
            if (!wanted.opens.empty()) one.opens = result->first_number;
        } else if (result && result->status == AppendStatus::uncertain) {
            one.told = Told::perhaps;
        }
        tried_.push_back(std::move(one));
    }

    // Of those whose standing is sure.
    std::int64_t an_open_one(const std::string& thread) {
        for (const auto& one : tried_) {
            if (one.thread != thread || one.opens == 0) continue;
            const bool touched =
                std::ranges::any_of(tried_, [&](const Tried& other) { return other.closes == one.opens; });
            if (!touched) return one.opens;
        }
        return 0;
    }

    std::mt19937_64 chance_;
    FakeRandom numbers_;
    std::size_t body_max_;
    UnixMillis at_ = 1000;
    std::vector<Tried> tried_;
};

/// What is wrong with what is there; empty if nothing is.
std::string faults_of(const std::string& path, const std::vector<Tried>& tried) {
    const auto opened = SqliteCheckpointer::open(path);
    if (!opened) return opened.failure().message;
    auto& store = **opened;
    std::set<Command> there;
    for (const auto* thread : threads) {
        const auto head = store.find_thread(thread);
        if (!head) return head.failure().message;
        const auto rows = store.load(thread, 0);
        if (!rows) return rows.failure().message;
        Digest hash{};
        std::int64_t seq = 0;
        for (const auto& row : *rows) {
            if (!there.insert(row.command).second) return "an append is there twice";
            hash = journal::chain(hash, row.header);
            if (row.seq != ++seq) return "the sequence has a gap";
        }
        if (!*head && !rows->empty()) return "rows without a thread";
        if (*head && ((*head)->hash != hash || (*head)->seq != seq)) return "the chain does not hold";
    }
    std::set<std::int64_t> open;
    const auto listed = store.open_approvals({}, 0, tried.size());
    if (!listed) return listed.failure().message;
    for (const auto& approval : *listed) open.insert(approval.number);
    for (const auto& one : tried) {
        const bool is_there = there.contains(one.command);
        if (one.told == Told::stored && !is_there) return "what was told as stored is gone";
        if (one.told == Told::not_stored && is_there) return "what was told as not stored is there";
        if (one.opens != 0) {
            const bool closed = std::ranges::any_of(
                tried, [&](const Tried& other) { return other.closes == one.opens && there.contains(other.command); });
            if (open.contains(one.opens) == closed) return "an approval does not stand as its journal says";
        }
    }
    return {};
}

/// The journal as it would be without the fault, for how many operations of the disk there are to choose from.
std::int64_t operations_of(std::uint64_t seed, std::size_t body_max, int appends) {
    const TemporaryFolder folder;
    const PlayedDisk disk({}, seed);
    Workload workload(seed, body_max);
    workload.run(folder.file("test.db"), appends);
    return disk.operations();
}

struct Size {
    const char* name;
    std::size_t body_max;
    int appends;
};
// The second writes more pages than are between two checkpoints.
constexpr Size small{"small", 300, 40};
constexpr Size large{"large", 100'000, 500};

struct Cut {
    std::string fault;
    bool reached = false;
    std::int64_t stored = 0;
};

Cut cut_power(std::uint64_t seed, const Size& size, bool lies) {
    std::mt19937_64 chance(seed);
    const auto operations = operations_of(seed, size.body_max, size.appends);
    const auto at = std::uniform_int_distribution<std::int64_t>(1, operations)(chance);
    const TemporaryFolder folder;
    const TemporaryFolder after;
    Cut cut;
    Workload workload(seed, size.body_max);
    {
        PlayedDisk disk({.cut_at = at, .lies = lies}, seed);
        workload.run(folder.file("test.db"), size.appends);
        cut.reached = disk.is_cut();
        disk.write_remains(after.path());
    }
    cut.stored = std::ranges::count(workload.tried(), Told::stored, &Tried::told);
    // Who dies with the power tells nobody anything: what failed then is as good as in doubt.
    auto tried = workload.tried();
    for (auto& one : tried) {
        if (one.told == Told::not_stored) one.told = Told::perhaps;
    }
    cut.fault = faults_of(after.file("test.db"), tried);
    return cut;
}

bool cut_many(std::uint64_t first_seed, int cuts) {
    std::int64_t stored = 0;
    int reached = 0;
    for (int i = 0; i < cuts; ++i) {
        const auto seed = first_seed + static_cast<std::uint64_t>(i);
        const auto& size = i % 8 == 7 ? large : small;
        const auto cut = cut_power(seed, size, false);
        stored += cut.stored;
        reached += cut.reached ? 1 : 0;
        if (cut.fault.empty()) continue;
        std::cout << "WRONG: seed " << seed << ", " << size.name << ": " << cut.fault << "\n";
        return false;
    }
    std::cout << cuts << " cuts of the power (" << cuts / 8 << " with checkpoints under way), " << reached
              << " of them within the work: " << stored << " appends told as stored, all there; chains hold\n";
    return true;
}

/// The check would notice: with a disk that only says it has synced, something is gone.
bool notices_a_lying_disk(std::uint64_t first_seed) {
    constexpr int tries = 20;
    int noticed = 0;
    for (int i = 0; i < tries; ++i) {
        if (!cut_power(first_seed + static_cast<std::uint64_t>(i), small, true).fault.empty()) ++noticed;
    }
    std::cout << "a disk that lies about syncs: noticed in " << noticed << " of " << tries << " cuts\n";
    return noticed > 0;
}

bool fail_everywhere(std::uint64_t seed) {
    const auto operations = operations_of(seed, small.body_max, small.appends);
    int failures = 0;
    int doubts = 0;
    for (std::int64_t at = 1; at <= operations; ++at) {
        for (const auto& faults : {DiskFaults{.fail_at = at}, DiskFaults{.fail_at = at, .fails = 4},
                                   DiskFaults{.fail_at = at, .fails = 4, .is_full = true}}) {
            const TemporaryFolder folder;
            Workload workload(seed, small.body_max);
            {
                const PlayedDisk disk(faults, seed);
                workload.run(folder.file("test.db"), small.appends);
            }
            failures += static_cast<int>(std::ranges::count(workload.tried(), Told::not_stored, &Tried::told));
            doubts += static_cast<int>(std::ranges::count(workload.tried(), Told::perhaps, &Tried::told));
            const auto fault = faults_of(folder.file("test.db"), workload.tried());
            if (fault.empty()) continue;
            std::cout << "WRONG: seed " << seed << ", operation " << at << " fails " << faults.fails << " times"
                      << (faults.is_full ? ", full" : "") << ": " << fault << "\n";
            return false;
        }
    }
    std::cout << operations << " operations of the disk failed, in 3 ways each: " << failures
              << " appends told as not stored, " << doubts << " as in doubt, none told wrongly\n";
    return failures > 0;
}

}  // namespace
}  // namespace assent

int main(int argc, char** argv) {
    std::uint64_t seed = 20'311;
    int cuts = 160;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string_view option = argv[i];
        if (option == "--seed") seed = std::strtoull(argv[i + 1], nullptr, 10);
        if (option == "--cuts") cuts = std::atoi(argv[i + 1]);
    }
    std::cout << "seed " << seed << "\n";
    const bool held =
        assent::cut_many(seed, cuts) && assent::notices_a_lying_disk(seed) && assent::fail_everywhere(seed);
    return held ? 0 : 1;
}
