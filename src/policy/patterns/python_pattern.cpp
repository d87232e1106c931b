#include "policy/patterns/python_pattern.hpp"

#include "base/utf8.hpp"
#include "policy/patterns/matcher.hpp"
#include "policy/patterns/parser.hpp"
#include "policy/patterns/program.hpp"

#include <string>

namespace assent {

PythonPattern::PythonPattern(std::string_view pattern)
    : program_(std::make_shared<const Program>(make_program(parse_pattern(pattern)))) {}

PythonPattern::Found PythonPattern::search(std::string_view text) const {
    std::u32string characters;
    characters.reserve(text.size());
    while (!text.empty()) {
        const auto next = read_utf8(text);
        if (next.size == 0) return Found::cannot_say;
        characters += next.point;
        text.remove_prefix(next.size);
    }
    switch (Matcher(*program_, characters).search()) {
        case Matcher::Found::yes:
            return Found::yes;
        case Matcher::Found::no:
            return Found::no;
        case Matcher::Found::too_costly:
            break;
    }
    return Found::cannot_say;
}

}  // namespace assent
