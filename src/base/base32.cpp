#include "base/base32.hpp"

#include <algorithm>

namespace assent {
namespace {

constexpr std::string_view alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

char normal(char c) noexcept {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == 'i' || c == 'l') return '1';
    if (c == 'o') return '0';
    return c;
}

}  // namespace

std::string public_id(std::int64_t number, const Digest& binding) {
    std::string out;
    for (auto rest = static_cast<std::uint64_t>(number); rest != 0; rest /= 32) out += alphabet[rest % 32];
    if (out.empty()) out = "0";
    std::reverse(out.begin(), out.end());
    for (std::size_t i = 0; i < id_check_letters; ++i) out += alphabet[binding[i] % 32];
    return out;
}

std::optional<PublicId> read_public_id(std::string_view text) {
    if (text.size() <= id_check_letters || text.size() > id_check_letters + 12) return std::nullopt;
    std::string plain(text);
    std::transform(plain.begin(), plain.end(), plain.begin(), normal);
    PublicId id;
    const auto digits = plain.size() - id_check_letters;
    for (std::size_t i = 0; i < plain.size(); ++i) {
        const auto value = alphabet.find(plain[i]);
        if (value == std::string_view::npos) return std::nullopt;
        if (i < digits) id.number = id.number * 32 + static_cast<std::int64_t>(value);
    }
    id.check = plain.substr(digits);
    return id;
}

}  // namespace assent
