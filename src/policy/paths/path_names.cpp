#include "policy/paths/path_names.hpp"

#include "base/utf8.hpp"

#include <unicode/normalizer2.h>
#include <unicode/unistr.h>

#include <stdexcept>

namespace assent {
namespace {

constexpr char32_t bad_byte_first = 0xdc00;

icu::UnicodeString normalized(const icu::UnicodeString& text, bool compose) {
    UErrorCode error = U_ZERO_ERROR;
    const auto* form = compose ? icu::Normalizer2::getNFCInstance(error) : icu::Normalizer2::getNFDInstance(error);
    auto out = U_SUCCESS(error) ? form->normalize(text, error) : icu::UnicodeString();
    // A guard that throws denies.
    if (U_FAILURE(error) != 0) throw std::runtime_error("the unicode tables for file names cannot be used");
    return out;
}

}  // namespace

std::u32string characters_of(std::string_view text) {
    std::u32string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const auto next = read_utf8(text);
        out += next.size > 0 ? next.point : bad_byte_first + static_cast<unsigned char>(text.front());
        text.remove_prefix(next.size > 0 ? next.size : 1);
    }
    return out;
}

std::u32string loose_form(std::u32string_view text) {
    icu::UnicodeString wide;
    bool ascii = true;
    for (const auto point : text) {
        ascii = ascii && point < 0x80;
        wide.append(static_cast<UChar32>(point));
    }
    // Decomposed first: folding alone misses letters whose marks stand in another order.
    wide = ascii ? wide.foldCase() : normalized(normalized(wide, false).foldCase(), true);
    std::u32string out;
    for (int32_t at = 0; at < wide.length(); at = wide.moveIndex32(at, 1))
        out += static_cast<char32_t>(wide.char32At(at));
    return out;
}

PathNames exact_names(std::span<const std::string> parts) {
    PathNames names;
    for (const auto& part : parts) names.exact.push_back(characters_of(part));
    return names;
}

PathNames path_names(std::span<const std::string> parts) {
    auto names = exact_names(parts);
    for (const auto& name : names.exact) names.loose.push_back(loose_form(name));
    return names;
}

}  // namespace assent
