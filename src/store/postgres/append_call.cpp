#include "store/postgres/append_call.hpp"

#include "journal/lineage.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace assent::postgres {

const char* const append_rows =
    "SELECT outcome, at_seq, at_pos, under_fence, first_number, held_by FROM append_rows("
    "in_waits => $1, in_server_time => $2, in_above => $3, in_threads => $4, in_creates => $5, in_tasks => $6,"
    " in_leases => $7, in_runners => $8, in_fences => $9, in_seqs => $10, in_statuses => $11, in_ats => $12,"
    " in_events => $13, in_cmds => $14, in_headers_before => $15, in_headers_after => $16, in_salts => $17,"
    " in_bodies => $18, in_late => $19, in_snapshot_versions => $20, in_snapshots => $21, in_marks => $22,"
    " in_marks_after => $23, in_unmarks => $24, in_prunes => $25, in_closes_all => $26, in_first_close => $27,"
    " in_closes => $28, in_first_call => $29, in_call_turns => $30, in_call_positions => $31, in_first_open => $32,"
    " in_open_turns => $33, in_open_positions => $34, in_open_asks => $35, in_open_kinds => $36,"
    " in_open_guards => $37, in_open_digests => $38, in_open_deadlines => $39, in_open_questions => $40,"
    " in_first_schema => $41, in_schema_places => $42, in_schema_digests => $43, in_schema_texts => $44)";

namespace {

using Of = BinaryArray::Of;
using Appends = std::span<const RowAppend* const>;

// One member of each append.
template <class Value>
BinaryArray integers(Appends appends, Value value) {
    BinaryArray array(Of::bigint);
    for (const auto* one : appends) array.add(std::optional<std::int64_t>(value(*one)));
    return array;
}

template <class Value>
BinaryArray strings(Of type, Appends appends, Value value) {
    BinaryArray array(type);
    for (const auto* one : appends) array.add(std::string_view(value(*one)));
    return array;
}

template <class Value>
BinaryArray booleans(Appends appends, Value value) {
    BinaryArray array(Of::boolean);
    for (const auto* one : appends) array.add_boolean(value(*one));
    return array;
}

// A column that most appends say nothing in is left out where none does.
template <class Says>
bool any(Appends appends, Says says) {
    return std::ranges::any_of(appends, [&](const auto* one) { return says(one->append); });
}

bool takes(const Append& append) {
    return append.lease == LeaseUse::take;
}

bool unmarks(const Append& append) {
    return takes(append) && append.expected_seq && journal::root_of(append.thread_id) == append.thread_id;
}

void add_rows(Parameters& all, Appends appends) {
    all.add(integers(appends, [](const auto& one) { return one.append.kinds.size(); }));
    all.add(strings(Of::bytea, appends, [](const auto& one) { return bytes_of(one.append.command); }));
    all.add(strings(Of::bytea, appends, [](const auto& one) { return std::string_view(one.header.before); }));
    all.add(strings(Of::bytea, appends, [](const auto& one) { return std::string_view(one.header.after); }));
    all.add(strings(Of::bytea, appends, [](const auto& one) { return std::string_view(one.append.salt); }));
    all.add(strings(Of::bytea, appends, [](const auto& one) { return std::string_view(one.append.body); }));
}

void add_snapshots(Parameters& all, Appends appends) {
    BinaryArray versions(Of::bigint);
    BinaryArray states(Of::bytea);
    if (any(appends, [](const Append& append) { return append.snapshot.has_value(); })) {
        for (const auto* one : appends) {
            const auto& snapshot = one->append.snapshot;
            versions.add_integer(snapshot ? snapshot->version : 0);
            snapshot ? states.add(snapshot->state) : states.add_null();
        }
    }
    all.add(versions).add(states);
}

void add_marks(Parameters& all, Appends appends) {
    BinaryArray marks(Of::text);
    if (any(appends, [](const Append& append) { return append.ready; })) {
        // Of a thread that works for another, the one that works for none goes on.
        for (const auto* one : appends)
            one->append.ready ? marks.add(journal::root_of(one->append.thread_id)) : marks.add_null();
    }
    all.add(marks).add(integers(appends, [](const auto& one) { return one.append.ready_after_ms; }));
    all.add(any(appends, unmarks) ? booleans(appends, [](const auto& one) { return unmarks(one.append); })
                                  : BinaryArray(Of::boolean));
}

// Where the list of each append begins, and where the last one ends, among all of them.
template <class List>
BinaryArray beginnings(Appends appends, List list) {
    BinaryArray array(Of::bigint);
    std::int64_t place = 1;
    for (const auto* one : appends) {
        array.add_integer(place);
        place += static_cast<std::int64_t>(list(one->append).size());
    }
    array.add_integer(place);
    return array;
}

void add_closed(Parameters& all, Appends appends) {
    BinaryArray numbers(Of::bigint);
    BinaryArray turns(Of::bigint);
    BinaryArray positions(Of::bigint);
    for (const auto* one : appends) {
        for (const auto number : one->append.closes) numbers.add_integer(number);
        for (const auto& [turn, position] : one->append.closes_calls) {
            turns.add_integer(turn);
            positions.add_integer(position);
        }
    }
    all.add(booleans(appends, [](const auto& one) { return one.append.closes_thread; }));
    all.add(beginnings(appends, [](const Append& append) -> auto& { return append.closes; })).add(numbers);
    all.add(beginnings(appends, [](const Append& append) -> auto& { return append.closes_calls; }));
    all.add(turns).add(positions);
}

void add_opened(Parameters& all, Appends appends) {
    BinaryArray turns(Of::bigint);
    BinaryArray positions(Of::bigint);
    BinaryArray asks(Of::bigint);
    BinaryArray kinds(Of::bigint);
    BinaryArray guards(Of::text);
    BinaryArray digests(Of::text);
    BinaryArray deadlines(Of::bigint);
    BinaryArray questions(Of::bytea);
    for (const auto* one : appends) {
        for (const auto& open : one->append.opens) {
            turns.add_integer(open.turn);
            positions.add_integer(open.position);
            asks.add_integer(open.ask_no);
            kinds.add_integer(static_cast<std::int64_t>(open.kind));
            guards.add(open.guard);
            digests.add(open.digest);
            deadlines.add(open.deadline);
            questions.add(open.question);
        }
    }
    all.add(beginnings(appends, [](const Append& append) -> auto& { return append.opens; }));
    all.add(turns).add(positions).add(asks).add(kinds).add(guards).add(digests).add(deadlines).add(questions);
}

void add_schemas(Parameters& all, Appends appends) {
    std::map<std::string_view, std::string_view> schemas;
    for (const auto* one : appends) schemas.insert(one->append.schemas.begin(), one->append.schemas.end());
    BinaryArray places(Of::bigint);
    for (const auto* one : appends) {
        for (const auto& [digest, text] : one->append.schemas)
            places.add_integer(std::distance(schemas.begin(), schemas.find(digest)) + 1);
    }
    BinaryArray digests(Of::text);
    BinaryArray texts(Of::text);
    for (const auto& [digest, text] : schemas) {
        digests.add(digest);
        texts.add(text);
    }
    all.add(beginnings(appends, [](const Append& append) -> auto& { return append.schemas; }));
    all.add(places).add(digests).add(texts);
}

Result<AppendResult> read_one(const Rows& rows, int row) {
    static constexpr std::pair<std::string_view, AppendStatus> all[] = {
        {"done", AppendStatus::done},       {"unknown_thread", AppendStatus::unknown_thread},
        {"stopped", AppendStatus::stopped}, {"leased", AppendStatus::leased},
        {"fenced", AppendStatus::fenced},   {"conflict", AppendStatus::conflict},
        {"closed", AppendStatus::closed},   {"expired", AppendStatus::expired}};
    const auto outcome = rows.text(row, 0);
    if (outcome == "no_right")
        return failure_of(Error("55000", "the right of this process to run threads has run out; try again", false));
    const auto* const found = std::ranges::find(all, outcome, &std::pair<std::string_view, AppendStatus>::first);
    if (found == std::end(all))
        return failure_of(Error("XX000", "the function append_rows says what this version does not know", false));
    AppendResult result{.status = found->second};
    if (result.status == AppendStatus::leased) result.leased_by = rows.text(row, 5);
    if (result.status != AppendStatus::done) return result;
    result.seq = rows.integer(row, 1);
    result.pos = rows.integer(row, 2);
    result.fence = rows.integer(row, 3);
    result.first_number = rows.integer(row, 4);
    return result;
}

}  // namespace

std::string task_of(const Append& append) {
    std::string task;
    for (const char c : append.task) task += c == '\0' ? std::string("\xef\xbf\xbd") : std::string(1, c);
    return task;
}

RowAppend::RowAppend(const Append& wanted, std::int64_t by, std::int64_t at_seq, std::int64_t under)
    : append(wanted), runner(by), seq(at_seq), fence(under) {
    if (append.kinds.empty()) return;
    header = journal::encode_without_number({.thread = append.thread_id,
                                             .seq = seq + static_cast<std::int64_t>(append.kinds.size()),
                                             .at = append.at,
                                             .kinds = append.kinds,
                                             .body_digest = journal::body_digest(append.salt, append.body)});
}

AppendResult doubtful(const RowAppend& row, const std::string& why) {
    const auto raised = takes(row.append) ? 1 : 0;
    return {.status = AppendStatus::uncertain, .fence = row.fence + raised, .doubt = why};
}

Parameters parameters_of(Appends appends, bool waits, bool server_time) {
    Parameters all;
    all.add_boolean(waits).add_boolean(server_time);
    BinaryArray above(Of::text);
    for (const auto& id : appends.front()->append.ancestors) above.add(id);
    all.add(above);
    all.add(strings(Of::text, appends, [](const auto& one) { return std::string_view(one.append.thread_id); }));
    all.add(booleans(appends, [](const auto& one) { return one.append.create; }));
    all.add(strings(Of::text, appends, [](const auto& one) { return task_of(one.append); }));
    all.add(integers(appends, [](const auto& one) { return static_cast<std::int64_t>(one.append.lease); }));
    all.add(integers(appends, [](const auto& one) { return one.runner; }));
    all.add(integers(appends, [](const auto& one) { return one.fence; }));
    all.add(integers(appends, [](const auto& one) { return one.seq; }));
    all.add(integers(appends, [](const auto& one) {
        const auto& status = one.append.status;
        return status ? std::optional(static_cast<std::int64_t>(*status)) : std::nullopt;
    }));
    all.add(integers(appends, [](const auto& one) { return one.append.at; }));
    add_rows(all, appends);
    all.add(booleans(appends, [](const auto& one) { return one.append.closes_late; }));
    add_snapshots(all, appends);
    add_marks(all, appends);
    const auto prunes = [](const Append& append) { return append.prunes; };
    all.add(any(appends, [&](const Append& append) { return prunes(append).has_value(); })
                ? integers(appends, [&](const auto& one) { return prunes(one.append); })
                : BinaryArray(Of::bigint));
    add_closed(all, appends);
    add_opened(all, appends);
    add_schemas(all, appends);
    return all;
}

WrittenTogether read_results(const Rows& rows) {
    WrittenTogether results;
    for (int row = 0; row < rows.count(); ++row) {
        const auto outcome = rows.text(row, 0);
        const bool not_done_here = outcome == "busy" || outcome == "other_fence";
        results.push_back(not_done_here ? std::nullopt : std::optional(read_one(rows, row)));
    }
    return results;
}

}  // namespace assent::postgres
