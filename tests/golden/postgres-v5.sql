SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA assent;
CREATE FUNCTION assent.append_row(in_thread text, in_creates boolean, in_task text, in_above text[], in_takes boolean, in_holds boolean, in_gives_back boolean, in_runner bigint, in_fence bigint, in_seq bigint, in_status integer, in_at bigint, in_events integer, in_cmd bytea, in_header_before bytea, in_header_after bytea, in_salt bytea, in_body bytea, in_closes bigint[], in_late boolean, in_server_time boolean, in_closes_others boolean, in_turns integer[], in_positions integer[], in_open_turns integer[], in_open_positions integer[], in_open_asks integer[], in_open_kinds integer[], in_open_guards text[], in_open_digests text[], in_open_deadlines bigint[], in_open_questions bytea[], in_schema_digests text[], in_schema_texts text[], in_snapshot_version integer, in_snapshot bytea, in_marks text, in_marks_after bigint, in_unmarks boolean, in_prunes bigint, OUT outcome text, OUT at_seq bigint, OUT at_pos bigint, OUT under_fence bigint, OUT first_number bigint, OUT held_by text) RETURNS record
    LANGUAGE plpgsql
    AS $$
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
$$;
CREATE FUNCTION assent.append_rows(in_waits boolean, in_server_time boolean, in_above text[], in_threads text[], in_creates boolean[], in_tasks text[], in_leases bigint[], in_runners bigint[], in_fences bigint[], in_seqs bigint[], in_statuses bigint[], in_ats bigint[], in_events bigint[], in_cmds bytea[], in_headers_before bytea[], in_headers_after bytea[], in_salts bytea[], in_bodies bytea[], in_late boolean[], in_snapshot_versions bigint[], in_snapshots bytea[], in_marks text[], in_marks_after bigint[], in_unmarks boolean[], in_prunes bigint[], in_closes_all boolean[], in_first_close bigint[], in_closes bigint[], in_first_call bigint[], in_call_turns bigint[], in_call_positions bigint[], in_first_open bigint[], in_open_turns bigint[], in_open_positions bigint[], in_open_asks bigint[], in_open_kinds bigint[], in_open_guards text[], in_open_digests text[], in_open_deadlines bigint[], in_open_questions bytea[], in_first_schema bigint[], in_schema_places bigint[], in_schema_digests text[], in_schema_texts text[]) RETURNS TABLE(outcome text, at_seq bigint, at_pos bigint, under_fence bigint, first_number bigint, held_by text)
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
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
$$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE assent.approval (
    no bigint NOT NULL,
    thread bigint NOT NULL,
    turn integer NOT NULL,
    "position" integer NOT NULL,
    ask_no integer NOT NULL,
    kind smallint NOT NULL,
    guard text NOT NULL,
    digest text NOT NULL,
    deadline bigint,
    at bigint NOT NULL,
    question bytea NOT NULL
);
CREATE SEQUENCE assent.approval_number
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE assent.approval_ref (
    no bigint NOT NULL,
    thread bigint NOT NULL
);
CREATE TABLE assent.journal (
    thread bigint NOT NULL,
    pos bigint NOT NULL,
    prev bigint NOT NULL,
    cmd bytea NOT NULL,
    at bigint NOT NULL,
    header bytea NOT NULL,
    salt bytea,
    body bytea
)
PARTITION BY HASH (thread);
CREATE TABLE assent.journal_0 (
    thread bigint NOT NULL,
    pos bigint NOT NULL,
    prev bigint NOT NULL,
    cmd bytea NOT NULL,
    at bigint NOT NULL,
    header bytea NOT NULL,
    salt bytea,
    body bytea
);
CREATE TABLE assent.journal_1 (
    thread bigint NOT NULL,
    pos bigint NOT NULL,
    prev bigint NOT NULL,
    cmd bytea NOT NULL,
    at bigint NOT NULL,
    header bytea NOT NULL,
    salt bytea,
    body bytea
);
CREATE TABLE assent.journal_10 (
    thread bigint NOT NULL,
    pos bigint NOT NULL,
    prev bigint NOT NULL,
    cmd bytea NOT NULL,
    at bigint NOT NULL,
    header bytea NOT NULL,
    salt bytea,
    body bytea
);
CREATE TABLE assent.journal_11 (
    thread bigint NOT NULL,
    pos bigint NOT NULL,
    prev bigint NOT NULL,
    cmd bytea NOT NULL,
    at bigint NOT NULL,
    header bytea NOT NULL,
    salt bytea,
    body bytea
);
CREATE TABLE assent.journal_12 (
    thread bigint NOT NULL,
    pos bigint NOT NULL,
    prev bigint NOT NULL,
    cmd bytea NOT NULL,
    at bigint NOT NULL,
    header bytea NOT NULL,
    salt bytea,
    body bytea
);
CREATE TABLE assent.journal_13 (
    thread bigint NOT NULL,
    pos bigint NOT NULL,
    prev bigint NOT NULL,
    cmd bytea NOT NULL,
    at bigint NOT NULL,
    header bytea NOT NULL,
    salt bytea,
    body bytea
);
CREATE TABLE assent.journal_14 (
    thread bigint NOT NULL,
    pos bigint NOT NULL,
    prev bigint NOT NULL,
    cmd bytea NOT NULL,
    at bigint NOT NULL,
    header bytea NOT NULL,
    salt bytea,
    body bytea
);
CREATE TABLE assent.journal_15 (
    thread bigint NOT NULL,
    pos bigint NOT NULL,
    prev bigint NOT NULL,
    cmd bytea NOT NULL,
    at bigint NOT NULL,
    header bytea NOT NULL,
    salt bytea,
    body bytea
);
CREATE TABLE assent.journal_2 (
    thread bigint NOT NULL,
    pos bigint NOT NULL,
    prev bigint NOT NULL,
    cmd bytea NOT NULL,
    at bigint NOT NULL,
    header bytea NOT NULL,
    salt bytea,
    body bytea
);
CREATE TABLE assent.journal_3 (
    thread bigint NOT NULL,
    pos bigint NOT NULL,
    prev bigint NOT NULL,
    cmd bytea NOT NULL,
    at bigint NOT NULL,
    header bytea NOT NULL,
    salt bytea,
    body bytea
);
CREATE TABLE assent.journal_4 (
    thread bigint NOT NULL,
    pos bigint NOT NULL,
    prev bigint NOT NULL,
    cmd bytea NOT NULL,
    at bigint NOT NULL,
    header bytea NOT NULL,
    salt bytea,
    body bytea
);
CREATE TABLE assent.journal_5 (
    thread bigint NOT NULL,
    pos bigint NOT NULL,
    prev bigint NOT NULL,
    cmd bytea NOT NULL,
    at bigint NOT NULL,
    header bytea NOT NULL,
    salt bytea,
    body bytea
);
CREATE TABLE assent.journal_6 (
    thread bigint NOT NULL,
    pos bigint NOT NULL,
    prev bigint NOT NULL,
    cmd bytea NOT NULL,
    at bigint NOT NULL,
    header bytea NOT NULL,
    salt bytea,
    body bytea
);
CREATE TABLE assent.journal_7 (
    thread bigint NOT NULL,
    pos bigint NOT NULL,
    prev bigint NOT NULL,
    cmd bytea NOT NULL,
    at bigint NOT NULL,
    header bytea NOT NULL,
    salt bytea,
    body bytea
);
CREATE TABLE assent.journal_8 (
    thread bigint NOT NULL,
    pos bigint NOT NULL,
    prev bigint NOT NULL,
    cmd bytea NOT NULL,
    at bigint NOT NULL,
    header bytea NOT NULL,
    salt bytea,
    body bytea
);
CREATE TABLE assent.journal_9 (
    thread bigint NOT NULL,
    pos bigint NOT NULL,
    prev bigint NOT NULL,
    cmd bytea NOT NULL,
    at bigint NOT NULL,
    header bytea NOT NULL,
    salt bytea,
    body bytea
);
CREATE TABLE assent.ready (
    thread bigint NOT NULL,
    since timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    runner bigint,
    token bigint
)
WITH (fillfactor='50');
CREATE TABLE assent.runner (
    no bigint NOT NULL,
    host text NOT NULL,
    pid bigint NOT NULL,
    alive_until timestamp with time zone NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE assent.runner ALTER COLUMN no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME assent.runner_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE assent.schema_text (
    digest text NOT NULL,
    text text NOT NULL
);
CREATE TABLE assent.schema_version (
    version integer NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
CREATE TABLE assent.snapshot (
    thread bigint NOT NULL,
    seq bigint NOT NULL,
    pos bigint NOT NULL,
    version integer NOT NULL,
    state bytea NOT NULL
);
CREATE TABLE assent.thread (
    no bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    status smallint NOT NULL,
    seq bigint NOT NULL,
    head bigint NOT NULL,
    hash bytea NOT NULL,
    fence bigint NOT NULL,
    runner bigint,
    task text NOT NULL,
    updated_at bigint NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE assent.thread ALTER COLUMN no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME assent.thread_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE ONLY assent.journal ATTACH PARTITION assent.journal_0 FOR VALUES WITH (modulus 16, remainder 0);
ALTER TABLE ONLY assent.journal ATTACH PARTITION assent.journal_1 FOR VALUES WITH (modulus 16, remainder 1);
ALTER TABLE ONLY assent.journal ATTACH PARTITION assent.journal_10 FOR VALUES WITH (modulus 16, remainder 10);
ALTER TABLE ONLY assent.journal ATTACH PARTITION assent.journal_11 FOR VALUES WITH (modulus 16, remainder 11);
ALTER TABLE ONLY assent.journal ATTACH PARTITION assent.journal_12 FOR VALUES WITH (modulus 16, remainder 12);
ALTER TABLE ONLY assent.journal ATTACH PARTITION assent.journal_13 FOR VALUES WITH (modulus 16, remainder 13);
ALTER TABLE ONLY assent.journal ATTACH PARTITION assent.journal_14 FOR VALUES WITH (modulus 16, remainder 14);
ALTER TABLE ONLY assent.journal ATTACH PARTITION assent.journal_15 FOR VALUES WITH (modulus 16, remainder 15);
ALTER TABLE ONLY assent.journal ATTACH PARTITION assent.journal_2 FOR VALUES WITH (modulus 16, remainder 2);
ALTER TABLE ONLY assent.journal ATTACH PARTITION assent.journal_3 FOR VALUES WITH (modulus 16, remainder 3);
ALTER TABLE ONLY assent.journal ATTACH PARTITION assent.journal_4 FOR VALUES WITH (modulus 16, remainder 4);
ALTER TABLE ONLY assent.journal ATTACH PARTITION assent.journal_5 FOR VALUES WITH (modulus 16, remainder 5);
ALTER TABLE ONLY assent.journal ATTACH PARTITION assent.journal_6 FOR VALUES WITH (modulus 16, remainder 6);
ALTER TABLE ONLY assent.journal ATTACH PARTITION assent.journal_7 FOR VALUES WITH (modulus 16, remainder 7);
ALTER TABLE ONLY assent.journal ATTACH PARTITION assent.journal_8 FOR VALUES WITH (modulus 16, remainder 8);
ALTER TABLE ONLY assent.journal ATTACH PARTITION assent.journal_9 FOR VALUES WITH (modulus 16, remainder 9);
INSERT INTO assent.approval VALUES (2, 2, 1, 0, 1, 0, 'program', '4d2ae94187d7b197da6405a8e9dff174b70f4df42d1f5feaf5d78a3160f480da', NULL, 1796101479838, '\x7b2276223a312c2264223a7b226964223a22222c226e756d626572223a302c226b696e64223a22617070726f7665222c22746872656164223a227761697473222c227475726e223a312c22706f736974696f6e223a302c2261736b5f6e6f223a312c22746f6f6c223a227368656c6c222c22746f6f6c5f63616c6c5f6964223a2263616c6c5f31222c22617267756d656e7473223a227b5c22636f6d6d616e645c223a205c226563686f207761697473203e3e646f6e655c227d222c22617267756d656e74735f726177223a22222c22646967657374223a2234643261653934313837643762313937646136343035613865396466663137346237306634646634326431663566656166356437386133313630663438306461222c226775617264223a2270726f6772616d222c2267756172645f76657273696f6e223a2231222c22726561736f6e223a2274686520746f6f6c20777269746573206f72206578656375746573222c227175657374696f6e223a7b227374796c65223a22617373656e74222c226465736372697074696f6e223a22222c2264657461696c73223a22222c227061796c6f6164223a22222c22696e746572727570745f6964223a22222c22616c6c6f776564223a5b22617070726f7665222c2264656e79222c2265646974222c22726573706f6e64225d2c2274696d656f75745f6d73223a6e756c6c7d2c22736368656d61223a2230373232396435653131353937653639393962653339313532633336623131333662313365373161653566333464666338373437613232313662306237626262222c227374617465223a226f70656e222c2261736b65645f6174223a313739363130313437393833382c22646561646c696e65223a6e756c6c2c227573655f6279223a6e756c6c2c227573655f62795f6d73223a38363430303030302c226465636973696f6e223a6e756c6c2c22646563696465645f6279223a22222c22646563696465645f6174223a6e756c6c2c22617474656d7074223a22222c2270726f63657373223a22227d7d');
INSERT INTO assent.approval VALUES (4, 3, 1, 0, 2, 1, 'unknown outcome', 'e7c2123a826aa7e8e37f22df1a1a27ae6a5fb6a5884913b2af7f81907080bbf6', NULL, 1796101481001, '\x7b2276223a312c2264223a7b226964223a22222c226e756d626572223a302c226b696e64223a22756e6b6e6f776e222c22746872656164223a22646f756274222c227475726e223a312c22706f736974696f6e223a302c2261736b5f6e6f223a322c22746f6f6c223a227368656c6c222c22746f6f6c5f63616c6c5f6964223a2263616c6c5f31222c22617267756d656e7473223a227b5c22636f6d6d616e645c223a205c22746f75636820737461727465643b20736c656570203130305c227d222c22617267756d656e74735f726177223a22222c22646967657374223a2265376332313233613832366161376538653337663232646631613161323761653661356662366135383834393133623261663766383139303730383062626636222c226775617264223a22756e6b6e6f776e206f7574636f6d65222c2267756172645f76657273696f6e223a2231222c22726561736f6e223a226974732070726f6365737320656e646564206265666f726520746865206f7574636f6d6520776173207265636f72646564222c227175657374696f6e223a7b227374796c65223a22617373656e74222c226465736372697074696f6e223a22222c2264657461696c73223a22222c227061796c6f6164223a22222c22696e746572727570745f6964223a22222c22616c6c6f776564223a5b5d2c2274696d656f75745f6d73223a6e756c6c7d2c22736368656d61223a22222c227374617465223a226f70656e222c2261736b65645f6174223a313739363130313438313030312c22646561646c696e65223a6e756c6c2c227573655f6279223a6e756c6c2c227573655f62795f6d73223a6e756c6c2c226465636973696f6e223a6e756c6c2c22646563696465645f6279223a22222c22646563696465645f6174223a6e756c6c2c22617474656d7074223a223939323139643366666337666435363762333333323834613834643961643137222c2270726f63657373223a2270726f63657373203230363436206f6e20766d227d7d');
INSERT INTO assent.approval_ref VALUES (1, 1);
INSERT INTO assent.approval_ref VALUES (2, 2);
INSERT INTO assent.approval_ref VALUES (3, 3);
INSERT INTO assent.approval_ref VALUES (4, 3);
INSERT INTO assent.journal_10 VALUES (2, 2, 0, '\x8f60d0e7ff3adcecad453b8e4fcea5d5', 1796101479827, '\x7b2276223a312c2274223a227761697473222c2273223a322c226174223a313739363130313437393832372c226b223a5b22636f6e66696775726564222c22757365725f6d657373616765225d2c226e223a302c2262223a2264383634323161333637373230373964396664363166633866343463323930623838383531373435666165343538633630616164636533343261643139383363227d', '\x560766da02b8950675f4af9491f3f4f1', '\x7b2276223a312c226576656e7473223a5b7b226576656e74223a22636f6e66696775726564222c2273657474696e6773223a227b5c2276657273696f6e5c223a20312c205c226d6f64656c5c223a205c227363726970743a2f746d702f617373656e742d676f6c64656e2f77616974732e6a736f6e5c222c205c22776f726b73706163655c223a205c222f746d702f617373656e742d676f6c64656e2f776f726b73706163655c222c205c2261736b5c223a205b5d2c205c22616c6c6f775c223a205b5d2c205c2264656e795c223a205b5d2c205c226d61785f7475726e735c223a2035302c205c226d61785f63616c6c735c223a203230302c205c226c656173655f7365636f6e64735c223a2031302c205c227573655f62795f6d735c223a2038363430303030307d222c22746f6f6c73223a5b7b226e616d65223a2261736b5f75736572222c22736368656d61223a2233353333366266386661363635666563383363313363396366623636376339343432353634613530303965333566643065636234393130356631363335623665227d2c7b226e616d65223a22636f6e6669726d222c22736368656d61223a2230613663336363346232646235636466653538313437663935386538666161346533316362626639356465356430393061663238323236396536353635396263227d2c7b226e616d65223a2264656c6574655f66696c65222c22736368656d61223a2233616463393266373231646330653733373235343435613031346132333231656237633162333364366532343631383231666237313430656430363062303463227d2c7b226e616d65223a22656469745f66696c65222c22736368656d61223a2239373363336331636133323765346233346533313033623563643638663437363234353434373765633331343531316231393338626236613734373830616534227d2c7b226e616d65223a22676c6f62222c22736368656d61223a2235313537656333333931663865346531383538636338656537326532363461646130313565653131303765316539313965653332666632633632376561353437227d2c7b226e616d65223a2267726570222c22736368656d61223a2263656163373734383934383665363136313363663230353465386235633463383361613136613762613632613466663463393632623739336636383035636139227d2c7b226e616d65223a226c73222c22736368656d61223a2239633761663864613936323536306539393961306366623232616162323964633866623934393832626666376431643962656639663238333364313938306231227d2c7b226e616d65223a22726561645f66696c65222c22736368656d61223a2231393339313864633137303264656136303936386566636430376664653565333030343964356435633439386331626433656464613939386330316636633733227d2c7b226e616d65223a227368656c6c222c22736368656d61223a2230373232396435653131353937653639393962653339313532633336623131333662313365373161653566333464666338373437613232313662306237626262227d2c7b226e616d65223a2277726974655f66696c65222c22736368656d61223a2237623539316435343332306266323535363032383734623562616663386138383331653035373162313036643530356133306537363438393563356163383035227d5d7d2c7b226576656e74223a22757365725f6d657373616765222c2274657874223a22706c65617365222c226279223a22726f6f74227d5d7d');
INSERT INTO assent.journal_10 VALUES (2, 6, 2, '\xebdb66268eb871844ddb1f4f65e95b3a', 1796101479838, '\x7b2276223a312c2274223a227761697473222c2273223a362c226174223a313739363130313437393833382c226b223a5b226d6f64656c5f7475726e222c227072657061726564222c226a7564676564222c2261736b6564225d2c226e223a322c2262223a2237386536633936613233323030383438343265643434613035366263393566663836663462376135613066343065643736646233636336373937393638333738227d', '\x964e470b943ae1564b486a61ef400835', '\x7b2276223a312c226576656e7473223a5b7b226576656e74223a226d6f64656c5f7475726e222c227475726e223a312c2274657874223a22492077696c6c2e222c2263616c6c73223a5b7b22746f6f6c223a227368656c6c222c226964223a2263616c6c5f31222c22617267756d656e7473223a227b5c22636f6d6d616e645c223a205c226563686f207761697473203e3e646f6e655c227d222c22617267756d656e74735f686578223a22227d5d2c2273746f705f726561736f6e223a22746f6f6c5f757365222c2270726f76696465725f636f6e74656e74223a22222c22696e7075745f746f6b656e73223a302c226f75747075745f746f6b656e73223a307d2c7b226576656e74223a227072657061726564222c2263616c6c223a7b227475726e223a312c22706f736974696f6e223a307d2c22617267756d656e7473223a227b5c22636f6d6d616e645c223a205c226563686f207761697473203e3e646f6e655c227d227d2c7b226576656e74223a226a7564676564222c2263616c6c223a7b227475726e223a312c22706f736974696f6e223a307d2c2276657264696374223a2261736b222c22677561726473223a5b7b226775617264223a2270726f6772616d222c2276657273696f6e223a2231222c2276657264696374223a2261736b222c22726561736f6e223a2274686520746f6f6c20777269746573206f72206578656375746573227d2c7b226775617264223a226275696c742d696e222c2276657273696f6e223a22396639633837316165393930222c2276657264696374223a22616c6c6f77222c22726561736f6e223a22227d5d2c2274657874223a22227d2c7b226576656e74223a2261736b6564222c226e756d626572223a302c2263616c6c223a7b227475726e223a312c22706f736974696f6e223a307d2c2261736b5f6e6f223a312c226b696e64223a22617070726f7665222c22746f6f6c223a227368656c6c222c22617267756d656e7473223a227b5c22636f6d6d616e645c223a205c226563686f207761697473203e3e646f6e655c227d222c226775617264223a2270726f6772616d222c2267756172645f76657273696f6e223a2231222c22726561736f6e223a2274686520746f6f6c20777269746573206f72206578656375746573222c227175657374696f6e223a7b227374796c65223a22617373656e74222c226465736372697074696f6e223a22222c2264657461696c73223a22222c227061796c6f6164223a22222c22696e746572727570745f6964223a22222c22616c6c6f776564223a5b22617070726f7665222c2264656e79222c2265646974222c22726573706f6e64225d2c2274696d656f75745f6d73223a6e756c6c7d2c2262696e64696e67223a2234643261653934313837643762313937646136343035613865396466663137346237306634646634326431663566656166356437386133313630663438306461222c22736368656d61223a2230373232396435653131353937653639393962653339313532633336623131333662313365373161653566333464666338373437613232313662306237626262222c22646561646c696e65223a6e756c6c2c227573655f62795f6d73223a38363430303030302c22617474656d7074223a22222c226964656d706f74656e74223a66616c73657d5d7d');
INSERT INTO assent.journal_8 VALUES (1, 2, 0, '\xd355687215402b8e07044c4f47eee517', 1796101479708, '\x7b2276223a312c2274223a22656e646564222c2273223a322c226174223a313739363130313437393730382c226b223a5b22636f6e66696775726564222c22757365725f6d657373616765225d2c226e223a302c2262223a2233366232616436353865353761666364636336353136373165666337303433323338653364326631616262373237666238653837356435633461393932373063227d', '\x2c3b230ac05a07429b4d59ee5b9cfa31', '\x7b2276223a312c226576656e7473223a5b7b226576656e74223a22636f6e66696775726564222c2273657474696e6773223a227b5c2276657273696f6e5c223a20312c205c226d6f64656c5c223a205c227363726970743a2f746d702f617373656e742d676f6c64656e2f656e6465642e6a736f6e5c222c205c22776f726b73706163655c223a205c222f746d702f617373656e742d676f6c64656e2f776f726b73706163655c222c205c2261736b5c223a205b5d2c205c22616c6c6f775c223a205b5d2c205c2264656e795c223a205b5d2c205c226d61785f7475726e735c223a2035302c205c226d61785f63616c6c735c223a203230302c205c226c656173655f7365636f6e64735c223a2031302c205c227573655f62795f6d735c223a2038363430303030307d222c22746f6f6c73223a5b7b226e616d65223a2261736b5f75736572222c22736368656d61223a2233353333366266386661363635666563383363313363396366623636376339343432353634613530303965333566643065636234393130356631363335623665227d2c7b226e616d65223a22636f6e6669726d222c22736368656d61223a2230613663336363346232646235636466653538313437663935386538666161346533316362626639356465356430393061663238323236396536353635396263227d2c7b226e616d65223a2264656c6574655f66696c65222c22736368656d61223a2233616463393266373231646330653733373235343435613031346132333231656237633162333364366532343631383231666237313430656430363062303463227d2c7b226e616d65223a22656469745f66696c65222c22736368656d61223a2239373363336331636133323765346233346533313033623563643638663437363234353434373765633331343531316231393338626236613734373830616534227d2c7b226e616d65223a22676c6f62222c22736368656d61223a2235313537656333333931663865346531383538636338656537326532363461646130313565653131303765316539313965653332666632633632376561353437227d2c7b226e616d65223a2267726570222c22736368656d61223a2263656163373734383934383665363136313363663230353465386235633463383361613136613762613632613466663463393632623739336636383035636139227d2c7b226e616d65223a226c73222c22736368656d61223a2239633761663864613936323536306539393961306366623232616162323964633866623934393832626666376431643962656639663238333364313938306231227d2c7b226e616d65223a22726561645f66696c65222c22736368656d61223a2231393339313864633137303264656136303936386566636430376664653565333030343964356435633439386331626433656464613939386330316636633733227d2c7b226e616d65223a227368656c6c222c22736368656d61223a2230373232396435653131353937653639393962653339313532633336623131333662313365373161653566333464666338373437613232313662306237626262227d2c7b226e616d65223a2277726974655f66696c65222c22736368656d61223a2237623539316435343332306266323535363032383734623562616663386138383331653035373162313036643530356133306537363438393563356163383035227d5d7d2c7b226576656e74223a22757365725f6d657373616765222c2274657874223a22706c65617365222c226279223a22726f6f74227d5d7d');
INSERT INTO assent.journal_8 VALUES (1, 6, 2, '\xef9c0b79cf6d79e61767abc7e750e5ea', 1796101479717, '\x7b2276223a312c2274223a22656e646564222c2273223a362c226174223a313739363130313437393731372c226b223a5b226d6f64656c5f7475726e222c227072657061726564222c226a7564676564222c2261736b6564225d2c226e223a312c2262223a2263643535613664373264306330336339386534323438616338623430343961303538373261626537373932343562633935633366356636306536333335623161227d', '\x77995406b3db2eb3adae3da54da55bde', '\x7b2276223a312c226576656e7473223a5b7b226576656e74223a226d6f64656c5f7475726e222c227475726e223a312c2274657874223a22492077696c6c2e222c2263616c6c73223a5b7b22746f6f6c223a227368656c6c222c226964223a2263616c6c5f31222c22617267756d656e7473223a227b5c22636f6d6d616e645c223a205c226563686f20656e646564203e3e646f6e655c227d222c22617267756d656e74735f686578223a22227d5d2c2273746f705f726561736f6e223a22746f6f6c5f757365222c2270726f76696465725f636f6e74656e74223a22222c22696e7075745f746f6b656e73223a302c226f75747075745f746f6b656e73223a307d2c7b226576656e74223a227072657061726564222c2263616c6c223a7b227475726e223a312c22706f736974696f6e223a307d2c22617267756d656e7473223a227b5c22636f6d6d616e645c223a205c226563686f20656e646564203e3e646f6e655c227d227d2c7b226576656e74223a226a7564676564222c2263616c6c223a7b227475726e223a312c22706f736974696f6e223a307d2c2276657264696374223a2261736b222c22677561726473223a5b7b226775617264223a2270726f6772616d222c2276657273696f6e223a2231222c2276657264696374223a2261736b222c22726561736f6e223a2274686520746f6f6c20777269746573206f72206578656375746573227d2c7b226775617264223a226275696c742d696e222c2276657273696f6e223a22396639633837316165393930222c2276657264696374223a22616c6c6f77222c22726561736f6e223a22227d5d2c2274657874223a22227d2c7b226576656e74223a2261736b6564222c226e756d626572223a302c2263616c6c223a7b227475726e223a312c22706f736974696f6e223a307d2c2261736b5f6e6f223a312c226b696e64223a22617070726f7665222c22746f6f6c223a227368656c6c222c22617267756d656e7473223a227b5c22636f6d6d616e645c223a205c226563686f20656e646564203e3e646f6e655c227d222c226775617264223a2270726f6772616d222c2267756172645f76657273696f6e223a2231222c22726561736f6e223a2274686520746f6f6c20777269746573206f72206578656375746573222c227175657374696f6e223a7b227374796c65223a22617373656e74222c226465736372697074696f6e223a22222c2264657461696c73223a22222c227061796c6f6164223a22222c22696e746572727570745f6964223a22222c22616c6c6f776564223a5b22617070726f7665222c2264656e79222c2265646974222c22726573706f6e64225d2c2274696d656f75745f6d73223a6e756c6c7d2c2262696e64696e67223a2234383030613664353461663063313232623166323831363733313930353166376637343831323738343930336263363232306561613436336138393231363831222c22736368656d61223a2230373232396435653131353937653639393962653339313532633336623131333662313365373161653566333464666338373437613232313662306237626262222c22646561646c696e65223a6e756c6c2c227573655f62795f6d73223a38363430303030302c22617474656d7074223a22222c226964656d706f74656e74223a66616c73657d5d7d');
INSERT INTO assent.journal_8 VALUES (1, 7, 6, '\x4978d85087bfc64109745fe08fdde29f', 1796101479757, '\x7b2276223a312c2274223a22656e646564222c2273223a372c226174223a313739363130313437393735372c226b223a5b22616e737765726564225d2c226e223a302c2262223a2239303864323435653038386433373338623433333636336537646639326437373930343130343931613632636138613833623336336131383466363535383336227d', '\x64fc09d9b2e70d4211b44bfa8da754c6', '\x7b2276223a312c226576656e7473223a5b7b226576656e74223a22616e737765726564222c226e756d626572223a312c2263616c6c223a7b227475726e223a312c22706f736974696f6e223a307d2c226465636973696f6e223a22617070726f7665222c22746f6f6c223a227368656c6c222c22617267756d656e7473223a22222c226d657373616765223a22222c2274657874223a22222c226279223a22726f6f74222c227369676e65645f696e223a2270726f63657373222c2273686f776e223a2234383030613664353461663063313232623166323831363733313930353166376637343831323738343930336263363232306561613436336138393231363831222c22616e73776572223a2261393965613762616633303466663363393034646433643261373863636335633335333536623232323764393635613664363861386435316361626563316535227d5d7d');
INSERT INTO assent.journal_8 VALUES (1, 8, 7, '\x2e698e8ffc2f517cba21454d768284cd', 1796101479797, '\x7b2276223a312c2274223a22656e646564222c2273223a382c226174223a313739363130313437393739372c226b223a5b22636c61696d6564225d2c226e223a302c2262223a2235393734336232376364623361646366336433633465383038393933623664653364636466313162326263313732663364356330666535376335313636623733227d', '\x7eeaea8c50fe30cc242156639bfdd31b', '\x7b2276223a312c226576656e7473223a5b7b226576656e74223a22636c61696d6564222c22737461727473223a5b7b2263616c6c223a7b227475726e223a312c22706f736974696f6e223a307d2c22617474656d7074223a223635373232373838393662613734643332373562313233393438393034353135222c22617267756d656e74735f736861323536223a2263393236326630666431343533313230613564306635376566623035316164323964356339666535396562636438316131303764393234356362393965316532227d5d2c2270726f63657373223a7b22686f7374223a22766d222c22626f6f74223a2232633565666236662d306639632d343231382d613139392d323466663631396436623439222c22706964223a32303631302c2273746172746564223a3732343135377d7d5d7d');
INSERT INTO assent.journal_8 VALUES (1, 9, 8, '\xacc198b39dc9771b9f3138ffb6b92e7b', 1796101479803, '\x7b2276223a312c2274223a22656e646564222c2273223a392c226174223a313739363130313437393830332c226b223a5b2266696e6973686564225d2c226e223a302c2262223a2233373330636335666139353833303262643366316565303130663763613536303061373533653961666635323566636566653962336166623736376662623733227d', '\x9be259977cc6347f16e9f75ad78d86bb', '\x7b2276223a312c226576656e7473223a5b7b226576656e74223a2266696e6973686564222c22617474656d7074223a223635373232373838393662613734643332373562313233393438393034353135222c226f7574636f6d65223a22646f6e65222c22726573756c74223a7b2274657874223a22286e6f206f7574707574295c6e65786974207374617475733a2030222c2269735f6572726f72223a66616c73652c2264657461696c73223a227b5c22657869745f7374617475735c223a302c5c227369676e616c5c223a6e756c6c2c5c2274696d65645f6f75745c223a66616c73652c5c2263616e63656c6c65645c223a66616c73652c5c226375745f62797465735c223a307d222c22756e6b6e6f776e223a66616c73657d7d5d7d');
INSERT INTO assent.journal_8 VALUES (1, 11, 9, '\xf72e79b0267e560ed4d835e290e21fa1', 1796101479805, '\x7b2276223a312c2274223a22656e646564222c2273223a31312c226174223a313739363130313437393830352c226b223a5b226d6f64656c5f7475726e222c2272756e5f66696e6973686564225d2c226e223a302c2262223a2238323339353466626364653630353535323265393834616334323639616432336538646161663731626564656364633237636530363332663735313939623734227d', '\x1253d299a66379ee06cc48ecb61ec030', '\x7b2276223a312c226576656e7473223a5b7b226576656e74223a226d6f64656c5f7475726e222c227475726e223a322c2274657874223a225468617420697320616c6c2e222c2263616c6c73223a5b5d2c2273746f705f726561736f6e223a22656e645f7475726e222c2270726f76696465725f636f6e74656e74223a22222c22696e7075745f746f6b656e73223a302c226f75747075745f746f6b656e73223a307d2c7b226576656e74223a2272756e5f66696e6973686564222c226f6b223a747275652c226661696c7572655f6b696e64223a22222c226d657373616765223a22227d5d7d');
INSERT INTO assent.journal_9 VALUES (3, 2, 0, '\x59a62e1bee57ddc30481bcaa1f758155', 1796101479875, '\x7b2276223a312c2274223a22646f756274222c2273223a322c226174223a313739363130313437393837352c226b223a5b22636f6e66696775726564222c22757365725f6d657373616765225d2c226e223a302c2262223a2263623861643566616635333036663633636338393130396238663630626663343334316636636434303762343137383261336233373831313938336561313063227d', '\xa73a306ca80ced00d5b0254484cca188', '\x7b2276223a312c226576656e7473223a5b7b226576656e74223a22636f6e66696775726564222c2273657474696e6773223a227b5c2276657273696f6e5c223a20312c205c226d6f64656c5c223a205c227363726970743a2f746d702f617373656e742d676f6c64656e2f646f7562742e6a736f6e5c222c205c22776f726b73706163655c223a205c222f746d702f617373656e742d676f6c64656e2f776f726b73706163655c222c205c2261736b5c223a205b5d2c205c22616c6c6f775c223a205b5d2c205c2264656e795c223a205b5d2c205c226d61785f7475726e735c223a2035302c205c226d61785f63616c6c735c223a203230302c205c226c656173655f7365636f6e64735c223a2031302c205c227573655f62795f6d735c223a2038363430303030307d222c22746f6f6c73223a5b7b226e616d65223a2261736b5f75736572222c22736368656d61223a2233353333366266386661363635666563383363313363396366623636376339343432353634613530303965333566643065636234393130356631363335623665227d2c7b226e616d65223a22636f6e6669726d222c22736368656d61223a2230613663336363346232646235636466653538313437663935386538666161346533316362626639356465356430393061663238323236396536353635396263227d2c7b226e616d65223a2264656c6574655f66696c65222c22736368656d61223a2233616463393266373231646330653733373235343435613031346132333231656237633162333364366532343631383231666237313430656430363062303463227d2c7b226e616d65223a22656469745f66696c65222c22736368656d61223a2239373363336331636133323765346233346533313033623563643638663437363234353434373765633331343531316231393338626236613734373830616534227d2c7b226e616d65223a22676c6f62222c22736368656d61223a2235313537656333333931663865346531383538636338656537326532363461646130313565653131303765316539313965653332666632633632376561353437227d2c7b226e616d65223a2267726570222c22736368656d61223a2263656163373734383934383665363136313363663230353465386235633463383361613136613762613632613466663463393632623739336636383035636139227d2c7b226e616d65223a226c73222c22736368656d61223a2239633761663864613936323536306539393961306366623232616162323964633866623934393832626666376431643962656639663238333364313938306231227d2c7b226e616d65223a22726561645f66696c65222c22736368656d61223a2231393339313864633137303264656136303936386566636430376664653565333030343964356435633439386331626433656464613939386330316636633733227d2c7b226e616d65223a227368656c6c222c22736368656d61223a2230373232396435653131353937653639393962653339313532633336623131333662313365373161653566333464666338373437613232313662306237626262227d2c7b226e616d65223a2277726974655f66696c65222c22736368656d61223a2237623539316435343332306266323535363032383734623562616663386138383331653035373162313036643530356133306537363438393563356163383035227d5d7d2c7b226576656e74223a22757365725f6d657373616765222c2274657874223a22706c65617365222c226279223a22726f6f74227d5d7d');
INSERT INTO assent.journal_9 VALUES (3, 6, 2, '\x1222e5f6c020615b1b43dbaae05e4a75', 1796101479885, '\x7b2276223a312c2274223a22646f756274222c2273223a362c226174223a313739363130313437393838352c226b223a5b226d6f64656c5f7475726e222c227072657061726564222c226a7564676564222c2261736b6564225d2c226e223a332c2262223a2231666230643537366233313230613537316461313630643065396133326661616163363739313838646632653361356632646138366533333166393761626530227d', '\x4ff641ec883742facdf73917210cc69c', '\x7b2276223a312c226576656e7473223a5b7b226576656e74223a226d6f64656c5f7475726e222c227475726e223a312c2274657874223a22492077696c6c2e222c2263616c6c73223a5b7b22746f6f6c223a227368656c6c222c226964223a2263616c6c5f31222c22617267756d656e7473223a227b5c22636f6d6d616e645c223a205c22746f75636820737461727465643b20736c656570203130305c227d222c22617267756d656e74735f686578223a22227d5d2c2273746f705f726561736f6e223a22746f6f6c5f757365222c2270726f76696465725f636f6e74656e74223a22222c22696e7075745f746f6b656e73223a302c226f75747075745f746f6b656e73223a307d2c7b226576656e74223a227072657061726564222c2263616c6c223a7b227475726e223a312c22706f736974696f6e223a307d2c22617267756d656e7473223a227b5c22636f6d6d616e645c223a205c22746f75636820737461727465643b20736c656570203130305c227d227d2c7b226576656e74223a226a7564676564222c2263616c6c223a7b227475726e223a312c22706f736974696f6e223a307d2c2276657264696374223a2261736b222c22677561726473223a5b7b226775617264223a2270726f6772616d222c2276657273696f6e223a2231222c2276657264696374223a2261736b222c22726561736f6e223a2274686520746f6f6c20777269746573206f72206578656375746573227d2c7b226775617264223a226275696c742d696e222c2276657273696f6e223a22396639633837316165393930222c2276657264696374223a22616c6c6f77222c22726561736f6e223a22227d5d2c2274657874223a22227d2c7b226576656e74223a2261736b6564222c226e756d626572223a302c2263616c6c223a7b227475726e223a312c22706f736974696f6e223a307d2c2261736b5f6e6f223a312c226b696e64223a22617070726f7665222c22746f6f6c223a227368656c6c222c22617267756d656e7473223a227b5c22636f6d6d616e645c223a205c22746f75636820737461727465643b20736c656570203130305c227d222c226775617264223a2270726f6772616d222c2267756172645f76657273696f6e223a2231222c22726561736f6e223a2274686520746f6f6c20777269746573206f72206578656375746573222c227175657374696f6e223a7b227374796c65223a22617373656e74222c226465736372697074696f6e223a22222c2264657461696c73223a22222c227061796c6f6164223a22222c22696e746572727570745f6964223a22222c22616c6c6f776564223a5b22617070726f7665222c2264656e79222c2265646974222c22726573706f6e64225d2c2274696d656f75745f6d73223a6e756c6c7d2c2262696e64696e67223a2265313262643639396666643037366337643834663835356532643735383330653861323235366130616366643064613531333936623761636136383163363036222c22736368656d61223a2230373232396435653131353937653639393962653339313532633336623131333662313365373161653566333464666338373437613232313662306237626262222c22646561646c696e65223a6e756c6c2c227573655f62795f6d73223a38363430303030302c22617474656d7074223a22222c226964656d706f74656e74223a66616c73657d5d7d');
INSERT INTO assent.journal_9 VALUES (3, 7, 6, '\x66bf644f60f7baeaf730ffa792d44f0d', 1796101479928, '\x7b2276223a312c2274223a22646f756274222c2273223a372c226174223a313739363130313437393932382c226b223a5b22616e737765726564225d2c226e223a302c2262223a2238666438363637373237393430373230373734613861646161613339633837393832306161633838323535316633646639663832663933376438346533303166227d', '\x24ec8514f7330f9d133669f1aea74c30', '\x7b2276223a312c226576656e7473223a5b7b226576656e74223a22616e737765726564222c226e756d626572223a332c2263616c6c223a7b227475726e223a312c22706f736974696f6e223a307d2c226465636973696f6e223a22617070726f7665222c22746f6f6c223a227368656c6c222c22617267756d656e7473223a22222c226d657373616765223a22222c2274657874223a22222c226279223a22726f6f74222c227369676e65645f696e223a2270726f63657373222c2273686f776e223a2265313262643639396666643037366337643834663835356532643735383330653861323235366130616366643064613531333936623761636136383163363036222c22616e73776572223a2261393965613762616633303466663363393034646433643261373863636335633335333536623232323764393635613664363861386435316361626563316535227d5d7d');
INSERT INTO assent.journal_9 VALUES (3, 8, 7, '\x1a559b406c7c891132ddd1ae6dcf6466', 1796101479972, '\x7b2276223a312c2274223a22646f756274222c2273223a382c226174223a313739363130313437393937322c226b223a5b22636c61696d6564225d2c226e223a302c2262223a2264623336663532306563386238366233626632636339653933643030386533383563373961643561613966373137376365383233623139353038316139353433227d', '\x3bc3e36ce54464e8bcfe88d72ff86329', '\x7b2276223a312c226576656e7473223a5b7b226576656e74223a22636c61696d6564222c22737461727473223a5b7b2263616c6c223a7b227475726e223a312c22706f736974696f6e223a307d2c22617474656d7074223a223939323139643366666337666435363762333333323834613834643961643137222c22617267756d656e74735f736861323536223a2235663364643932393634616631373332323332376632373337653133656534326462656462303564353165346666633761303433306166666431366334663366227d5d2c2270726f63657373223a7b22686f7374223a22766d222c22626f6f74223a2232633565666236662d306639632d343231382d613139392d323466663631396436623439222c22706964223a32303634362c2273746172746564223a3732343137347d7d5d7d');
INSERT INTO assent.journal_9 VALUES (3, 10, 8, '\x85cef0b1903544d317a779d355886581', 1796101481001, '\x7b2276223a312c2274223a22646f756274222c2273223a31302c226174223a313739363130313438313030312c226b223a5b22646f7562746564222c2261736b6564225d2c226e223a342c2262223a2239323032333534383562306638363864336533326333656630353030363664316235346230336433396161653361356632386462663961656532363566653534227d', '\x7973a87027e3b40d0cbb6b42bbac1a32', '\x7b2276223a312c226576656e7473223a5b7b226576656e74223a22646f7562746564222c22617474656d7074223a223939323139643366666337666435363762333333323834613834643961643137222c22726561736f6e223a226974732070726f6365737320656e646564206265666f726520746865206f7574636f6d6520776173207265636f72646564222c226d61795f72756e5f616761696e223a66616c73657d2c7b226576656e74223a2261736b6564222c226e756d626572223a302c2263616c6c223a7b227475726e223a312c22706f736974696f6e223a307d2c2261736b5f6e6f223a322c226b696e64223a22756e6b6e6f776e222c22746f6f6c223a227368656c6c222c22617267756d656e7473223a227b5c22636f6d6d616e645c223a205c22746f75636820737461727465643b20736c656570203130305c227d222c226775617264223a22756e6b6e6f776e206f7574636f6d65222c2267756172645f76657273696f6e223a2231222c22726561736f6e223a226974732070726f6365737320656e646564206265666f726520746865206f7574636f6d6520776173207265636f72646564222c227175657374696f6e223a7b227374796c65223a22617373656e74222c226465736372697074696f6e223a22222c2264657461696c73223a22222c227061796c6f6164223a22222c22696e746572727570745f6964223a22222c22616c6c6f776564223a5b5d2c2274696d656f75745f6d73223a6e756c6c7d2c2262696e64696e67223a2265376332313233613832366161376538653337663232646631613161323761653661356662366135383834393133623261663766383139303730383062626636222c22736368656d61223a22222c22646561646c696e65223a6e756c6c2c227573655f62795f6d73223a6e756c6c2c22617474656d7074223a223939323139643366666337666435363762333333323834613834643961643137222c226964656d706f74656e74223a66616c73657d5d7d');
INSERT INTO assent.runner OVERRIDING SYSTEM VALUE VALUES (5, 'vm', 20646, '2026-12-01 05:04:40.955083+00');
INSERT INTO assent.runner OVERRIDING SYSTEM VALUE VALUES (31, 'vm', 20913, '-infinity');
INSERT INTO assent.schema_text VALUES ('07229d5e11597e6999be39152c36b1136b13e71ae5f34dfc8747a2216b0b7bbb', '{"type":"object","additionalProperties":false,"required":["command"],"properties":{"command":{"type":"string","minLength":1,"description":"The command line."}}}');
INSERT INTO assent.schema_text VALUES ('0a6c3cc4b2db5cdfe58147f958e8faa4e31cbbf95de5d090af282269e65659bc', '{"type":"object","properties":{"prompt":{"type":"string","minLength":1},
"details":{"type":"object"}},"required":["prompt"],"additionalProperties":false}');
INSERT INTO assent.schema_text VALUES ('193918dc1702dea60968efcd07fde5e30049d5d5c498c1bd3edda998c01f6c73', '{"type":"object","additionalProperties":false,"required":["file_path"],"properties":{"file_path":{"type":"string","description":"Path of the file in the workspace."},"offset":{"type":"integer","default":0,"description":"First line to read, from 0."},"limit":{"type":"integer","default":100,"description":"How many lines to read at most."}}}');
INSERT INTO assent.schema_text VALUES ('35336bf8fa665fec83c13c9cfb667c9442564a5009e35fd0ecb49105f1635b6e', '{"type":"object","properties":{"questions":{"type":"array","minItems":1,"items":
{"type":"object","properties":{"key":{"type":"string","minLength":1},"prompt":{"type":"string","minLength":1},
"options":{"type":"array","items":{"type":"object","properties":{"label":{"type":"string"},"value":{"type":"string"},
"description":{"type":"string"},"allow_input":{"type":"boolean"}},"additionalProperties":false}},
"multi_select":{"type":"boolean"},"required":{"type":"boolean"}},"required":["key","prompt"],
"additionalProperties":false}}},"required":["questions"],"additionalProperties":false}');
INSERT INTO assent.schema_text VALUES ('3adc92f721dc0e73725445a014a2321eb7c1b33d6e2461821fb7140ed060b04c', '{"type":"object","additionalProperties":false,"required":["file_path"],"properties":{"file_path":{"type":"string","description":"Path of the file or folder in the workspace."}}}');
INSERT INTO assent.schema_text VALUES ('5157ec3391f8e4e1858cc8ee72e264ada015ee1107e1e919ee32ff2c627ea547', '{"type":"object","additionalProperties":false,"required":["pattern"],"properties":{"pattern":{"type":"string","description":"The pattern, such as **/*.txt."},"path":{"type":["string","null"],"default":"/","description":"Path of the folder to search."}}}');
INSERT INTO assent.schema_text VALUES ('7b591d54320bf255602874b5bafc8a8831e0571b106d505a30e764895c5ac805', '{"type":"object","additionalProperties":false,"required":["file_path","content"],"properties":{"file_path":{"type":"string","description":"Path of the file in the workspace."},"content":{"type":"string","description":"The whole content of the file."}}}');
INSERT INTO assent.schema_text VALUES ('973c3c1ca327e4b34e3103b5cd68f4762454477ec314511b1938bb6a74780ae4', '{"type":"object","additionalProperties":false,"required":["file_path","old_string","new_string"],"properties":{"file_path":{"type":"string","description":"Path of the file in the workspace."},"old_string":{"type":"string","minLength":1,"description":"The text to replace."},"new_string":{"type":"string","description":"What takes its place."},"replace_all":{"type":"boolean","default":false,"description":"Replace it wherever it occurs."}}}');
INSERT INTO assent.schema_text VALUES ('9c7af8da962560e999a0cfb22aab29dc8fb94982bff7d1d9bef9f2833d1980b1', '{"type":"object","additionalProperties":false,"properties":{"path":{"type":["string","null"],"default":"/","description":"Path of the folder in the workspace."}}}');
INSERT INTO assent.schema_text VALUES ('ceac77489486e61613cf2054e8b5c4c83aa16a7ba62a4ff4c962b793f6805ca9', '{"type":"object","additionalProperties":false,"required":["pattern"],"properties":{"pattern":{"type":"string","minLength":1,"description":"The text to look for."},"path":{"type":["string","null"],"default":"/","description":"Path of the folder or file to search."},"glob":{"type":["string","null"],"description":"Search only files whose paths match, as in glob."},"output_mode":{"type":"string","enum":["files_with_matches","content","count"],"default":"files_with_matches","description":"Paths of files, or their matching lines, or how many."},"max_count":{"type":"integer","minimum":1,"default":1000,"description":"How many matches at most."}}}');
INSERT INTO assent.schema_version VALUES (1, '2026-12-01 05:04:39.697537+00');
INSERT INTO assent.schema_version VALUES (2, '2026-12-01 05:04:39.69926+00');
INSERT INTO assent.schema_version VALUES (3, '2026-12-01 05:04:39.700875+00');
INSERT INTO assent.schema_version VALUES (4, '2026-12-01 05:04:39.702573+00');
INSERT INTO assent.schema_version VALUES (5, '2026-12-01 05:04:39.703583+00');
INSERT INTO assent.thread OVERRIDING SYSTEM VALUE VALUES (1, 'ended', 1, 11, 11, '\x16962bbf36064fa0afb2c0e0d445ba230ec1cbb3be9b66dd26e53cdd9b4f6cf8', 2, NULL, 'please', 1796101479805);
INSERT INTO assent.thread OVERRIDING SYSTEM VALUE VALUES (2, 'waits', 0, 6, 6, '\xe96c2ad5aa7efdeaeb6ea151f9af41efbb70970c63e13f88b9adaf4e1b3f7e14', 1, NULL, 'please', 1796101479838);
INSERT INTO assent.thread OVERRIDING SYSTEM VALUE VALUES (3, 'doubt', 0, 10, 10, '\x2b06be9b6d85a4376841005611ca9df742dd19820629be60d8b0c54f1bf15717', 3, NULL, 'please', 1796101481001);
SELECT pg_catalog.setval('assent.approval_number', 4, true);
SELECT pg_catalog.setval('assent.runner_no_seq', 31, true);
SELECT pg_catalog.setval('assent.thread_no_seq', 3, true);
ALTER TABLE ONLY assent.approval
    ADD CONSTRAINT approval_pkey PRIMARY KEY (no);
ALTER TABLE ONLY assent.approval_ref
    ADD CONSTRAINT approval_ref_pkey PRIMARY KEY (no);
ALTER TABLE ONLY assent.journal
    ADD CONSTRAINT journal_pkey PRIMARY KEY (thread, pos);
ALTER TABLE ONLY assent.journal_0
    ADD CONSTRAINT journal_0_pkey PRIMARY KEY (thread, pos);
ALTER TABLE ONLY assent.journal_10
    ADD CONSTRAINT journal_10_pkey PRIMARY KEY (thread, pos);
ALTER TABLE ONLY assent.journal_11
    ADD CONSTRAINT journal_11_pkey PRIMARY KEY (thread, pos);
ALTER TABLE ONLY assent.journal_12
    ADD CONSTRAINT journal_12_pkey PRIMARY KEY (thread, pos);
ALTER TABLE ONLY assent.journal_13
    ADD CONSTRAINT journal_13_pkey PRIMARY KEY (thread, pos);
ALTER TABLE ONLY assent.journal_14
    ADD CONSTRAINT journal_14_pkey PRIMARY KEY (thread, pos);
ALTER TABLE ONLY assent.journal_15
    ADD CONSTRAINT journal_15_pkey PRIMARY KEY (thread, pos);
ALTER TABLE ONLY assent.journal_1
    ADD CONSTRAINT journal_1_pkey PRIMARY KEY (thread, pos);
ALTER TABLE ONLY assent.journal_2
    ADD CONSTRAINT journal_2_pkey PRIMARY KEY (thread, pos);
ALTER TABLE ONLY assent.journal_3
    ADD CONSTRAINT journal_3_pkey PRIMARY KEY (thread, pos);
ALTER TABLE ONLY assent.journal_4
    ADD CONSTRAINT journal_4_pkey PRIMARY KEY (thread, pos);
ALTER TABLE ONLY assent.journal_5
    ADD CONSTRAINT journal_5_pkey PRIMARY KEY (thread, pos);
ALTER TABLE ONLY assent.journal_6
    ADD CONSTRAINT journal_6_pkey PRIMARY KEY (thread, pos);
ALTER TABLE ONLY assent.journal_7
    ADD CONSTRAINT journal_7_pkey PRIMARY KEY (thread, pos);
ALTER TABLE ONLY assent.journal_8
    ADD CONSTRAINT journal_8_pkey PRIMARY KEY (thread, pos);
ALTER TABLE ONLY assent.journal_9
    ADD CONSTRAINT journal_9_pkey PRIMARY KEY (thread, pos);
ALTER TABLE ONLY assent.ready
    ADD CONSTRAINT ready_pkey PRIMARY KEY (thread);
ALTER TABLE ONLY assent.runner
    ADD CONSTRAINT runner_pkey PRIMARY KEY (no);
ALTER TABLE ONLY assent.schema_text
    ADD CONSTRAINT schema_text_pkey PRIMARY KEY (digest);
ALTER TABLE ONLY assent.schema_version
    ADD CONSTRAINT schema_version_pkey PRIMARY KEY (version);
ALTER TABLE ONLY assent.snapshot
    ADD CONSTRAINT snapshot_pkey PRIMARY KEY (thread);
ALTER TABLE ONLY assent.thread
    ADD CONSTRAINT thread_id_key UNIQUE (id);
ALTER TABLE ONLY assent.thread
    ADD CONSTRAINT thread_pkey PRIMARY KEY (no);
CREATE INDEX approval_deadline ON assent.approval USING btree (deadline) WHERE (deadline IS NOT NULL);
CREATE INDEX approval_thread ON assent.approval USING btree (thread, no);
CREATE INDEX ready_since ON assent.ready USING btree (since);
CREATE INDEX thread_running ON assent.thread USING btree (runner) WHERE (runner IS NOT NULL);
ALTER INDEX assent.journal_pkey ATTACH PARTITION assent.journal_0_pkey;
ALTER INDEX assent.journal_pkey ATTACH PARTITION assent.journal_10_pkey;
ALTER INDEX assent.journal_pkey ATTACH PARTITION assent.journal_11_pkey;
ALTER INDEX assent.journal_pkey ATTACH PARTITION assent.journal_12_pkey;
ALTER INDEX assent.journal_pkey ATTACH PARTITION assent.journal_13_pkey;
ALTER INDEX assent.journal_pkey ATTACH PARTITION assent.journal_14_pkey;
ALTER INDEX assent.journal_pkey ATTACH PARTITION assent.journal_15_pkey;
ALTER INDEX assent.journal_pkey ATTACH PARTITION assent.journal_1_pkey;
ALTER INDEX assent.journal_pkey ATTACH PARTITION assent.journal_2_pkey;
ALTER INDEX assent.journal_pkey ATTACH PARTITION assent.journal_3_pkey;
ALTER INDEX assent.journal_pkey ATTACH PARTITION assent.journal_4_pkey;
ALTER INDEX assent.journal_pkey ATTACH PARTITION assent.journal_5_pkey;
ALTER INDEX assent.journal_pkey ATTACH PARTITION assent.journal_6_pkey;
ALTER INDEX assent.journal_pkey ATTACH PARTITION assent.journal_7_pkey;
ALTER INDEX assent.journal_pkey ATTACH PARTITION assent.journal_8_pkey;
ALTER INDEX assent.journal_pkey ATTACH PARTITION assent.journal_9_pkey;
