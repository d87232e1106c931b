// The function in the database by which every append is made: several at once, one statement, one way there and back.
#pragma once

namespace assent::postgres {

/// Creates it, where the tables are, or replaces it.
///
/// A function and no statement with several WITH parts: each statement in it sees what was committed before it began,
/// so what is read after a lock was got is read as it is then. It finds all rows by their keys, however many there are:
/// a plan that was made while a table was small stays right.
///
/// What it refuses it has not written, and what it does it does whatever becomes of the other appends: whoever calls it
/// commits, whatever it says. It says of each, in the order given,
///   `done`, or what stands in AppendStatus;
///   `busy`: somebody else is at its thread, and the caller does not wait for that;
///   `other_fence`: it would take a thread that does not stand under the fence that it was thought to;
///   `no_right`: its runner's right has run out.
inline constexpr const char* create_append_rows = R"sql(
CREATE OR REPLACE FUNCTION append_rows(
  in_waits boolean,                          -- where somebody else is at a thread; for one append
  in_server_time boolean,                    -- whether deadlines are met by the server's clock, too
  in_above text[],                           -- threads that must not be aborted
  -- Of each append, in the order of their threads, which differ: its thread;
  in_threads text[], in_creates boolean[], in_tasks text[],
  in_leases bigint[],                        -- 0: none, 1: takes, 2: keeps, 3: gives back
  in_runners bigint[], in_fences bigint[],   -- who appends, and under what the thread is held, or was before it is taken
  in_seqs bigint[],                          -- of the last event that it knows
  in_statuses bigint[],                      -- null: as it was
  in_ats bigint[],
  -- the row: how many events it has (0: no row); its header, in two parts around the first number;
  in_events bigint[], in_cmds bytea[], in_headers_before bytea[], in_headers_after bytea[], in_salts bytea[],
  in_bodies bytea[],
  in_late boolean[],                         -- whether the deadlines of what it closes do not matter
  in_snapshot_versions bigint[], in_snapshots bytea[],
  in_marks text[], in_marks_after bigint[],  -- a thread that somebody should go on with, in so many milliseconds
  in_unmarks boolean[],
  in_prunes bigint[],
  in_closes_all boolean[],                   -- whether it closes all of its thread
  -- Lists, one behind the other; of each append, and behind the last one, the place where its own begins. What it closes:
  -- numbers, that must be open, and those of calls. What it opens. The schemas that it brings, by their places among all
  -- that are brought, which are in order: else two groups that bring the same could wait for each other.
  in_first_close bigint[], in_closes bigint[],
  in_first_call bigint[], in_call_turns bigint[], in_call_positions bigint[],
  in_first_open bigint[], in_open_turns bigint[], in_open_positions bigint[], in_open_asks bigint[],
  in_open_kinds bigint[], in_open_guards text[], in_open_digests text[], in_open_deadlines bigint[],
  in_open_questions bytea[],
  in_first_schema bigint[], in_schema_places bigint[], in_schema_digests text[], in_schema_texts text[])
RETURNS TABLE(outcome text, at_seq bigint, at_pos bigint, under_fence bigint, first_number bigint, held_by text)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off AS $function$
DECLARE
  stopped boolean;
  has_right boolean; right_of bigint;        -- whether that runner may take threads
  takes boolean; holds boolean; makes boolean;
  -- Threads that are there and free, as they are: their places among all that are wanted, in order; the spots of their
  -- rows, which stay while the locks are held.
  places bigint[]; spots tid[]; nos bigint[]; seqs bigint[]; heads bigint[]; hashes bytea[]; fences bigint[];
  runners bigint[];
  next_place integer := 1;
  -- The one in hand.
  its_no bigint; its_seq bigint; its_head bigint; its_hash bytea; its_fence bigint; its_runner bigint;
  its_deadline bigint;
  opens bigint; last_number bigint; number bigint;
  header bytea;
  -- Of what is done, written when all is known, one statement for each table: what a statement does before its first
  -- row costs more than a row. Places of appends whose threads were there, and of those with a row; what becomes of
  -- threads, by the places of their appends;
  changed integer[]; changed_spots tid[]; written integer[];
  its_nos bigint[]; new_seqs bigint[]; new_heads bigint[]; new_hashes bytea[]; new_fences bigint[];
  old_heads bigint[]; headers bytea[];
  -- approvals that are opened, with their threads; marks to put and to remove; schemas; what is pruned.
  opened bigint[]; opened_of bigint[]; opened_places integer[]; opened_ats bigint[];
  marked text[]; marked_after bigint[]; unmarked bigint[]; brought bigint[]; pruned integer[];
BEGIN
  -- Rows that others have just made are waited for, too, and rows of marks; whoever has several appends in hand does not
  -- wait long, and so never in a circle.
  IF NOT in_waits THEN
    held_by := set_config('lock_timeout', '100ms', true);
  END IF;
  -- Everybody locks in this order: the threads above, root first, then the threads, then their approvals, then marks.
  -- Those above cannot be aborted before this is committed: an abort that follows finds what it began.
  IF in_above IS NOT NULL THEN
    SELECT bool_or(status = 3) INTO stopped
      FROM (SELECT status FROM thread WHERE id = ANY(in_above) ORDER BY id FOR SHARE) AS above;
  END IF;
  -- One by one, and by its key: a lock in a subquery is no part of a join, whose order the server would choose.
  IF in_waits THEN
    SELECT array_agg(place), array_agg(spot), array_agg(no), array_agg(seq), array_agg(head), array_agg(hash),
        array_agg(fence), array_agg(runner)
      INTO places, spots, nos, seqs, heads, hashes, fences, runners
      FROM unnest(in_threads) WITH ORDINALITY AS wanted(wanted_id, place),
        LATERAL (SELECT ctid AS spot, * FROM thread WHERE id = wanted_id FOR UPDATE) AS there;
  ELSE
    SELECT array_agg(place), array_agg(spot), array_agg(no), array_agg(seq), array_agg(head), array_agg(hash),
        array_agg(fence), array_agg(runner)
      INTO places, spots, nos, seqs, heads, hashes, fences, runners
      FROM unnest(in_threads) WITH ORDINALITY AS wanted(wanted_id, place),
        LATERAL (SELECT ctid AS spot, * FROM thread WHERE id = wanted_id FOR UPDATE SKIP LOCKED) AS free;
  END IF;
  FOR i IN 1 .. cardinality(in_threads) LOOP
    takes := in_leases[i] = 1;
    holds := in_leases[i] IN (2, 3);
    held_by := NULL;
    makes := places[next_place] IS DISTINCT FROM i;
    IF makes THEN
      its_no := NULL; its_seq := 0; its_head := 0; its_hash := decode(repeat('00', 32), 'hex'); its_fence := 0;
      its_runner := NULL;
    ELSE
      its_no := nos[next_place]; its_seq := seqs[next_place]; its_head := heads[next_place];
      its_hash := hashes[next_place]; its_fence := fences[next_place]; its_runner := runners[next_place];
      next_place := next_place + 1;
    END IF;
    IF takes THEN
      -- Its right may have run out without its knowing.
      IF right_of IS DISTINCT FROM in_runners[i] THEN
        right_of := in_runners[i];
        has_right := EXISTS(SELECT FROM runner WHERE no = right_of AND alive_until > clock_timestamp());
      END IF;
      IF its_runner IS NOT NULL THEN
        SELECT 'process ' || pid || ' on ' || host INTO held_by
          FROM runner WHERE no = its_runner AND alive_until > clock_timestamp();
      END IF;
    END IF;
    outcome := CASE
      -- It is there, as far as the caller knows, or nobody makes it.
      WHEN makes AND NOT in_waits AND (in_seqs[i] <> 0 OR holds OR NOT in_creates[i]) THEN 'busy'
      WHEN makes AND NOT in_creates[i] THEN 'unknown_thread'
      WHEN takes AND NOT has_right THEN 'no_right'
      WHEN stopped THEN 'stopped'
      WHEN held_by IS NOT NULL THEN 'leased'
      WHEN holds AND in_fences[i] <> its_fence THEN 'fenced'
      WHEN in_seqs[i] <> its_seq THEN 'conflict'
      -- Given back by a runner that was not told of it, or held under a right that has run out.
      WHEN holds AND in_runners[i] IS DISTINCT FROM its_runner THEN 'fenced'
      WHEN takes AND in_fences[i] <> its_fence THEN 'other_fence'
      END;
    IF outcome IS NULL AND in_closes IS NOT NULL THEN
      FOR j IN in_first_close[i] .. in_first_close[i + 1] - 1 LOOP
        SELECT deadline INTO its_deadline FROM approval WHERE no = in_closes[j] AND thread = its_no;
        IF NOT FOUND OR in_closes[j] = ANY(in_closes[in_first_close[i]:j - 1]) THEN
          outcome := 'closed';
        ELSIF NOT in_late[i] AND (its_deadline <= in_ats[i]
            OR in_server_time AND its_deadline <= extract(epoch FROM clock_timestamp()) * 1000) THEN
          outcome := 'expired';
        END IF;
        EXIT WHEN outcome IS NOT NULL;
      END LOOP;
    END IF;
    IF outcome IS NOT NULL THEN
      RETURN NEXT;
      CONTINUE;
    END IF;

    first_number := 0;
    opens := in_first_open[i + 1] - in_first_open[i];
    IF opens > 0 THEN
      first_number := nextval('approval_number');
      last_number := first_number;
      WHILE last_number - first_number < opens - 1 LOOP
        number := nextval('approval_number');
        -- They follow each other: if another append took one between ours, we begin again behind it.
        IF number <> last_number + 1 THEN first_number := number; END IF;
        last_number := number;
      END LOOP;
    END IF;
    at_seq := its_seq + in_events[i];
    at_pos := its_head;
    under_fence := CASE WHEN takes THEN its_fence + 1 ELSE its_fence END;
    IF in_events[i] > 0 THEN
      -- The number of its last event is a row's position.
      at_pos := at_seq;
      header := in_headers_before[i] || convert_to(first_number::text, 'UTF8') || in_headers_after[i];
      -- SHA-256 of both, each behind its length: eight bytes, the lowest first.
      its_hash := sha256(decode('2000000000000000', 'hex') || its_hash
        || set_byte(set_byte(set_byte(set_byte(decode('0000000000000000', 'hex'), 0, octet_length(header) & 255),
             1, octet_length(header) >> 8 & 255), 2, octet_length(header) >> 16 & 255), 3, octet_length(header) >> 24)
        || header);
    END IF;
    IF makes THEN
      INSERT INTO thread(id, status, seq, head, hash, fence, runner, task, updated_at)
        VALUES(in_threads[i], coalesce(in_statuses[i], 0), at_seq, at_pos, its_hash, under_fence,
          CASE WHEN takes THEN in_runners[i] END, CASE WHEN in_prunes[i] IS NULL THEN in_tasks[i] ELSE '' END,
          in_ats[i])
        ON CONFLICT(id) DO NOTHING RETURNING no INTO its_no;
      -- Somebody else has just made it, or is at it.
      IF its_no IS NULL THEN
        outcome := CASE WHEN in_waits THEN 'conflict' ELSE 'busy' END;
        RETURN NEXT;
        CONTINUE;
      END IF;
    ELSE
      changed := changed || i;
      changed_spots := changed_spots || spots[next_place - 1];
      new_hashes[i] := its_hash;
      new_fences[i] := under_fence;
    END IF;
    its_nos[i] := its_no;
    new_seqs[i] := at_seq;
    new_heads[i] := at_pos;
    IF in_events[i] > 0 THEN
      written := written || i;
      old_heads[i] := its_head;
      headers[i] := header;
    END IF;
    outcome := 'done';
    IF in_closes IS NOT NULL THEN
      FOR j IN in_first_close[i] .. in_first_close[i + 1] - 1 LOOP
        -- By both: by its number alone the server, where it thinks that nothing is open, may look for it in the index
        -- by threads, from one end to the other.
        DELETE FROM approval WHERE no = in_closes[j] AND thread = its_no;
      END LOOP;
    END IF;
    IF in_call_turns IS NOT NULL THEN
      FOR j IN in_first_call[i] .. in_first_call[i + 1] - 1 LOOP
        DELETE FROM approval WHERE thread = its_no AND turn = in_call_turns[j] AND position = in_call_positions[j];
      END LOOP;
    END IF;
    IF in_closes_all[i] THEN
      DELETE FROM approval WHERE thread = its_no;
    END IF;
    IF opens > 0 THEN
      FOR j IN in_first_open[i] .. in_first_open[i + 1] - 1 LOOP
        opened := opened || first_number + j - in_first_open[i];
        opened_of := opened_of || its_no;
        opened_places := opened_places || j;
        opened_ats := opened_ats || in_ats[i];
      END LOOP;
    END IF;
    IF in_snapshots[i] IS NOT NULL THEN
      INSERT INTO snapshot(thread, seq, pos, version, state)
        VALUES(its_no, at_seq, at_pos, in_snapshot_versions[i], in_snapshots[i])
        ON CONFLICT(thread) DO UPDATE
          SET seq = excluded.seq, pos = excluded.pos, version = excluded.version, state = excluded.state;
    END IF;
    IF in_marks[i] IS NOT NULL THEN
      marked := marked || in_marks[i];
      marked_after := marked_after || in_marks_after[i];
    END IF;
    IF in_prunes[i] IS NOT NULL THEN
      pruned := pruned || i;
    END IF;
    IF in_unmarks[i] AND NOT makes THEN
      unmarked := unmarked || its_no;
    END IF;
    IF in_schema_places IS NOT NULL THEN
      brought := brought || in_schema_places[in_first_schema[i]:in_first_schema[i + 1] - 1];
    END IF;
    RETURN NEXT;
  END LOOP;
  IF changed IS NOT NULL THEN
    UPDATE thread SET status = coalesce(in_statuses[i], status), seq = new_seqs[i], head = new_heads[i],
        hash = new_hashes[i], fence = new_fences[i],
        runner = CASE in_leases[i] WHEN 1 THEN in_runners[i] WHEN 3 THEN NULL ELSE runner END,
        task = CASE WHEN in_prunes[i] IS NULL THEN task ELSE '' END,
        updated_at = CASE WHEN in_events[i] > 0 THEN in_ats[i] ELSE updated_at END
      FROM unnest(changed, changed_spots) AS change(i, spot) WHERE thread.ctid = spot;
    GET DIAGNOSTICS number = ROW_COUNT;
    IF number <> cardinality(changed) THEN
      RAISE EXCEPTION 'a thread that is locked has been changed';
    END IF;
  END IF;
  IF opened IS NOT NULL THEN
    INSERT INTO approval(no, thread, turn, position, ask_no, kind, guard, digest, deadline, at, question)
      SELECT opened_no, of_thread, in_open_turns[j], in_open_positions[j], in_open_asks[j], in_open_kinds[j],
          in_open_guards[j], in_open_digests[j], in_open_deadlines[j], asked_at, in_open_questions[j]
        FROM unnest(opened, opened_of, opened_places, opened_ats) AS asked(opened_no, of_thread, j, asked_at);
    INSERT INTO approval_ref(no, thread) SELECT * FROM unnest(opened, opened_of);
  END IF;
  IF written IS NOT NULL THEN
    INSERT INTO journal(thread, pos, prev, cmd, at, header, salt, body)
      SELECT its_nos[i], new_seqs[i], old_heads[i], in_cmds[i], in_ats[i], headers[i], in_salts[i], in_bodies[i]
        FROM unnest(written) AS i;
  END IF;
  IF pruned IS NOT NULL THEN
    FOREACH number IN ARRAY pruned LOOP
      UPDATE journal SET salt = NULL, body = NULL WHERE thread = its_nos[number] AND pos <= in_prunes[number];
      DELETE FROM snapshot WHERE thread = its_nos[number];
    END LOOP;
  END IF;
  IF marked IS NOT NULL THEN
    -- A mark stays as long as the thread is not taken by somebody who knows of all its events. One that was put back for
    -- later is due at once when something new happens. In the order in which all put marks.
    INSERT INTO ready(thread, since)
      SELECT no, clock_timestamp() + min(after) * interval '1 millisecond'
        FROM unnest(marked, marked_after) AS mark(thread_id, after),
          LATERAL (SELECT no FROM thread WHERE id = thread_id OFFSET 0) AS root
        GROUP BY no ORDER BY no
      ON CONFLICT(thread) DO UPDATE SET since = excluded.since
        WHERE ready.runner IS NULL AND ready.since > excluded.since;
  END IF;
  IF unmarked IS NOT NULL THEN
    DELETE FROM ready WHERE thread = ANY(unmarked);
  END IF;
  IF brought IS NOT NULL THEN
    INSERT INTO schema_text(digest, text)
      SELECT in_schema_digests[place], in_schema_texts[place]
        FROM (SELECT DISTINCT place FROM unnest(brought) AS all_of(place) ORDER BY place) AS once
      ON CONFLICT DO NOTHING;
  END IF;
END
$function$
)sql";

}  // namespace assent::postgres
