// Names the members of stored types for Boost.JSON: a member's name is its stored name.
// Adding a member to a stored event needs a new encoding version, or a place among the `late_members` of
// encoding.cpp; the golden files tell. One of a snapshot's needs a new `snapshot_version`.
#pragma once

#include "journal/thread.hpp"

#include <boost/describe.hpp>

namespace assent {

BOOST_DESCRIBE_ENUM(Verdict, allow, ask, deny)
BOOST_DESCRIBE_ENUM(DecisionKind, approve, deny, edit, respond)
BOOST_DESCRIBE_ENUM(Style, assent, rules, table, policy)
BOOST_DESCRIBE_ENUM(ApprovalKind, approve, unknown, confirm, ask)
BOOST_DESCRIBE_ENUM(ApprovalState, open, approved, denied, edited, answered, resolved, timed_out, withdrawn, aborted)
BOOST_DESCRIBE_ENUM(Resolution, done, retry, fail)
BOOST_DESCRIBE_ENUM(OutcomeKind, done, failed, skipped, denied, timed_out, cancelled, answered, unknown)
BOOST_DESCRIBE_ENUM(Role, user, assistant, tool)
BOOST_DESCRIBE_ENUM(ThreadStatus, active, done, failed, aborted)

BOOST_DESCRIBE_STRUCT(Question, (), (style, description, details, payload, interrupt_id, allowed, timeout_ms))
BOOST_DESCRIBE_STRUCT(ToolResult, (), (text, is_error, details, unknown))
BOOST_DESCRIBE_STRUCT(ProposedCall, (), (tool, id, arguments))
BOOST_DESCRIBE_STRUCT(Message, (),
                      (role, text, calls, tool, tool_call_id, is_error, used_arguments, provider_content, stop_reason))
BOOST_DESCRIBE_STRUCT(Approval, (),
                      (id, number, kind, thread, turn, position, ask_no, tool, tool_call_id, arguments, arguments_raw,
                       digest, guard, guard_version, reason, question, schema, state, asked_at, deadline, use_by,
                       use_by_ms, decision, decided_by, decided_at, attempt, process))

namespace journal {

BOOST_DESCRIBE_ENUM(CallStage, proposed, asked, edited, ready, claimed, delegated, unknown, ended)

BOOST_DESCRIBE_STRUCT(CallRef, (), (turn, position))
BOOST_DESCRIBE_STRUCT(RecordedCall, (), (tool, id, arguments, arguments_hex))
BOOST_DESCRIBE_STRUCT(GuardVerdict, (), (guard, version, verdict, reason))
BOOST_DESCRIBE_STRUCT(KnownTool, (), (name, schema))
BOOST_DESCRIBE_STRUCT(Configured, (), (settings, tools))
BOOST_DESCRIBE_STRUCT(UserMessage, (), (text, by, key))
BOOST_DESCRIBE_STRUCT(Queued, (), (text, by, key))
BOOST_DESCRIBE_STRUCT(ModelSaid, (), (turn, text, calls, stop_reason, provider_content, input_tokens, output_tokens))
BOOST_DESCRIBE_STRUCT(Prepared, (), (call, arguments))
BOOST_DESCRIBE_STRUCT(Refused, (), (call, text))
BOOST_DESCRIBE_STRUCT(Judged, (), (call, verdict, guards, text, style, failed))
BOOST_DESCRIBE_STRUCT(GuardVersion, (), (guard, version))
BOOST_DESCRIBE_STRUCT(Asked, (),
                      (number, call, ask_no, kind, tool, arguments, guard, guard_version, reason, question, binding,
                       schema, deadline, use_by_ms, attempt, idempotent, answers_call, also))
BOOST_DESCRIBE_STRUCT(Answered, (),
                      (number, call, decision, tool, arguments, message, text, by, signed_in, shown, answer,
                       empty_reason))
BOOST_DESCRIBE_STRUCT(ProcessMark, (), (host, boot, pid, started))
BOOST_DESCRIBE_STRUCT(Start, (), (call, attempt, arguments_sha256))
BOOST_DESCRIBE_STRUCT(Claimed, (), (starts, process))
BOOST_DESCRIBE_STRUCT(Released, (), (attempt, reason))
BOOST_DESCRIBE_STRUCT(Finished, (), (attempt, outcome, result))
BOOST_DESCRIBE_STRUCT(Doubted, (), (attempt, reason, may_run_again, returned))
BOOST_DESCRIBE_STRUCT(LateFinished, (), (attempt, outcome, result))
BOOST_DESCRIBE_STRUCT(Delegated, (), (call, child))
BOOST_DESCRIBE_STRUCT(ChildFinished, (), (child, outcome, result, turns_used, calls_used))
BOOST_DESCRIBE_STRUCT(Resolved, (), (number, call, how, text, by, signed_in))
BOOST_DESCRIBE_STRUCT(Withdrawn, (), (number, reason, text, by))
BOOST_DESCRIBE_STRUCT(TimedOut, (), (number, text))
BOOST_DESCRIBE_STRUCT(Aborted, (), (reason, by))
BOOST_DESCRIBE_STRUCT(RunFinished, (), (ok, failure_kind, message))
BOOST_DESCRIBE_STRUCT(FileChange, (), (path, removed, at, cut, text))
BOOST_DESCRIBE_STRUCT(FilesChanged, (), (attempt, changes))
BOOST_DESCRIBE_STRUCT(Pruned, (), (upto, by))

BOOST_DESCRIBE_STRUCT(Ask, (), (asked, asked_at, state, answer, resolution, decided_by, decided_at, close_reason))
BOOST_DESCRIBE_STRUCT(Attempt, (), (id, process, at, open))
BOOST_DESCRIBE_STRUCT(Call, (),
                      (ref, proposed, tool, arguments, stage, asks, verdicts, approvals, satisfied, attempts, outcome,
                       result, ran, edited, traces, blocked, block_reason))
BOOST_DESCRIBE_STRUCT(PromptKey, (), (key, text_sha256))
// Without `files`: a snapshot has none.
BOOST_DESCRIBE_STRUCT(ThreadState, (),
                      (configured, messages, messages_cut, last_text, turns, run_turns, run_calls, calls, turn_open,
                       running, status, aborted, finished, queue, prompt_keys, seq, files_cut))

}  // namespace journal
}  // namespace assent
