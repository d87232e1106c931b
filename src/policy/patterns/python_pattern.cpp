#include "policy/patterns/python_pattern.hpp"

#include "policy/patterns/emitter.hpp"
#include "policy/patterns/faithful.hpp"
#include "policy/patterns/parser.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>

namespace assent {
namespace {

template <auto Free>
struct FreedBy {
    template <class T>
    void operator()(T* pointer) const noexcept {
        Free(pointer);
    }
};
using CodePointer = std::unique_ptr<pcre2_code, FreedBy<pcre2_code_free>>;
using CompileContext = std::unique_ptr<pcre2_compile_context, FreedBy<pcre2_compile_context_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, FreedBy<pcre2_match_context_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, FreedBy<pcre2_match_data_free>>;

constexpr std::uint32_t match_limit = 5'000'000;
constexpr std::uint32_t depth_limit = 1'000'000;
constexpr std::uint32_t heap_limit_kib = 64UL * 1024;

// The engine counts its own limit anew for each place where a match may begin. This one is for the
// whole search: each step costs a little, and one for each byte between it and the step before.
constexpr std::uint64_t cost_max = 100'000'000;
constexpr std::uint64_t step_cost = 8;

struct Meter {
    std::uint64_t cost = 0;
    std::size_t at = 0;
};

int count_step(pcre2_callout_block* block, void* data) {
    auto& meter = *static_cast<Meter*>(data);
    const auto at = block->current_position;
    meter.cost += step_cost + (at > meter.at ? at - meter.at : meter.at - at);
    meter.at = at;
    return meter.cost > cost_max ? PCRE2_ERROR_CALLOUT : 0;
}

template <class Pointer>
Pointer owned(typename Pointer::pointer made) {
    if (made == nullptr) throw std::bad_alloc();
    return Pointer(made);
}

struct Compiled {
    CodePointer code;
    int error = 0;
};

Compiled compile(const std::string& text) {
    const auto context = owned<CompileContext>(pcre2_compile_context_create(nullptr));
    pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
    pcre2_set_parens_nest_limit(context.get(), 1000);  // our own limit on groups is tighter
    Compiled compiled;
    PCRE2_SIZE offset = 0;
    compiled.code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                      PCRE2_UTF | PCRE2_DOTALL | PCRE2_AUTO_CALLOUT | PCRE2_NEVER_BACKSLASH_C,
                                      &compiled.error, &offset, context.get()));
    return compiled;
}

}  // namespace

struct PythonPattern::Code {
    CodePointer pointer;
};

PythonPattern::PythonPattern(std::string_view pattern) {
    const auto parsed = parse_pattern(pattern);
    refuse_unfaithful(parsed);
    auto compiled = compile(emit_pattern(parsed, SetPlace::each));
    if (compiled.code == nullptr) compiled = compile(emit_pattern(parsed, SetPlace::shared));
    if (compiled.code == nullptr) {
        throw std::invalid_argument("pattern refused: it is too large (error " + std::to_string(compiled.error) + ")");
    }
    code_ = std::make_shared<const Code>(std::move(compiled.code));
}

PythonPattern::Found PythonPattern::search(std::string_view text) const {
    const auto context = owned<MatchContext>(pcre2_match_context_create(nullptr));
    const auto data = owned<MatchData>(pcre2_match_data_create(1, nullptr));
    Meter meter;
    pcre2_set_match_limit(context.get(), match_limit);
    pcre2_set_depth_limit(context.get(), depth_limit);
    pcre2_set_heap_limit(context.get(), heap_limit_kib);
    pcre2_set_callout(context.get(), count_step, &meter);
    const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.empty() ? "" : text.data());
    const int found = pcre2_match(code_->pointer.get(), subject, text.size(), 0, 0, data.get(), context.get());
    if (found >= 0) return Found::yes;
    return found == PCRE2_ERROR_NOMATCH ? Found::no : Found::cannot_say;
}

}  // namespace assent
