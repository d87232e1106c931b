#include "base/decimal.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace assent {
namespace {

// A number as sign, digits without outer zeros (given as two parts of the source) and the power of
// ten of its first digit. Zero has no digits.
struct Parts {
    bool negative = false;
    std::string_view whole;
    std::string_view fraction;
    std::size_t digits = 0;
    std::size_t skipped = 0;  // leading zeros over both parts
    std::int64_t magnitude = 0;

    [[nodiscard]] char digit(std::size_t i) const noexcept {
        i += skipped;
        return i < whole.size() ? whole[i] : fraction[i - whole.size()];
    }
};

// Exponents far beyond any text we take are all alike; this one cannot overflow when digits are added.
constexpr std::int64_t exponent_max = std::numeric_limits<std::int64_t>::max() / 4;

std::int64_t read_exponent(std::string_view text) noexcept {
    bool negative = false;
    if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
        negative = text[0] == '-';
        text.remove_prefix(1);
    }
    std::int64_t value = 0;
    for (const char c : text) value = std::min(value * 10 + (c - '0'), exponent_max / 10);
    return negative ? -value : value;
}

Parts split(std::string_view text) noexcept {
    Parts parts;
    if (!text.empty() && text[0] == '-') {
        parts.negative = true;
        text.remove_prefix(1);
    }
    std::int64_t exponent = 0;
    if (const auto e = text.find_first_of("eE"); e != std::string_view::npos) {
        exponent = read_exponent(text.substr(e + 1));
        text = text.substr(0, e);
    }
    const auto point = text.find('.');
    parts.whole = text.substr(0, point);
    if (point != std::string_view::npos) parts.fraction = text.substr(point + 1);
    const auto total = parts.whole.size() + parts.fraction.size();
    while (parts.skipped < total && parts.digit(0) == '0') ++parts.skipped;
    parts.digits = total - parts.skipped;
    while (parts.digits > 0 && parts.digit(parts.digits - 1) == '0') --parts.digits;
    if (parts.digits == 0) parts.negative = false;
    parts.magnitude =
        exponent + static_cast<std::int64_t>(parts.whole.size()) - static_cast<std::int64_t>(parts.skipped);
    return parts;
}

int compare_sizes(const Parts& a, const Parts& b) noexcept {
    if (a.digits == 0 || b.digits == 0) return static_cast<int>(a.digits != 0) - static_cast<int>(b.digits != 0);
    if (a.magnitude != b.magnitude) return a.magnitude < b.magnitude ? -1 : 1;
    for (std::size_t i = 0; i < std::max(a.digits, b.digits); ++i) {
        const char x = i < a.digits ? a.digit(i) : '0';
        const char y = i < b.digits ? b.digit(i) : '0';
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}

}  // namespace

int compare_decimals(std::string_view a, std::string_view b) noexcept {
    const Parts x = split(a);
    const Parts y = split(b);
    if (x.negative != y.negative) return x.negative ? -1 : 1;
    const int sizes = compare_sizes(x, y);
    return x.negative ? -sizes : sizes;
}

}  // namespace assent
