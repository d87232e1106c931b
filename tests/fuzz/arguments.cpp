// Arguments of calls as JSON: read strictly, kept to the byte, and read alike by a second reader.
#include "fuzz/fuzz.hpp"

#include "cli/json_text.hpp"

#include <assent/arguments.hpp>

#include <boost/json.hpp>

#include <algorithm>

namespace assent {
namespace {

using Kind = JsonNode::Kind;
namespace json = boost::json;
using fuzz::require;

bool same(const JsonNode& ours, const json::value& theirs) {
    switch (ours.kind) {
        case Kind::null:
            return theirs.is_null();
        case Kind::boolean:
            return theirs.is_bool() && theirs.get_bool() == ours.boolean;
        case Kind::number:
            return theirs.is_number();
        case Kind::string:
            return theirs.is_string() && theirs.get_string() == ours.string;
        case Kind::array:
            return theirs.is_array() && std::ranges::equal(ours.items, theirs.get_array(), same);
        case Kind::object:
            break;
    }
    if (!theirs.is_object() || theirs.get_object().size() != ours.keys.size()) return false;
    for (std::size_t i = 0; i < ours.keys.size(); ++i) {
        const auto* value = theirs.get_object().if_contains(ours.keys[i]);
        if (value == nullptr || !same(ours.items[i], *value)) return false;
    }
    return true;
}

// The other reader takes keys twice and deeper texts, and no exponents past its own numbers.
void compare_readers(const Result<JsonText>& ours, const std::string& text) {
    json::parse_options options;
    options.max_depth = 2 * JsonLimits{}.depth_max;
    boost::system::error_code error;
    const auto theirs = json::parse(text, error, {}, options);
    if (ours) {
        require(!error || error == json::error::exponent_overflow, "the other reader takes what we take");
        require(error || same(ours->root(), theirs), "both readers see the same value");
    } else if (!error) {
        const auto& why = ours.failure().message;
        require(why.contains("the same key twice") || why.contains("nested more than"),
                "we refuse only what two readers could read differently");
    }
}

void check_rewriting(const JsonText& read) {
    for (const auto& again : {cli::compact_json(read.root()), cli::pretty_json(read.root()),
                              cli::editable_json(read.root()), std::string(read.root().text)}) {
        const auto second = JsonText::parse(again, {.bytes_max = 8 * JsonLimits{}.bytes_max});
        require(second.ok(), "what we write can be read");
        require(same_value(read.root(), second->root()), "what we write has the same value");
        require(same_value(second->root(), read.root()), "sameness goes both ways");
    }
}

}  // namespace
}  // namespace assent

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assent;
    const auto text = fuzz::Bytes(data, size).rest();
    const auto read = JsonText::parse(text);
    compare_readers(read, text);
    const auto arguments = Arguments::parse(text);
    if (!read) {
        fuzz::require_plain(read.failure().message);
        require(!arguments, "arguments are json");
        return 0;
    }
    require(read->text() == text, "the text is kept to the byte");
    check_rewriting(*read);
    require(arguments.ok() == (read->root().kind == Kind::object), "arguments are an object, and every object is one");
    if (arguments) {
        require(arguments->sha256() == Arguments::parse(text)->sha256(), "a text has one digest");
    }
    return 0;
}
