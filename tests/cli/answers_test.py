"""Answers: who gives which, what counts, and that exactly what was approved runs exactly once."""

import contextlib
import hashlib
import sqlite3

from program import WAITING, ProgramTest, call, json, shell, turn, unittest, write

# Arguments as a model might write them: what runs must be these bytes' values, what is shown these bytes.
ODD = '{ "content" : "a\\u0041\\n\\tzürich 例 \\ud83d\\ude00 \\u202e",\n  "file_path":"odd.txt" }'
ODD_CONTENT = "aA\n\tzürich 例 😀 \u202e"


class OneCall(ProgramTest):
    def setUp(self):
        super().setUp()
        [self.id] = self.waiting(write("a.txt", "as approved\n"))

    def resume(self, status: int = 0):
        done = self.assent("resume", "t", "--json")
        self.assert_status(done, status)
        return done

    def outcome(self) -> dict:
        return self.resume().result["calls"][0]

    def told(self) -> str:
        """What the model was told of the call."""
        return self.outcome()["result"]

    def test_approve(self):
        self.assertFalse(self.file("a.txt").exists())
        self.ok("approve", self.id)
        self.assertFalse(self.file("a.txt").exists(), "an answer runs nothing")
        self.assertEqual(self.outcome()["outcome"], "done")
        self.assertEqual(self.file("a.txt").read_text(), "as approved\n")
        self.assertEqual(self.pending_ids(), [])

    def test_deny(self):
        self.ok("deny", self.id, "--message", "not on a Friday")
        outcome = self.outcome()
        self.assertEqual((outcome["outcome"], outcome["not_run"]), ("denied", True))
        self.assertEqual(outcome["result"], "The call of `write_file` was denied: not on a Friday. It did not run. Do "
                                            "not call it again unless the user asks.")
        self.assertFalse(self.file("a.txt").exists())

    def test_edit_one_argument(self):
        done = self.ok("edit", self.id, "--set", 'content="edited"', "--json")
        self.assertEqual(done.json["decision"], "edit")
        self.assertEqual((self.outcome()["outcome"], self.file("a.txt").read_text()), ("done", "edited"))

    def test_edit_all_arguments(self):
        self.ok("edit", self.id, "--args", '{"file_path": "b.txt", "content": "b"}', "--message", "better there")
        outcome = self.outcome()
        self.assertTrue(outcome["edited"])
        self.assertEqual([file.name for file in self.workspace.iterdir()], ["b.txt"])

    def test_edit_to_another_tool_is_judged_afresh(self):
        self.ok("edit", self.id, "--tool", "shell", "--args", '{"command": "touch ran"}')
        self.resume(WAITING)
        [again] = self.pending()
        self.assertEqual((again["tool"], again["arguments"]), ("shell", {"command": "touch ran"}))
        self.assertFalse(self.file("ran").exists())
        self.ok("approve", again["id"])
        self.resume()
        self.assertEqual([file.name for file in self.workspace.iterdir()], ["ran"])

    def test_respond(self):
        self.ok("respond", self.id, "--message", "I did it by hand")
        outcome = self.outcome()
        self.assertEqual((outcome["outcome"], outcome["not_run"], outcome["result"]),
                         ("answered", True, "I did it by hand"))
        self.assertFalse(self.file("a.txt").exists())

    def test_the_same_answer_again(self):
        for _ in range(2):
            first = self.ok("edit", self.id, "--set", 'content="x"', "--json").json
        again = self.ok("edit", self.id, "--json", "--set", 'content="x"').json
        self.assertEqual((first["already"], again["already"]), (True, True))
        self.resume()
        self.assertTrue(self.ok("edit", self.id, "--set", 'content="x"', "--json").json["already"],
                        "also after it ran")
        self.assertIn("was already edited", self.ok("edit", self.id, "--set", 'content="x"').out)

    def test_another_answer(self):
        self.ok("deny", self.id, "--message", "no")
        by = self.ok("show", self.id, "--json").json["decided_by"]
        for args in (["approve"], ["deny", "--message", "other words"], ["deny"], ["respond", "--message", "no"],
                     ["edit", "--set", "content=1"]):
            with self.subTest(args):
                error = self.assent(args[0], self.id, *args[1:], "--json").json["error"]
                kinds = ("refused", "conflict") if args[0] == "edit" else ("conflict",)
                self.assertIn(error["kind"], kinds)
                if error["kind"] == "conflict":
                    self.assertEqual((error["decided_by"], error["decision"]), (by, "deny"))
        self.assertEqual(self.outcome()["outcome"], "denied")

    def test_ids_that_are_wrong(self):
        wrong = self.id[:-1] + ("x" if self.id[-1] != "x" else "y")
        self.assert_fails(["approve", wrong], "not_found", wrong)
        self.assert_fails(["approve", ""], "usage", "empty")
        self.assert_fails(["approve", "", "--thread", "t"], "usage", "empty")
        self.assert_fails(["approve", self.id, "--thread", ""], "usage", "empty")
        self.assert_fails(["approve", "call_1", "--thread", "t"], "not_found", "call_1")
        self.assert_fails(["show", wrong], "not_found", wrong)
        self.assert_fails(["approve", self.id[0]], "not_found", self.id[0])
        self.assert_fails(["approve", self.id + "z"], "not_found", self.id)
        self.assert_fails(["deny", "-"], "not_found", "-")
        other = self.waiting(shell("true"), thread="other")[0]
        self.assert_fails(["approve", self.id, "--thread", "other"], "not_found", self.id)
        self.assert_fails(["approve", self.id, "--thread", "no such"], "not_found", self.id)
        self.assertEqual(self.pending_ids(), [self.id, other])
        self.ok("approve", self.id.upper(), "--thread", "t")

    def test_digest(self):
        digest = self.pending()[0]["digest"]
        self.assert_fails(["approve", self.id, "--digest", digest[:-1] + "0f"[digest[-1] == "0"]], "refused", "digest")
        self.assert_fails(["approve", self.id, "--digest", digest[:12]], "refused", "digest")
        self.assertEqual(self.pending_ids(), [self.id])
        self.ok("approve", self.id, "--digest", digest)

    def test_an_empty_digest_is_no_digest(self):
        # A script whose variable is empty must not approve what it never looked at.
        self.assert_fails(["approve", self.id, "--digest", ""], "usage", "--digest")
        self.assertEqual(self.pending_ids(), [self.id])

    def test_edits_that_do_not_fit(self):
        for args, words in ((["--set", "content=5"], "do not fit"), (["--set", "bogus=true"], "has no field bogus"),
                            (["--args", "{}"], "do not fit"), (["--args", "[]"], "cannot be used"),
                            (["--args", "nonsense"], "cannot be used"), (["--args", '{"content":"a","content":"b"}'], ""),
                            (["--args", '{"file_path":"a"}', "--tool", "bogus"], "no tool called bogus")):
            with self.subTest(args):
                self.assert_fails(["edit", self.id, *args], "refused", words)
        for args, words in ((["--set", "content"], "key=JSON"), (["--set", "content=plain"], "quotes"),
                            (["--set", "=1"], "key=JSON")):
            self.assert_fails(["edit", self.id, *args], "usage", words)
        self.assert_fails(["edit", self.id, "--set", 'content="a"', "--set", 'content="b"'], "refused", "twice")
        self.assertEqual([(one["id"], one["arguments"]["content"]) for one in self.pending()],
                         [(self.id, "as approved\n")])

    def test_an_aborted_thread(self):
        self.ok("abort", "t", "--reason", "changed my mind")
        self.assert_fails(["approve", self.id], "conflict", "aborted")
        self.assert_fails(["abort", "t"], "conflict", "aborted")
        self.resume(1)
        self.assertFalse(self.file("a.txt").exists())

    def test_the_transcript_is_shown(self):
        shown = self.ok("show", self.id).out
        for text in ("please", "I will.", "as approved", "a.txt", self.id, "program"):
            self.assertIn(text, shown)

    def test_resume_without_an_answer_waits_again(self):
        before = self.pending()
        for _ in range(3):
            self.resume(WAITING)
        self.assertEqual(self.pending(), before)
        self.assertEqual(self.events().count("asked"), 1)

    def test_two_answers_at_once(self):
        for round_number in range(5):
            thread = f"race{round_number}"
            [race] = self.waiting(shell("echo ran >> log"), thread=thread)
            runs = [self.start("approve", race, "--json"), self.start("deny", race, "--json"),
                    self.start("respond", race, "--message", "x", "--json")]
            answers = [run.end() for run in runs]
            won = [done.json for done in answers if done.status == 0]
            lost = [done.json["error"] for done in answers if done.status == 1]
            self.assertEqual((len(won), len(lost)), (1, 2), answers)
            for error in lost:
                self.assertEqual((error["kind"], error["decision"]), ("conflict", won[0]["decision"]))
            self.assert_status(self.assent("resume", thread), 0)
            ran = self.file("log").read_text() if self.file("log").exists() else ""
            self.assertEqual(ran, "ran\n" if won[0]["decision"] == "approve" else "")
            with contextlib.suppress(FileNotFoundError):
                self.file("log").unlink()

    def test_two_resumes_at_once_run_it_once(self):
        [once] = self.waiting(shell("echo ran >> log"), thread="once")
        self.ok("approve", once)
        runs = [self.start("resume", "once", "--json") for _ in range(4)]
        for done in [run.end() for run in runs]:
            self.assertTrue(done.status == 0 or done.kind == "leased", done)
        self.assertEqual(self.file("log").read_text(), "ran\n")

    def test_an_approval_not_used_in_time_is_asked_again(self):
        [late] = self.waiting(shell("touch ran"), thread="late", options=("--use-by", "0s"))
        self.ok("approve", late)
        self.assert_status(self.assent("resume", "late"), WAITING)
        self.assertFalse(self.file("ran").exists())
        again = [one for one in self.pending() if one["thread"] == "late"]
        self.assertEqual(len(again), 1)
        self.assertNotEqual(again[0]["id"], late)
        self.assert_fails(["deny", late], "conflict", late)
        self.ok("approve", again[0]["id"])
        self.assert_status(self.assent("resume", "late", "--use-by", "never"), WAITING)


class Lists(ProgramTest):
    """--answers."""

    def run_list(self, answers: list[str], *calls: dict, status: int = 0):
        args = self.run_args(turn("", *calls), turn("The end."))
        for answer in answers:
            args += ["--answers", answer]
        done = self.assent(*args, "--json")
        self.assert_status(done, status)
        return done

    def results(self, answers: list[str], *calls: dict) -> list:
        return [one["result"] for one in sorted(self.run_list(answers, *calls).result["calls"],
                                                key=lambda one: one["position"])]

    def test_each_kind(self):
        results = self.results(['approve,deny:no, really, no,edit:{"file_path":"e, f}.txt","content":"{a,approve}"},'
                                'respond:one, two'],
                               write("a.txt", "a", "c1"), write("b.txt", "b", "c2"), write("c.txt", "c", "c3"),
                               write("d.txt", "d", "c4"))
        self.assertIn("denied: no, really, no.", results[1])
        self.assertEqual(results[3], "one, two")
        self.assertEqual({file.name: file.read_text() for file in self.workspace.iterdir()},
                         {"a.txt": "a", "e, f}.txt": "{a,approve}"})

    def test_several_lists(self):
        results = self.results(["approve", "deny:,approved?", "respond:"], shell("true", "c1"), shell("true", "c2"),
                               shell("true", "c3"))
        self.assertIn("denied: ,approved?.", results[1])

    def test_a_comma_and_a_word_in_a_text(self):
        # In a text of its own list nothing can be taken for the next answer but a whole word.
        results = self.results(["deny:do not approve this,laterally"], shell("true"))
        self.assertIn("denied: do not approve this,laterally.", results[0])

    def test_braces_hide_commas(self):
        self.run_list(['edit:{"command":"echo x,approve,deny > got"}'], shell("false"))
        self.assertEqual(self.file("got").read_text(), "x,approve,deny\n")

    def test_later(self):
        done = self.run_list(["approve,later"], shell("echo > ran", "c1"), shell("true", "c2"), status=WAITING)
        self.assertEqual([one["tool_call_id"] for one in done.result["interrupts"]], ["c2"])
        self.assertTrue(self.file("ran").exists(), "what is approved need not wait for the rest")

    def test_too_few(self):
        done = self.run_list(["approve"], shell("true", "c1"), shell("true", "c2"), status=WAITING)
        self.assertEqual(len(done.result["interrupts"]), 1)
        self.assert_status(self.assent("resume", "t", "--answers", "deny"), 0)

    def test_too_many(self):
        done = self.run_list(["approve,deny,later"], shell("echo ran >> log"), status=2)
        self.assertIn("more answers", done.result["error"]["message"])
        self.assertEqual(self.file("log").read_text(), "ran\n")

    def test_lists_that_cannot_be_read_begin_nothing(self):
        args = self.run_args(turn("", shell("true")))
        for answers in ("yes", "approve:x", "later:x", "approve,,deny", "edit", "edit:{", "edit:[]", "respond", "Approve",
                        "", "approve,", 'edit:{"a":1,"a":2}'):
            with self.subTest(answers):
                self.assert_fails([*args, "--answers", answers], "usage", "--answers")
        self.assertEqual(self.ok("threads", "--json").json, [])

    def test_an_edit_that_does_not_fit_leaves_it_open(self):
        done = self.run_list(['edit:{"command":5}'], shell("touch ran"), status=1)
        self.assertEqual(done.kind, "refused")
        self.assertEqual(len(self.pending()), 1)
        self.assert_status(self.assent("resume", "t", "--answers", "approve"), 0)

    def test_questions_of_several_turns(self):
        args = self.run_args(turn("", shell("echo 1 >> log")), turn("", shell("echo 2 >> log"), shell("false", "c2")),
                             turn("The end."))
        done = self.assent(*args, "--answers", "approve,deny,respond:fine")
        self.assert_status(done, 0)
        self.assertEqual(self.file("log").read_text(), "1\n")


class ExactBytes(ProgramTest):
    def test_what_was_shown_is_kept_and_runs(self):
        [odd] = self.waiting(call("write_file", ODD))
        self.assertIn(ODD.replace("\n", " "), self.ok("pending", "--json").out)
        [approval] = self.pending()
        self.assertEqual(approval["arguments"]["content"], ODD_CONTENT)
        self.assertEqual(approval["arguments_raw"], ODD)
        self.assertEqual(approval["arguments_sha256"], hashlib.sha256(ODD.encode()).hexdigest())
        shown = self.ok("show", odd).out
        self.assertIn("zürich 例 😀", shown)
        self.assertNotIn("\u202e", shown)
        self.ok("approve", odd)
        self.assert_status(self.assent("resume", "t"), 0)
        self.assertEqual(self.file("odd.txt").read_bytes(), ODD_CONTENT.encode())
        self.assertEqual(next(entry for entry in self.history() if entry["event"] == "model_turn")["calls"][0]["arguments"],
                         ODD)

    def test_the_digest_of_the_arguments(self):
        self.waiting(call("write_file", ODD.replace("\n", " \t")))
        line = self.ok("pending", "--json").out
        start = line.index('"arguments": ') + len('"arguments": ')
        end = line.index(', "arguments_', start)
        digest = hashlib.sha256(line[start:end].encode()).hexdigest()
        self.assertEqual(self.pending()[0]["arguments_sha256"], digest)

    def test_big_numbers_are_kept(self):
        exact = '{"file_path":"a","offset": 0,"limit":  100}'
        raw = '{"command":"true","big":12345678901234567890123,"small":1.10,"huge":1e400}'
        said = self.ok("judge", "read_file", exact, "--workspace", self.workspace, "--json").out
        self.assertIn(f'"arguments": {exact}', said)
        args = self.run_args(turn("", call("shell", raw)), turn("end"))
        done = self.assent(*args, "--json")  # refused by the schema, which knows no such keys
        self.assert_status(done, 0)
        self.assertIn(raw, done.out)
        self.assertIn(json.dumps(raw), self.ok("history", "t", "--json").out)

    def test_a_large_file(self):
        content = "".join(f"{i} äöü\n" for i in range(20_000))
        [large] = self.waiting(write("large.txt", content))
        self.assertEqual(self.pending()[0]["arguments"]["content"], content)
        self.ok("approve", large)
        self.assert_status(self.assent("resume", "t"), 0)
        self.assertEqual(self.file("large.txt").read_text(), content)

    def test_every_control_character(self):
        content = "".join(map(chr, range(32))) + "\x7f\x85\u2028\ufeff\ufffd\U0010fffe"
        [control] = self.waiting(write("c.txt", content))
        for shown in (self.ok("show", control).out, self.ok("pending").out):
            self.assertNotRegex(shown, "[\x00-\x08\x0b-\x1f\x7f\x85\u2028]")
        self.ok("approve", control)
        self.assert_status(self.assent("resume", "t"), 0)
        self.assertEqual(self.file("c.txt").read_bytes(), content.encode())

    def test_nothing_runs_that_was_changed_behind_the_back(self):
        [approved] = self.waiting(write("a.txt", "good"))
        self.ok("approve", approved)
        with contextlib.closing(sqlite3.connect(self.db)) as database:
            tables = [row[0] for row in database.execute("select name from sqlite_master where type = 'table'")]
            changed = 0
            for table in tables:
                columns = [row[1] for row in database.execute(f"pragma table_info('{table}')")]
                for column in columns:
                    with contextlib.suppress(sqlite3.Error):
                        changed += database.execute(
                            f"update \"{table}\" set \"{column}\" = cast(replace(cast(\"{column}\" as text), 'good', "
                            f"'evil') as blob) where cast(\"{column}\" as text) like '%good%'").rowcount
            database.commit()
        self.assertGreater(changed, 0)
        self.assert_fails(["resume", "t"], "database", "")
        self.assertFalse(self.file("a.txt").exists())


if __name__ == "__main__":
    unittest.main()
