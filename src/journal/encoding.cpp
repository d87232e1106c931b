#include "journal/encoding.hpp"

#include "base/display.hpp"
#include "journal/described.hpp"

#include <boost/json.hpp>

namespace assent::journal {
namespace {

namespace json = boost::json;

constexpr int body_version = 1;
constexpr int header_version = 1;

Failure damaged(std::string_view what) {
    return {FailureKind::database,
            std::string(what) + " cannot be read; the database is damaged or was written by a newer version"};
}

json::object with_kind(const Event& event) {
    auto fields = std::visit([](const auto& plain) { return json::value_from(plain).as_object(); }, event);
    json::object out;
    out["event"] = kind_of(event);
    for (auto& field : fields) out[field.key()] = std::move(field.value());
    // Left out unless it says something, as by versions that did not know it.
    if (const auto* doubted = std::get_if<Doubted>(&event); doubted != nullptr && !doubted->returned)
        out.erase("returned");
    return out;
}

// What older versions did not write.
void add_missing(std::string_view kind, json::object& fields) {
    if (kind == kind_of(Doubted{})) fields.emplace("returned", false);
}

// Reads the one alternative of Event whose kind is `kind`.
template <std::size_t I = 0>
std::optional<Event> read_event(std::string_view kind, const json::value& fields) {
    if constexpr (I == std::variant_size_v<Event>) {
        return std::nullopt;
    } else {
        using Alternative = std::variant_alternative_t<I, Event>;
        if (kind_of(Event(Alternative{})) != kind) return read_event<I + 1>(kind, fields);
        auto read = json::try_value_to<Alternative>(fields);
        if (!read) return std::nullopt;
        return Event(std::move(*read));
    }
}

template <class T>
Result<T> read_versioned(const std::string& bytes, int version, std::string_view what) {
    boost::system::error_code error;
    const auto parsed = json::parse(bytes, error);
    if (error || !parsed.is_object()) return damaged(what);
    const auto* found = parsed.as_object().if_contains("v");
    const auto* value = parsed.as_object().if_contains("d");
    if (found == nullptr || value == nullptr || *found != version) return damaged(what);
    auto read = json::try_value_to<T>(*value);
    if (!read) return damaged(what);
    return std::move(*read);
}

// JSON text that can be read again: bytes that are no UTF-8 (of a guard, a tool, a host) would make a
// whole thread unreadable.
std::string written(const json::value& value) {
    auto text = json::serialize(value);
    return valid_utf8(text) ? text : repaired_utf8(text);
}

template <class T>
std::string write_versioned(const T& value, int version) {
    return written(json::object{{"v", version}, {"d", json::value_from(value)}});
}

}  // namespace

std::string encode(std::span<const Event> events) {
    json::array list;
    for (const auto& event : events) {
        auto object = with_kind(event);
        if (std::holds_alternative<Asked>(event)) object["number"] = 0;  // the store gives it
        list.push_back(std::move(object));
    }
    return written(json::object{{"v", body_version}, {"events", std::move(list)}});
}

Result<std::vector<Event>> decode(const std::string& body, std::int64_t first_number) {
    boost::system::error_code error;
    const auto parsed = json::parse(body, error);
    if (error || !parsed.is_object()) return damaged("a journal row");
    const auto& object = parsed.as_object();
    const auto* version = object.if_contains("v");
    const auto* list = object.if_contains("events");
    if (version == nullptr || list == nullptr || !list->is_array() || *version != body_version)
        return damaged("a journal row");
    std::vector<Event> events;
    for (const auto& item : list->as_array()) {
        if (!item.is_object()) return damaged("a journal row");
        auto fields = item.as_object();
        const auto* kind = fields.if_contains("event");
        if (kind == nullptr || !kind->is_string()) return damaged("a journal row");
        const std::string name(kind->as_string());
        fields.erase("event");
        add_missing(name, fields);
        auto event = read_event(name, fields);
        if (!event) return damaged("a journal row");
        if (auto* asked = std::get_if<Asked>(&*event)) asked->number = first_number++;
        events.push_back(std::move(*event));
    }
    return events;
}

std::string encode(const Header& header) {
    json::array kinds(header.kinds.begin(), header.kinds.end());
    return written(json::object{{"v", header_version},
                                {"t", header.thread},
                                {"s", header.seq},
                                {"at", header.at},
                                {"k", std::move(kinds)},
                                {"n", header.first_number},
                                {"b", header.body_digest}});
}

Result<Header> decode_header(const std::string& bytes) {
    boost::system::error_code error;
    const auto parsed = json::parse(bytes, error);
    if (error || !parsed.is_object()) return damaged("a journal header");
    try {
        const auto& object = parsed.as_object();
        if (object.at("v") != header_version) return damaged("a journal header");
        Header header{.thread = std::string(object.at("t").as_string()),
                      .seq = object.at("s").as_int64(),
                      .at = object.at("at").as_int64(),
                      .first_number = object.at("n").as_int64(),
                      .body_digest = std::string(object.at("b").as_string())};
        for (const auto& kind : object.at("k").as_array()) header.kinds.emplace_back(kind.as_string());
        return header;
    } catch (const std::exception&) {
        return damaged("a journal header");
    }
}

std::string body_digest(std::string_view salt, std::string_view body) {
    const std::string_view fields[] = {salt, body};
    return hex(sha256_fields(fields));
}

Digest chain(std::span<const std::uint8_t> previous, std::string_view header) {
    const std::string_view fields[] = {{reinterpret_cast<const char*>(previous.data()), previous.size()}, header};
    return sha256_fields(fields);
}

std::string encode_state(const ThreadState& state) {
    return write_versioned(state, snapshot_version);
}

Result<ThreadState> decode_state(const std::string& bytes) {
    return read_versioned<ThreadState>(bytes, snapshot_version, "a snapshot");
}

std::string encode_question(const Approval& approval) {
    return write_versioned(approval, body_version);
}

Result<Approval> decode_question(const std::string& bytes) {
    return read_versioned<Approval>(bytes, body_version, "an open approval");
}

std::string event_json(const Event& event) {
    return written(with_kind(event));
}

}  // namespace assent::journal
