#include "cli/json_out.hpp"

#include "base/time_text.hpp"

#include <algorithm>

namespace assent::cli {

bool breaks_line(char c) {
    return c == '\n' || c == '\r';
}

JsonObject& JsonObject::time(std::string_view key, std::optional<UnixMillis> value) {
    return value ? text(key, rfc3339(*value)) : null(key);
}

JsonObject& JsonObject::raw(std::string_view key, std::string_view json) {
    if (!members_.empty()) members_ += ", ";
    members_ += json_quote(key);
    members_ += ": ";
    const auto begin = members_.size();
    members_ += json.empty() ? std::string_view("null") : json;
    // Outside of texts a line break is a blank. Kept, it would let a model write lines of its own into
    // an output of one document a line.
    std::replace_if(members_.begin() + static_cast<std::ptrdiff_t>(begin), members_.end(), breaks_line, ' ');
    return *this;
}

std::string json_array(const std::vector<std::string>& items) {
    std::string out = "[";
    for (const auto& item : items) {
        if (out.size() > 1) out += ", ";
        out += item;
    }
    return out + "]";
}

std::string json_texts(const std::vector<std::string>& texts) {
    std::vector<std::string> quoted;
    for (const auto& text : texts) quoted.push_back(json_quote(text));
    return json_array(quoted);
}

}  // namespace assent::cli
