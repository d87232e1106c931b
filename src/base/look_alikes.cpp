#include "base/look_alikes.hpp"

#include "base/utf8.hpp"

#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/uspoof.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <unordered_map>

namespace assent {
namespace {

constexpr std::string_view dangerous_symbols = "/\\.|&$";
// A word longer than this is cut for the notice; what it holds is judged whole.
constexpr std::size_t word_letters_max = 40;

bool is_ascii(char32_t c) noexcept {
    return c < 0x80;
}

bool belongs_to_word(char32_t c) noexcept {
    if (is_ascii(c)) return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
    const auto point = static_cast<UChar32>(c);
    return u_isalnum(point) != 0 || (U_GET_GC_MASK(point) & U_GC_M_MASK) != 0;
}

// ICU's checker. Its const functions may be called by many threads at once.
class Confusables {
public:
    static const Confusables& get() {
        static const Confusables confusables;
        return confusables;
    }

    // The ASCII text that `c` looks like; empty if it looks like none.
    [[nodiscard]] std::string ascii_of(char32_t c) const {
        // Wide forms of ASCII are compatibility characters, not confusables, yet read the same.
        if (c >= 0xff01 && c <= 0xff5e) return {static_cast<char>(c - 0xfee0)};
        std::string utf8;
        append_utf8(utf8, c);
        const auto found = by_skeleton_.find(skeleton(utf8));
        return found == by_skeleton_.end() ? std::string() : found->second;
    }

    // Letters that words of some language are ordinarily written with.
    [[nodiscard]] bool is_ordinary(char32_t c) const { return uset_contains(ordinary_, static_cast<UChar32>(c)) != 0; }

private:
    struct Close {
        void operator()(USpoofChecker* checker) const { uspoof_close(checker); }
    };

    Confusables() {
        UErrorCode status = U_ZERO_ERROR;
        checker_.reset(uspoof_open(&status));
        ordinary_ = uspoof_getRecommendedSet(&status);
        if (U_FAILURE(status))
            throw std::runtime_error(std::string("icu cannot load its confusables: ") + u_errorName(status));
        // Several ASCII characters share a skeleton (l, I, 1, |): letters in lower case come first.
        for (const std::string_view kind :
             {std::string_view("abcdefghijklmnopqrstuvwxyz"), std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
              std::string_view("0123456789"), dangerous_symbols}) {
            for (const char c : kind) by_skeleton_.try_emplace(skeleton({&c, 1}), 1, c);
        }
    }

    [[nodiscard]] std::string skeleton(std::string_view utf8) const {
        std::array<char, 128> out{};
        UErrorCode status = U_ZERO_ERROR;
        const auto size = uspoof_getSkeletonUTF8(checker_.get(), 0, utf8.data(), static_cast<std::int32_t>(utf8.size()),
                                                 out.data(), static_cast<std::int32_t>(out.size()), &status);
        if (U_FAILURE(status)) return {};
        return {out.data(), static_cast<std::size_t>(size)};
    }

    std::unique_ptr<USpoofChecker, Close> checker_;
    const USet* ordinary_ = nullptr;  ///< ICU's own, never freed.
    std::map<std::string, std::string, std::less<>> by_skeleton_;
};

struct Letter {
    std::string ascii;      ///< What it looks like, if anything.
    bool misleads = false;  ///< Not ASCII, looks like ASCII, and is no ordinary letter of a Latin alphabet.
    bool is_latin = false;
};

class Search {
public:
    explicit Search(std::size_t words_max) : words_max_(words_max) {}

    void take(std::string_view text) {
        std::size_t begin = 0;
        for (std::size_t at = 0; at < text.size() && found_.size() < words_max_;) {
            const auto [c, size] = read_utf8(text.substr(at));
            if (size != 0 && belongs_to_word(c)) {
                foreign_ = foreign_ || !is_ascii(c);
                at += size;
                continue;
            }
            end_word(text.substr(begin, at - begin));
            if (size != 0 && !is_ascii(c)) look_at_symbol(c);
            at += std::max<std::size_t>(size, 1);
            begin = at;
        }
        if (found_.size() < words_max_) end_word(text.substr(begin));
    }

    [[nodiscard]] std::vector<LookAlike> found() && { return std::move(found_); }

private:
    const Letter& letter(char32_t c) {
        const auto [at, is_new] = letters_.try_emplace(c);
        auto& letter = at->second;
        if (!is_new) return letter;
        UErrorCode status = U_ZERO_ERROR;
        const auto script = uscript_getScript(static_cast<UChar32>(c), &status);
        letter.is_latin = U_SUCCESS(status) && (script == USCRIPT_LATIN || script == USCRIPT_COMMON);
        letter.ascii = Confusables::get().ascii_of(c);
        letter.misleads = !letter.ascii.empty() && !(script == USCRIPT_LATIN && Confusables::get().is_ordinary(c));
        return letter;
    }

    void end_word(std::string_view word) {
        if (!foreign_) return;
        foreign_ = false;
        LookAlike seen;
        std::size_t letters = 0;
        bool misleads = false;
        bool mixed = false;    // ASCII letters beside letters that only look like them
        bool all_read = true;  // every character can be read as ASCII
        bool is_latin = true;
        bool has_alphabetic = false;
        for (std::size_t at = 0; at < word.size();) {
            const auto [c, size] = read_utf8(word.substr(at));
            const auto utf8 = word.substr(at, size);
            at += size;
            ++letters;
            const bool kept = letters <= word_letters_max;
            if (is_ascii(c)) {
                mixed = mixed || u_isalpha(static_cast<UChar32>(c)) != 0;
                add(seen, kept, utf8, utf8, utf8);
                continue;
            }
            const auto& known = letter(c);
            misleads = misleads || known.misleads;
            all_read = all_read && !known.ascii.empty();
            is_latin = is_latin && known.is_latin;
            has_alphabetic = has_alphabetic || u_isalpha(static_cast<UChar32>(c)) != 0;
            add(seen, kept, utf8, known.misleads ? escape(c) : std::string(utf8),
                known.ascii.empty() ? utf8 : std::string_view(known.ascii));
        }
        const bool whole = all_read && (letters > 1 || is_latin);
        if (misleads && has_alphabetic && (mixed || whole)) keep(std::move(seen));
    }

    void look_at_symbol(char32_t c) {
        const auto& known = letter(c);
        if (known.ascii.size() != 1 || dangerous_symbols.find(known.ascii.front()) == std::string_view::npos) return;
        LookAlike seen{.escaped = escape(c), .reads = known.ascii};
        append_utf8(seen.word, c);
        keep(std::move(seen));
    }

    static void add(LookAlike& seen, bool kept, std::string_view word, std::string_view escaped,
                    std::string_view reads) {
        if (!kept) return;
        seen.word += word;
        seen.escaped += escaped;
        seen.reads += reads;
    }

    void keep(LookAlike seen) {
        if (std::find(found_.begin(), found_.end(), seen) == found_.end()) found_.push_back(std::move(seen));
    }

    static std::string escape(char32_t c) {
        std::array<char, 16> text{};
        std::snprintf(text.data(), text.size(), "\\u{%x}", static_cast<unsigned>(c));
        return text.data();
    }

    std::size_t words_max_;
    bool foreign_ = false;  ///< The word so far holds a character that is not ASCII.
    std::unordered_map<char32_t, Letter> letters_;
    std::vector<LookAlike> found_;
};

}  // namespace

std::vector<LookAlike> look_alikes(std::string_view text, std::size_t words_max) {
    Search search(words_max);
    search.take(text);
    return std::move(search).found();
}

}  // namespace assent
