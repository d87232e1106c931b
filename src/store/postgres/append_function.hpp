// The function by which format 2 made every append. This version calls append_rows (append_rows.hpp); the function
// stays in the database for processes of the version before.
#pragma once

namespace assent::postgres {

/// Creates it, where the tables are.
///
/// A function and no statement with several WITH parts: each statement in it sees what was committed before it began,
/// so what is read after a lock was got is read as it is then.
///
/// What it refuses it has not written: whoever calls it commits, whatever it says.
inline constexpr const char* create_append_function = R"sql(
CREATE FUNCTION append_row(
  in_thread text, in_creates boolean, in_task text,
  in_above text[],                           -- threads that must not be aborted
  in_takes boolean, in_holds boolean, in_gives_back boolean,
  in_runner bigint, in_fence bigint,         -- who appends, and under what it holds the thread
  in_seq bigint,                             -- of the last event that it knows
  in_status integer,                         -- null: as it was
  in_at bigint,
  -- The row: how many events it has (none: no row); its header, in two parts around the first number.
  in_events integer, in_cmd bytea, in_header_before bytea, in_header_after bytea, in_salt bytea, in_body bytea,
  in_closes bigint[],                        -- numbers, that must be open
  in_late boolean, in_server_time boolean,   -- whether their deadlines do not matter; whether by the server's clock
  in_closes_others boolean, in_turns integer[], in_positions integer[],  -- those of these calls; null: all
  -- What it opens.
  in_open_turns integer[], in_open_positions integer[], in_open_asks integer[], in_open_kinds integer[],
  in_open_guards text[], in_open_digests text[], in_open_deadlines bigint[], in_open_questions bytea[],
  in_schema_digests text[], in_schema_texts text[],  -- in order, or two that bring the same wait for each other
  in_snapshot_version integer, in_snapshot bytea,
  in_marks text, in_marks_after bigint,      -- a thread that somebody should go on with, in so many milliseconds
  in_unmarks boolean,
  in_prunes bigint,
  OUT outcome text, OUT at_seq bigint, OUT at_pos bigint, OUT under_fence bigint, OUT first_number bigint,
  OUT held_by text)
LANGUAGE plpgsql AS $function$
DECLARE
  -- The thread as it is.
  its_no bigint; its_seq bigint; its_head bigint; its_hash bytea; its_fence bigint; its_runner bigint;
  stopped boolean;
  its_deadline bigint;
  last_number bigint; number bigint;
  header bytea;
BEGIN
  -- Everybody locks in this order: the threads above, root first, then the thread, then its approvals. Those above
  -- cannot be aborted before this is committed: an abort that follows finds what it began.
  IF in_above IS NOT NULL THEN
    SELECT bool_or(status = 3) INTO stopped
      FROM (SELECT status FROM thread WHERE id = ANY(in_above) ORDER BY id FOR SHARE) AS above;
  END IF;
  SELECT no, seq, head, hash, fence, runner INTO its_no, its_seq, its_head, its_hash, its_fence, its_runner
    FROM thread WHERE id = in_thread FOR UPDATE;
  IF in_takes THEN
    -- Its right may have run out without its knowing.
    IF NOT EXISTS(SELECT FROM runner WHERE no = in_runner AND alive_until > clock_timestamp()) THEN
      outcome := 'no_right'; RETURN;
    END IF;
    SELECT 'process ' || pid || ' on ' || host INTO held_by
      FROM runner WHERE no = its_runner AND alive_until > clock_timestamp();
  END IF;
  outcome := CASE
    WHEN its_no IS NULL AND NOT in_creates THEN 'unknown_thread'
    WHEN stopped THEN 'stopped'
    WHEN held_by IS NOT NULL THEN 'leased'
    WHEN in_holds AND in_fence <> coalesce(its_fence, 0) THEN 'fenced'
    WHEN in_seq <> coalesce(its_seq, 0) THEN 'conflict'
    -- Given back by a runner that was not told of it, or held under a right that has run out.
    WHEN in_holds AND in_runner IS DISTINCT FROM its_runner THEN 'fenced'
    END;
  IF outcome IS NOT NULL THEN RETURN; END IF;
  IF in_closes IS NOT NULL THEN
    FOR i IN 1 .. cardinality(in_closes) LOOP
      SELECT deadline INTO its_deadline FROM approval WHERE no = in_closes[i] AND thread = its_no;
      IF NOT FOUND OR in_closes[i] = ANY(in_closes[:i - 1]) THEN outcome := 'closed'; RETURN; END IF;
      IF NOT in_late AND (its_deadline <= in_at
          OR in_server_time AND its_deadline <= extract(epoch FROM clock_timestamp()) * 1000) THEN
        outcome := 'expired'; RETURN;
      END IF;
    END LOOP;
    FOR i IN 1 .. cardinality(in_closes) LOOP
      DELETE FROM approval WHERE no = in_closes[i];
    END LOOP;
  END IF;
  IF its_no IS NULL THEN
    INSERT INTO thread(id, status, seq, head, hash, fence, task, updated_at)
      VALUES(in_thread, 0, 0, 0, decode(repeat('00', 32), 'hex'), 0, in_task, in_at)
      ON CONFLICT(id) DO NOTHING RETURNING no, seq, head, hash, fence INTO its_no, its_seq, its_head, its_hash, its_fence;
    -- Somebody else has just made it.
    IF its_no IS NULL THEN outcome := 'conflict'; RETURN; END IF;
  END IF;

  outcome := 'done';
  IF in_closes_others THEN
    DELETE FROM approval WHERE thread = its_no
      AND (in_turns IS NULL OR (turn, position) IN (SELECT * FROM unnest(in_turns, in_positions)));
  END IF;
  first_number := 0;
  IF in_open_turns IS NOT NULL THEN
    first_number := nextval('approval_number');
    last_number := first_number;
    WHILE last_number - first_number < cardinality(in_open_turns) - 1 LOOP
      number := nextval('approval_number');
      -- They follow each other: if another append took one between ours, we begin again behind it.
      IF number <> last_number + 1 THEN first_number := number; END IF;
      last_number := number;
    END LOOP;
    FOR i IN 1 .. cardinality(in_open_turns) LOOP
      number := first_number + i - 1;
      INSERT INTO approval(no, thread, turn, position, ask_no, kind, guard, digest, deadline, at, question)
        VALUES(number, its_no, in_open_turns[i], in_open_positions[i], in_open_asks[i], in_open_kinds[i],
          in_open_guards[i], in_open_digests[i], in_open_deadlines[i], in_at, in_open_questions[i]);
      INSERT INTO approval_ref(no, thread) VALUES(number, its_no);
    END LOOP;
  END IF;
  IF in_schema_digests IS NOT NULL THEN
    FOR i IN 1 .. cardinality(in_schema_digests) LOOP
      INSERT INTO schema_text(digest, text) VALUES(in_schema_digests[i], in_schema_texts[i]) ON CONFLICT DO NOTHING;
    END LOOP;
  END IF;
  at_seq := its_seq + in_events;
  at_pos := its_head;
  IF in_events > 0 THEN
    -- The number of its last event is a row's position.
    at_pos := at_seq;
    header := in_header_before || convert_to(first_number::text, 'UTF8') || in_header_after;
    -- SHA-256 of both, each behind its length: eight bytes, the lowest first.
    its_hash := sha256(decode('2000000000000000', 'hex') || its_hash
      || set_byte(set_byte(set_byte(set_byte(decode('0000000000000000', 'hex'), 0, octet_length(header) & 255),
           1, octet_length(header) >> 8 & 255), 2, octet_length(header) >> 16 & 255), 3, octet_length(header) >> 24)
      || header);
    INSERT INTO journal(thread, pos, prev, cmd, at, header, salt, body)
      VALUES(its_no, at_seq, its_head, in_cmd, in_at, header, in_salt, in_body);
  END IF;
  UPDATE thread SET status = coalesce(in_status, status), seq = at_seq, head = at_pos, hash = its_hash,
      fence = CASE WHEN in_takes THEN fence + 1 ELSE fence END,
      runner = CASE WHEN in_takes THEN in_runner WHEN in_gives_back THEN NULL ELSE runner END,
      updated_at = CASE WHEN in_events > 0 THEN in_at ELSE updated_at END
    WHERE no = its_no RETURNING fence INTO under_fence;
  IF in_snapshot IS NOT NULL THEN
    INSERT INTO snapshot(thread, seq, pos, version, state)
      VALUES(its_no, at_seq, at_pos, in_snapshot_version, in_snapshot)
      ON CONFLICT(thread) DO UPDATE
        SET seq = excluded.seq, pos = excluded.pos, version = excluded.version, state = excluded.state;
  END IF;
  IF in_marks IS NOT NULL THEN
    -- A mark stays as long as the thread is not taken by somebody who knows of all its events. One that was put back
    -- for later is due at once when something new happens.
    INSERT INTO ready(thread, since)
      SELECT no, clock_timestamp() + in_marks_after * interval '1 millisecond' FROM thread WHERE id = in_marks
      ON CONFLICT(thread) DO UPDATE SET since = excluded.since
        WHERE ready.runner IS NULL AND ready.since > excluded.since;
  END IF;
  IF in_prunes IS NOT NULL THEN
    UPDATE journal SET salt = NULL, body = NULL WHERE thread = its_no AND pos <= in_prunes;
    DELETE FROM snapshot WHERE thread = its_no;
    UPDATE thread SET task = '' WHERE no = its_no;
  END IF;
  IF in_unmarks THEN
    DELETE FROM ready WHERE thread = its_no;
  END IF;
END
$function$
)sql";

}  // namespace assent::postgres
