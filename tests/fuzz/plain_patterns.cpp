// Patterns of the kind that have one meaning everywhere, against a slow second matcher that keeps, instead
// of one way, the set of all places that can be reached. The bytes choose the pattern and the text.
#include "fuzz/fuzz.hpp"

#include "policy/patterns/python_pattern.hpp"

#include <assent/arguments.hpp>

#include <array>
#include <vector>

namespace assent {
namespace {

using Places = std::uint64_t;  // a bit for each place in the text
constexpr std::size_t text_max = 12;
constexpr int depth_max = 4;

struct Part {
    enum class Kind {
        letter,
        not_letter,
        any,
        sequence,
        choice,
        repeat,
        start,
        end,
        last_line,
        edge,
        no_edge,
        ahead,
        behind
    };
    Kind kind = Kind::sequence;
    char letter = 'a';
    bool negated = false;
    int min = 0;
    int max = 0;  // of a repeat; below 0: as often as can be
    std::vector<Part> parts;
};

bool is_word(char c) {
    return c == 'a' || c == 'b';
}

// Chooses a pattern and writes it down while choosing.
class Chooser {
public:
    explicit Chooser(fuzz::Bytes& bytes) : bytes_(bytes) {}

    Part choose(int depth) {
        const auto pick = bytes_.number() % (depth < depth_max ? 14 : 9);
        switch (pick) {
            case 0:
            case 1:
                return letter(Part::Kind::letter, "");
            case 2:
                return letter(Part::Kind::not_letter, "^");
            case 3:
                return fixed(Part::Kind::any, ".");
            case 4:
                return fixed(Part::Kind::start, "^");
            case 5:
                return fixed(Part::Kind::end, R"(\Z)");
            case 6:
                return fixed(Part::Kind::last_line, "$");
            case 7:
                return fixed(Part::Kind::edge, R"(\b)");
            case 8:
                return fixed(Part::Kind::no_edge, R"(\B)");
            case 9:
                return look(depth);
            case 10:
                return choice(depth);
            case 11:
                return sequence(depth);
            default:
                return repeat(depth);
        }
    }

    std::string written;

private:
    Part fixed(Part::Kind kind, std::string_view text) {
        written += text;
        return {.kind = kind};
    }
    Part letter(Part::Kind kind, std::string_view sign) {
        const char c = "ab \n"[bytes_.number() % 4];
        written += "[" + std::string(sign) + c + "]";
        return {.kind = kind, .letter = c};
    }
    void open_group() { written += bytes_.number() % 2 == 0 ? "(?:" : "("; }

    Part sequence(int depth) {
        Part part{.kind = Part::Kind::sequence};
        for (int i = bytes_.number() % 4; i >= 0; --i) part.parts.push_back(choose(depth + 1));
        return part;
    }
    Part choice(int depth) {
        Part part{.kind = Part::Kind::choice};
        open_group();
        for (int i = bytes_.number() % 3; i >= 0; --i) {
            part.parts.push_back(bytes_.number() % 8 == 0 ? Part{} : sequence(depth));
            if (i > 0) written += '|';
        }
        written += ')';
        return part;
    }
    Part look(int depth) {
        const auto pick = bytes_.number() % 4;
        Part part{.kind = pick < 2 ? Part::Kind::ahead : Part::Kind::behind, .negated = pick % 2 == 1};
        written += std::array{"(?=", "(?!", "(?<=", "(?<!"}[static_cast<std::size_t>(pick)];
        part.parts.push_back(pick < 2 ? sequence(depth) : letter(Part::Kind::letter, ""));
        written += ')';
        return part;
    }
    Part repeat(int depth) {
        struct Sign {
            const char* text;
            int min;
            int max;
        };
        static constexpr std::array<Sign, 8> signs{{{"*", 0, -1},
                                                    {"+", 1, -1},
                                                    {"?", 0, 1},
                                                    {"{2}", 2, 2},
                                                    {"{1,3}", 1, 3},
                                                    {"{0,2}", 0, 2},
                                                    {"{2,}", 2, -1},
                                                    {"{0}", 0, 0}}};
        Part part{.kind = Part::Kind::repeat};
        open_group();
        part.parts.push_back(sequence(depth));
        const auto& sign = signs[bytes_.number() % signs.size()];
        written += ")" + std::string(sign.text);
        if (bytes_.number() % 3 == 0) written += '?';
        part.min = sign.min;
        part.max = sign.max;
        return part;
    }

    fuzz::Bytes& bytes_;
};

class SlowMatcher {
public:
    explicit SlowMatcher(const std::string& text) : text_(text) {}

    [[nodiscard]] bool search(const Part& part) const { return ends(part, all()) != 0; }

private:
    [[nodiscard]] Places all() const { return (Places{2} << text_.size()) - 1; }

    // The places where `test` holds.
    template <class Test>
    [[nodiscard]] Places where(Test test) const {
        Places places = 0;
        for (std::size_t at = 0; at <= text_.size(); ++at) places |= Places{test(at)} << at;
        return places;
    }
    // One character on, where it is one that `test` takes.
    template <class Test>
    [[nodiscard]] Places step(Places from, Test test) const {
        return (from & where([&](std::size_t at) { return at < text_.size() && test(text_[at]); })) << 1U;
    }
    [[nodiscard]] bool is_edge(std::size_t at) const {
        return (at > 0 && is_word(text_[at - 1])) != (at < text_.size() && is_word(text_[at]));
    }

    [[nodiscard]] Places ends(const Part& part, Places from) const {
        switch (part.kind) {
            case Part::Kind::letter:
                return step(from, [&](char c) { return c == part.letter; });
            case Part::Kind::not_letter:
                return step(from, [&](char c) { return c != part.letter; });
            case Part::Kind::any:
                return step(from, [](char c) { return c != '\n'; });
            case Part::Kind::sequence:
                for (const auto& one : part.parts) from = ends(one, from);
                return from;
            case Part::Kind::choice: {
                Places to = 0;
                for (const auto& one : part.parts) to |= ends(one, from);
                return to;
            }
            case Part::Kind::repeat:
                return repeated(part, from);
            default:
                return from & where([&](std::size_t at) { return holds(part, at); });
        }
    }

    [[nodiscard]] bool holds(const Part& part, std::size_t at) const {
        const auto size = text_.size();
        switch (part.kind) {
            case Part::Kind::start:
                return at == 0;
            case Part::Kind::end:
                return at == size;
            case Part::Kind::last_line:
                return at == size || (at + 1 == size && text_[at] == '\n');
            case Part::Kind::edge:
                return size > 0 && is_edge(at);
            case Part::Kind::no_edge:
                return size > 0 && !is_edge(at);
            case Part::Kind::ahead:
                return (ends(part.parts[0], Places{1} << at) != 0) != part.negated;
            case Part::Kind::behind:
                return (at > 0 && text_[at - 1] == part.parts[0].letter) != part.negated;
            default:
                return false;
        }
    }

    [[nodiscard]] Places repeated(const Part& part, Places from) const {
        for (int i = 0; i < part.min; ++i) from = ends(part.parts[0], from);
        Places reached = from;
        for (int i = part.min; part.max < 0 || i < part.max; ++i) {
            const auto more = reached | ends(part.parts[0], reached);
            if (more == reached) break;
            reached = more;
        }
        return reached;
    }

    const std::string& text_;
};

}  // namespace
}  // namespace assent

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assent;
    fuzz::Bytes bytes(data, size);
    std::string text;
    for (auto left = bytes.number() % text_max; left > 0; --left) text += "ab \n"[bytes.number() % 4];
    Chooser chooser(bytes);
    const auto part = chooser.choose(0);
    const auto found = PythonPattern(chooser.written).search(text);
    if (found == PythonPattern::Found::cannot_say) return 0;
    const bool expected = SlowMatcher(text).search(part);
    if ((found == PythonPattern::Found::yes) == expected) return 0;
    std::fprintf(stderr, "pattern %s\ntext    %s\n", json_quote(chooser.written).c_str(), json_quote(text).c_str());
    fuzz::require(false, "both matchers find the same");
    return 0;
}
