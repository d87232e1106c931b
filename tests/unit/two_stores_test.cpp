// Any appends do the same to every store.
#include "support/dice.hpp"
#include "support/shown_store.hpp"
#include "support/stores.hpp"

#include <gtest/gtest.h>

#include <map>

namespace assent {
namespace {

using namespace assent::test;

// Any append: most are refused for one reason or another.
Append any_append(Dice& dice, UnixMillis& at, FakeRandom& random) {
    Append append{.thread_id = std::string(1, static_cast<char>('a' + dice.roll(3))), .create = dice.chance(80)};
    if (dice.chance(20)) append.thread_id += "/1.0";
    if (dice.chance(20)) append.ancestors = {"b", "c/1.0"};
    at += dice.roll(20);
    append.at = at;
    random.fill(append.command);
    append.kinds.resize(static_cast<std::size_t>(dice.roll(3)), "judged");
    append.salt = std::to_string(dice.roll(1000));
    append.body = std::to_string(dice.roll(1000));
    append.task = "task " + std::to_string(dice.roll(9));
    append.lease = dice.pick({LeaseUse::none, LeaseUse::take, LeaseUse::keep, LeaseUse::give_back});
    append.fence = dice.roll(4);
    if (dice.chance(20)) append.expected_seq = dice.roll(12);
    if (dice.chance(20)) append.status = dice.pick({ThreadStatus::active, ThreadStatus::done, ThreadStatus::aborted});
    for (int i = dice.roll(3); i > 0; --i) {
        append.opens.push_back(question(dice.roll(3), dice.roll(2)));
        if (dice.chance(30)) append.opens.back().deadline = at + dice.roll(60);
    }
    for (int i = dice.roll(3); i > 0 && dice.chance(40); --i) append.closes.push_back(1 + dice.roll(30));
    append.closes_late = dice.chance(30);
    if (dice.chance(20)) append.closes_calls = {{dice.roll(3), dice.roll(2)}};
    if (dice.chance(5)) append.closes_calls.emplace_back(dice.roll(3), dice.roll(2));
    if (dice.chance(10)) append.snapshot = {.version = 1, .state = std::to_string(at)};
    append.closes_thread = dice.chance(5);
    if (dice.chance(20)) append.schemas = {{std::to_string(dice.roll(4)), "first come, first kept"}};
    return append;
}

class TwoStores : public testing::TestWithParam<StoreKind> {};

INSTANTIATE_TEST_SUITE_P(MemoryAnd, TwoStores,
                         testing::Values(StoreKind::sqlite, StoreKind::postgres, StoreKind::pooled), store_name);

TEST_P(TwoStores, DoTheSameWithAnySequenceOfAppends) {
    for (const auto seed : seeds()) {
        SCOPED_TRACE("ASSENT_TEST_SEED=" + std::to_string(seed));
        const TemporaryFolder folder;
        const auto memory = make_store(StoreKind::memory, folder);
        const auto other = make_store(GetParam(), folder);
        Dice dice(seed);
        FakeRandom random(seed);
        UnixMillis at = 1000;
        std::map<AppendStatus, int> seen;
        for (int step = 0; step < 150; ++step) {
            const auto append = any_append(dice, at, random);
            const auto a = *memory->append(append);
            const auto b = *other->append(append);
            ++seen[a.status];
            ASSERT_EQ(a.status, b.status) << "step " << step;
            ASSERT_EQ(std::tuple(a.seq, a.fence, a.first_number), std::tuple(b.seq, b.fence, b.first_number))
                << "step " << step;
            if (dice.chance(10)) {
                for (const auto& store : {memory.get(), other.get()}) {
                    ASSERT_TRUE(store->give_back(append.thread_id, append.fence).ok());
                }
            }
            ASSERT_EQ(shown(*memory), shown(*other)) << "step " << step;
        }
        // The sequence is only worth something if it meets everything an append can come to.
        for (const auto status : {AppendStatus::done, AppendStatus::conflict, AppendStatus::fenced,
                                  AppendStatus::leased, AppendStatus::closed}) {
            EXPECT_GT(seen[status], 0) << static_cast<int>(status);
        }
    }
}

}  // namespace
}  // namespace assent
