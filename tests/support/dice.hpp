// Random choices that can be made again: every random test prints its seed.
//
// ASSENT_TEST_SEED=N runs a random test again from that seed.
#pragma once

#include "support/fakes.hpp"

#include <cstdlib>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace assent::test {

/// The seeds to run: the one that was asked for, or a few fixed ones and a new one.
inline std::vector<std::uint64_t> seeds() {
    if (const char* given = std::getenv("ASSENT_TEST_SEED")) return {std::strtoull(given, nullptr, 10)};
    std::array<std::uint8_t, 4> fresh{};
    system_random().fill(fresh);
    std::uint64_t seed = 0;
    for (const auto byte : fresh) seed = seed << 8 | byte;
    return {1, 2, 3, seed};
}

class Dice {
public:
    explicit Dice(std::uint64_t seed) : random_(seed) {}

    /// From 0 to `sides` - 1.
    int roll(int sides) {
        std::array<std::uint8_t, 4> bytes{};
        random_.fill(bytes);
        std::uint32_t value = 0;
        for (const auto byte : bytes) value = value << 8 | byte;
        return static_cast<int>(value % static_cast<std::uint32_t>(sides));
    }
    bool chance(int percent) { return roll(100) < percent; }
    template <class T>
    T pick(std::initializer_list<T> choices) {
        return *(choices.begin() + roll(static_cast<int>(choices.size())));
    }
    template <class T>
    const T& pick(const std::vector<T>& choices) {
        return choices[static_cast<std::size_t>(roll(static_cast<int>(choices.size())))];
    }

private:
    FakeRandom random_;
};

}  // namespace assent::test
