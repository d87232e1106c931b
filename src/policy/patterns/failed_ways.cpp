#include "policy/patterns/failed_ways.hpp"

#include <utility>

namespace assent {
namespace {

constexpr std::size_t places_first = 1UL << 10U;
constexpr std::size_t places_max = 1UL << 21U;  // 32 MiB
constexpr Way free_place;
// To look at a place takes as long as this many steps of a search: it is seldom in the cache.
constexpr std::uint64_t place_cost = 12;

// Every bit of the way changes about half of the bits.
std::uint64_t mixed(const Way& way) noexcept {
    std::uint64_t bits = (std::uint64_t{way.step} << 32U | way.at) ^ way.repeats * 0x9e3779b97f4a7c15U;
    bits = (bits ^ bits >> 30U) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ bits >> 27U) * 0x94d049bb133111ebU;
    return bits ^ bits >> 31U;
}

}  // namespace

std::size_t FailedWays::place_of(const Way& way) noexcept {
    auto place = mixed(way) & (places_.size() - 1);
    for (cost_ += place_cost; places_[place] != free_place && places_[place] != way; cost_ += place_cost) {
        place = (place + 1) & (places_.size() - 1);
    }
    return place;
}

bool FailedWays::contains(const Way& way) {
    return !places_.empty() && places_[place_of(way)] == way;
}

void FailedWays::add(const Way& way) {
    if (used_ * 2 >= places_.size()) {
        if (places_.size() >= places_max) return;
        grow();
    }
    auto& place = places_[place_of(way)];
    if (place == way) return;
    place = way;
    ++used_;
}

void FailedWays::grow() {
    const auto old = std::exchange(places_, {});
    places_.resize(old.empty() ? places_first : old.size() * 2);
    for (const auto& way : old) {
        if (way != free_place) places_[place_of(way)] = way;
    }
}

std::uint64_t FailedWays::take_cost() noexcept {
    return std::exchange(cost_, 0);
}

}  // namespace assent
