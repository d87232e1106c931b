#include "journal/encoding.hpp"

#include "base/display.hpp"
#include "journal/described.hpp"
#include "journal/json_writer.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>

namespace assent::journal {
namespace {

namespace json = boost::json;

constexpr int body_version = 1;
constexpr int header_version = 1;
// Most rows of a conversation fit.
constexpr std::size_t bytes_expected = 2048;

Failure damaged(std::string_view what) {
    return {FailureKind::database,
            std::string(what) + " cannot be read; the database is damaged or was written by a newer version"};
}

// What is counted on from. More than anything can have been counted is damage, and would overflow.
bool is_count(std::int64_t number) {
    constexpr std::int64_t count_max = 1'000'000'000;
    return number >= 0 && number <= count_max;
}

bool counts_are_possible(const Event& event) {
    if (const auto* said = std::get_if<ModelSaid>(&event)) return is_count(said->turn);
    if (const auto* asked = std::get_if<Asked>(&event)) return is_count(asked->ask_no);
    if (const auto* ended = std::get_if<ChildFinished>(&event))
        return is_count(ended->turns_used) && is_count(ended->calls_used);
    if (const auto* changed = std::get_if<FilesChanged>(&event))
        return std::ranges::all_of(
            changed->changes, [](const FileChange& change) { return is_count(change.at) && is_count(change.cut); });
    return true;
}

bool counts_are_possible(const ThreadState& state) {
    return is_count(state.turns) && is_count(state.run_turns) && is_count(state.run_calls) && is_count(state.seq) &&
           std::ranges::all_of(state.calls, [](const Call& call) { return is_count(call.asks); });
}

// Members that came after the first version. Left out while they have their default, so that the bytes stay
// the same; a row that does not have them means the default.
template <class T>
constexpr std::span<const std::string_view> late_members = {};
constexpr std::string_view late_of_user_message[] = {"key"};
template <>
constexpr std::span<const std::string_view> late_members<UserMessage> = late_of_user_message;
constexpr std::string_view late_of_judged[] = {"style", "failed"};
template <>
constexpr std::span<const std::string_view> late_members<Judged> = late_of_judged;
constexpr std::string_view late_of_asked[] = {"answers_call", "also"};
template <>
constexpr std::span<const std::string_view> late_members<Asked> = late_of_asked;
constexpr std::string_view late_of_answered[] = {"empty_reason"};
template <>
constexpr std::span<const std::string_view> late_members<Answered> = late_of_answered;
constexpr std::string_view late_of_doubted[] = {"returned"};
template <>
constexpr std::span<const std::string_view> late_members<Doubted> = late_of_doubted;
constexpr std::string_view late_of_withdrawn[] = {"text", "by"};
template <>
constexpr std::span<const std::string_view> late_members<Withdrawn> = late_of_withdrawn;

template <class T>
bool is_late(std::string_view member) {
    return std::ranges::find(late_members<T>, member) != late_members<T>.end();
}

// {"event": KIND, its own fields}
void write_event(std::string& out, const Event& event) {
    out += R"({"event":)";
    write_json(out, kind_of(event));
    std::visit(
        [&]<class Plain>(const Plain& plain) {
            write_members(out, plain, false, [&](auto member) {
                return is_late<Plain>(member.name) && plain.*member.pointer == Plain{}.*member.pointer;
            });
        },
        event);
    out += '}';
}

// What older versions did not write.
template <class T>
void add_missing(json::object& fields) {
    using Members = boost::describe::describe_members<T, boost::describe::mod_public>;
    boost::mp11::mp_for_each<Members>([&](auto member) {
        if (!is_late<T>(member.name) || fields.contains(member.name)) return;
        fields.emplace(member.name, json::value_from(T{}.*member.pointer, fields.storage()));
    });
}

// Reads the one alternative of Event whose kind is `kind`.
template <std::size_t I = 0>
std::optional<Event> read_event(std::string_view kind, json::value& fields) {
    if constexpr (I == std::variant_size_v<Event>) {
        return std::nullopt;
    } else {
        using Alternative = std::variant_alternative_t<I, Event>;
        if (kind_of(Event(Alternative{})) != kind) return read_event<I + 1>(kind, fields);
        add_missing<Alternative>(fields.as_object());
        auto read = json::try_value_to<Alternative>(fields);
        if (!read) return std::nullopt;
        return Event(std::move(*read));
    }
}

// Memory for one tree of values that is read once: most rows need none but this.
class ParseMemory {
public:
    [[nodiscard]] json::storage_ptr storage() noexcept { return &resource_; }

private:
    std::array<unsigned char, 8192> buffer_{};
    json::monotonic_resource resource_{buffer_.data(), buffer_.size()};
};

template <class T>
Result<T> read_versioned(const std::string& bytes, int version, std::string_view what) {
    boost::system::error_code error;
    ParseMemory memory;
    const auto parsed = json::parse(bytes, error, memory.storage());
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
std::string readable(std::string text) {
    return valid_utf8(text) ? std::move(text) : repaired_utf8(text);
}

constexpr const char* before_first_number = R"(,"n":)";

// {"v": version, and then
std::string versioned(int version) {
    std::string out;
    out.reserve(bytes_expected);
    out += R"({"v":)";
    write_json(out, version);
    return out;
}

template <class T>
std::string write_versioned(const T& value, int version) {
    auto out = versioned(version);
    out += R"(,"d":)";
    write_json(out, value);
    out += '}';
    return readable(std::move(out));
}

}  // namespace

std::string encode(std::span<const Event> events) {
    auto out = versioned(body_version);
    out += R"(,"events":[)";
    bool first = true;
    for (const auto& event : events) {
        if (!first) out += ',';
        first = false;
        const auto* asked = std::get_if<Asked>(&event);
        if (asked != nullptr && asked->number != 0) {
            Asked unnumbered = *asked;
            unnumbered.number = 0;  // the store gives it
            write_event(out, unnumbered);
        } else {
            write_event(out, event);
        }
    }
    out += "]}";
    return readable(std::move(out));
}

Result<std::vector<Event>> decode(const std::string& body, std::int64_t first_number) {
    boost::system::error_code error;
    ParseMemory memory;
    auto parsed = json::parse(body, error, memory.storage());
    if (error || !parsed.is_object()) return damaged("a journal row");
    auto& object = parsed.as_object();
    const auto* version = object.if_contains("v");
    auto* list = object.if_contains("events");
    if (version == nullptr || list == nullptr || !list->is_array() || *version != body_version)
        return damaged("a journal row");
    std::vector<Event> events;
    for (auto& item : list->as_array()) {
        if (!item.is_object()) return damaged("a journal row");
        auto& fields = item.as_object();
        const auto* kind = fields.if_contains("event");
        if (kind == nullptr || !kind->is_string()) return damaged("a journal row");
        const std::string name(kind->as_string());
        fields.erase("event");
        auto event = read_event(name, item);
        if (!event || !counts_are_possible(*event)) return damaged("a journal row");
        if (auto* asked = std::get_if<Asked>(&*event)) asked->number = first_number++;
        events.push_back(std::move(*event));
    }
    return events;
}

std::string encode(const Header& header) {
    auto out = versioned(header_version);
    const auto member = [&](const char* name, const auto& value) {
        out += name;
        write_json(out, value);
    };
    member(R"(,"t":)", header.thread);
    member(R"(,"s":)", header.seq);
    member(R"(,"at":)", header.at);
    member(R"(,"k":)", header.kinds);
    member(before_first_number, header.first_number);
    member(R"(,"b":)", header.body_digest);
    out += '}';
    return readable(std::move(out));
}

HeaderParts encode_without_number(Header header) {
    header.first_number = 0;
    const auto whole = encode(header);
    // Behind it is a digest in hex, which does not look like it.
    const auto number = whole.rfind(before_first_number) + std::string_view(before_first_number).size();
    return {.before = whole.substr(0, number), .after = whole.substr(number + 1)};
}

Result<Header> decode_header(const std::string& bytes) {
    boost::system::error_code error;
    ParseMemory memory;
    const auto parsed = json::parse(bytes, error, memory.storage());
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
    // Files are never written, only that there are some.
    constexpr std::string_view files_cut = "files_cut";
    auto out = versioned(snapshot_version);
    out += R"(,"d":{)";
    write_members(out, state, true, [&](auto member) { return member.name == files_cut; });
    out += R"(,"files_cut":)";
    write_json(out, state.files_cut || !state.files.empty());
    out += "}}";
    return readable(std::move(out));
}

Result<ThreadState> decode_state(const std::string& bytes) {
    auto state = read_versioned<ThreadState>(bytes, snapshot_version, "a snapshot");
    if (state && !counts_are_possible(*state)) return damaged("a snapshot");
    return state;
}

std::string encode_question(const Approval& approval) {
    return write_versioned(approval, body_version);
}

Result<Approval> decode_question(const std::string& bytes) {
    return read_versioned<Approval>(bytes, body_version, "an open approval");
}

std::string event_json(const Event& event) {
    std::string out;
    write_event(out, event);
    return readable(std::move(out));
}

}  // namespace assent::journal
