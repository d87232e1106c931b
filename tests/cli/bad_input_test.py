"""What is wrong is told clearly, and nothing is lost by it."""

import contextlib
import os
import shutil
import sqlite3

from program import WAITING, ProgramTest, call, shell, turn, unittest, write

DEEP = '{"file_path":' + "[" * 300 + "]" * 300 + "}"
# A text that reaches the model's side as broken as it would from a model.
BROKEN_ARGUMENTS = {
    "half": ('{"file_path":"a","content":', "invalid arguments"),
    "nothing": ("", "invalid arguments"),
    "a list": ("[1]", "invalid arguments"),
    "two keys": ('{"file_path":"a","content":"good","content":"evil"}', "same key twice"),
    "two keys, one hidden": ('{"file_path":"a","content":"good","c\\u006fntent":"evil"}', "same key twice"),
    "deep": (DEEP, "deep"),
    "half a pair": ('{"file_path":"a","content":"\\ud800"}', "invalid arguments"),
    "a byte more": ('{"file_path":"a","content":"b"}x', "invalid arguments"),
    "a comment": ('{"file_path":"a",/**/"content":"b"}', "invalid arguments"),
    "not a number": ('{"file_path":"a","content":NaN}', "invalid arguments"),
    "a raw line feed": ('{"file_path":"a","content":"\n"}', "invalid arguments"),
    "a missing one": ('{"file_path":"a"}', "content"),
    "one too many": ('{"file_path":"a","content":"b","mode":"777"}', "mode"),
    "the wrong type": ('{"file_path":"a","content":5}', "content"),
}


class Arguments(ProgramTest):
    def test_each_is_told_to_the_model_and_nobody_is_asked(self):
        for name, (arguments, words) in BROKEN_ARGUMENTS.items():
            with self.subTest(name):
                args = self.run_args(turn("", call("write_file", arguments)), turn("I see."), thread=name)
                done = self.assent(*args, "--json")
                self.assert_status(done, 0)
                told = done.result["calls"][0]
                self.assertEqual((told["outcome"], told["is_error"], told["not_run"]), ("failed", True, True))
                self.assertIn(words, told["result"])
        self.assertEqual(list(self.workspace.iterdir()), [])
        self.assertEqual(self.pending(), [])

    def test_a_good_call_beside_a_broken_one(self):
        args = self.run_args(turn("", call("write_file", "{", "c1"), write("a.txt", "a", "c2")), turn("end"))
        self.assert_status(self.assent(*args, "--answers", "approve"), 0)
        self.assertEqual(self.file("a.txt").read_text(), "a")

    def test_very_long(self):
        args = self.run_args(turn("", write("a.txt", "x" * 9_000_000)), turn("end"))
        done = self.assent(*args, "--json")
        self.assert_status(done, 0)
        self.assertEqual(done.result["calls"][0]["outcome"], "failed")
        self.assertIn("at most 1048576", done.result["calls"][0]["result"])
        self.assertFalse(self.file("a.txt").exists())

    def test_unknown_tools(self):
        args = self.run_args(turn("", call("rm_rf", {}), call("", {}, "c2"), call("Shell", {"command": "true"}, "c3")),
                             turn("end"))
        done = self.assent(*args, "--json")
        self.assert_status(done, 0)
        for told in done.result["calls"]:
            self.assertIn("no tool", told["result"])

    def test_one_id_for_two_calls(self):
        args = self.run_args(turn("", write("a", "1", "same"), write("b", "2", "same")), turn("end"))
        done = self.assent(*args, "--json", "--answers", "approve")
        self.assert_status(done, 0)
        self.assertEqual(sorted(one["outcome"] for one in done.result["calls"]), ["done", "failed"])
        self.assertEqual([file.name for file in self.workspace.iterdir()], ["a"])

    def test_no_id(self):
        args = self.run_args(turn("", call("write_file", {"file_path": "a", "content": "b"}, None)), turn("end"))
        done = self.assent(*args, "--json", "--answers", "approve")
        self.assert_status(done, 0)
        self.assertEqual(self.file("a").read_text(), "b")

    def test_names_with_control_characters(self):
        args = self.run_args(turn("\x1b]0;evil\x07", call("\x1b[2Jshell\u202e", {})), turn("\x1b[31mend"))
        done = self.assent(*args)
        self.assert_status(done, 0)
        for text in (done.out, done.err, self.ok("history", "t").out):
            self.assertNotRegex(text, "[\x1b\x07\u202e]")


class Databases(ProgramTest):
    def setUp(self):
        super().setUp()
        [self.id] = self.waiting(write("a.txt", "a"))

    def test_locked(self):
        with contextlib.closing(sqlite3.connect(self.db, isolation_level=None)) as other:
            other.execute("begin exclusive")
            done = self.assent("--json", "approve", self.id)
            self.assertEqual((done.status, done.kind), (1, "database"))
            self.assertIn("locked by another program", done.json["error"]["message"])
            other.execute("rollback")
        self.ok("approve", self.id)

    def test_read_only(self):
        url = f"sqlite:{self.db}?mode=ro"
        self.assertEqual([one["id"] for one in self.ok("--db", url, "--json", "pending", db=False).json], [self.id])
        self.ok("--db", url, "show", self.id, db=False)
        self.ok("--db", url, "history", "t", db=False)
        self.assert_fails(["--db", url, "approve", self.id], "database", "read", db=False)
        self.assert_fails(["--db", url, "resume", "t"], "database", "read", db=False)
        self.assert_fails(["--db", f"sqlite:{self.root}/none.db?mode=ro", "pending"], "database", "none.db", db=False)
        self.assertFalse((self.root / "none.db").exists())
        self.assertEqual(self.pending_ids(), [self.id])

    def test_of_another_user(self):
        user = self.other_user()
        if user is None:
            for file in self.db.parent.iterdir():
                file.chmod(0)
        self.assert_fails(["approve", self.id], "database", str(self.db), user=user)
        self.assert_fails(["pending"], "database", str(self.db), user=user)

    def test_readable_by_another_user(self):
        user = self.other_user()
        if user is None:
            self.skipTest("needs root")
        for file in [self.db.parent, *self.db.parent.iterdir()]:
            file.chmod(0o755)
        done = self.assent("approve", self.id, user=user, env={"HOME": "/"})
        self.assert_status(done, 1)
        self.assertEqual(self.pending_ids(), [self.id])

    def test_truncated(self):
        good = self.db.read_bytes()
        for size in (10, 100, len(good) // 2, len(good) - 4096):
            with self.subTest(size):
                for name in ("-wal", "-shm"):
                    self.db.with_name(self.db.name + name).unlink(missing_ok=True)
                self.db.write_bytes(good[:size])
                done = self.assent("--json", "approve", self.id)
                # What is cut off may be out of this command's way; nothing may be made up.
                self.assertIn(done.status, (0, 1))
                if done.status == 1:
                    self.assertIn(done.kind, ("database", "not_found"))

    def test_an_empty_file_is_a_new_database(self):
        self.db = self.root / "empty.db"
        self.db.touch()
        self.assertEqual(self.pending(), [])

    def test_not_a_database(self):
        for content in (b"SQLite format 3\0" + b"x" * 5000, b"hello\n", os.urandom(8192)):
            self.db = self.root / "other.db"
            self.db.write_bytes(content)
            self.assert_fails(["pending"], "database", "other.db")
            self.assertEqual(self.db.read_bytes(), content)
        self.db = self.root
        self.assert_fails(["pending"], "database", str(self.root))
        self.db = self.root / "no" / "such" / "folder.db"
        self.assert_fails(["pending"], "database", "folder.db")

    def test_of_another_program(self):
        self.db = self.root / "foreign.db"
        with contextlib.closing(sqlite3.connect(self.db)) as other:
            other.execute("create table customers (name text)")
            other.commit()
        before = self.db.read_bytes()
        self.assert_fails(["pending"], "database", "foreign.db")
        self.assertEqual(self.db.read_bytes(), before)

    def test_of_a_newer_version(self):
        with contextlib.closing(sqlite3.connect(self.db)) as other:
            other.execute("pragma journal_mode = delete")
            for table, column in other.execute(
                    "select m.name, c.name from sqlite_master m join pragma_table_info(m.name) c where m.type = 'table' "
                    "and c.name like '%version%' and m.name like '%m%'").fetchall():
                with contextlib.suppress(sqlite3.Error):
                    other.execute(f'update "{table}" set "{column}" = 9999')
            other.execute("pragma user_version = 9999")
            other.commit()
        self.assert_fails(["pending"], "database", "newer")

    def test_what_is_stored_is_no_thread_of_the_program(self):
        with contextlib.closing(sqlite3.connect(self.db)) as other:
            self.assertEqual(other.execute("pragma integrity_check").fetchone()[0], "ok")


class Places(ProgramTest):
    def args(self, workspace) -> list[str]:
        self.workspace = workspace
        return self.run_args(turn("", shell("touch ran")))

    def test_workspaces_that_cannot_be(self):
        file = self.root / "file"
        file.touch()
        self.assert_fails(self.args(self.root / "missing"), "tool", "missing")
        self.assert_fails(self.args(file), "tool", "file")
        self.assert_fails(self.args(""), "usage", "--workspace")
        (self.root / "loop").symlink_to("loop")
        self.assert_fails(self.args(self.root / "loop"), "tool", "loop")

    def test_workspaces_that_hold_what_decides(self):
        self.assert_fails(self.args(self.root), "usage", "the database")
        self.assert_fails(self.args("/"), "usage", "the database")
        self.assert_fails(self.args(self.db.parent), "usage", "the database")
        (self.root / "link").symlink_to(self.root)
        self.assert_fails(self.args(self.root / "link"), "usage", "the database")
        self.assert_fails(self.args(self.root / "workspace" / ".."), "usage", "the database")
        self.config.mkdir()
        self.assert_fails(self.args(self.config), "usage", "the configuration")
        (self.config / "assent").mkdir()
        self.assert_fails(self.args(self.config / "assent"), "usage", "the configuration")
        (self.config / "assent" / "inner").mkdir()
        self.assert_fails(self.args(self.config / "assent" / "inner"), "usage", "the configuration")

    def test_a_linked_database_is_found(self):
        inside = self.root / "inside"
        inside.mkdir()
        self.db.symlink_to(inside / "real.db")
        self.assert_fails(self.args(inside), "usage", "the database")
        link = self.root / "workspace" / "link.db"
        link.symlink_to(self.root / "real.db")
        self.db = link
        self.assert_fails(self.args(self.root / "workspace"), "usage", "the database")

    def test_the_folder_of_the_state(self):
        args = self.args(self.root / "workspace")
        self.assert_status(self.assent(*args, db=False), WAITING)
        for folder in (self.state, self.state / "assent"):
            self.assert_fails([*self.args(folder)], "usage", "the database", db=False)

    def test_a_state_folder_that_cannot_be_made(self):
        blocked = self.root / "blocked"
        blocked.touch()
        self.env["XDG_STATE_HOME"] = str(blocked)
        self.assert_fails(["pending"], "database", str(blocked), db=False)
        user = self.other_user()
        if user is not None:
            self.env["XDG_STATE_HOME"] = str(self.root / "not" / "mine")
            self.assert_fails(["pending"], "database", "not/mine", db=False, user=user)

    def test_a_workspace_that_went_away(self):
        [held] = self.waiting(write("a", "b"))
        shutil.rmtree(self.workspace)
        self.ok("approve", held)
        self.assert_fails(["resume", "t"], "tool", str(self.workspace))
        self.workspace.mkdir()
        self.assert_status(self.assent("resume", "t"), 0)
        self.assertEqual(self.file("a").read_text(), "b")


class Scripts(ProgramTest):
    def test_scripts_that_cannot_be_used(self):
        for content, words in ((None, "cannot be read"), ("", ""), ("{", ""), ("[]", "turns"), ('{"turns": 1}', "turns"),
                               ('{"turns": [1]}', "turn 1"), ('{"turns": [{"text": 1}]}', "turn 1"),
                               ('{"turns": [{"calls": 1}]}', "turn 1"), ('{"turns": [{"calls": [{}]}]}', "name"),
                               ('{"turns": [{"calls": [{"name": "ls", "id": 5}]}]}', "id")):
            with self.subTest(content):
                path = self.root / "s.json"
                path.unlink(missing_ok=True)
                if content is not None:
                    path.write_text(content)
                args = [*self.run_args()[:-1], f"script:{path}"]
                self.assert_fails(args, "usage", words)
        self.assert_fails([*self.run_args()[:-1], f"script:{self.workspace}"], "usage", "cannot be read")
        self.assert_fails([*self.run_args()[:-1], "script:"], "usage", "script")
        self.assertEqual(self.ok("threads", "--json").json, [])

    def test_past_its_end(self):
        args = self.run_args(turn("", call("ls", {})))
        self.assert_fails(args, "model", "none is left")
        self.assertEqual(self.ok("threads", "--json").json[0]["state"], "failed")
        self.script(turn("", call("ls", {})), turn("", call("ls", {})), turn("end"), name="t.json")
        done = self.assent("resume", "t")
        self.assertEqual((done.status, done.out), (0, "end\n"))

    def test_gone_at_resume(self):
        [held] = self.waiting(write("a", "b"))
        self.ok("approve", held)
        script = self.root / "t.json"
        script.rename(self.root / "moved.json")
        self.assert_fails(["resume", "t"], "usage", "t.json")
        self.assertFalse(self.file("a").exists())
        self.assert_status(self.assent("resume", "t", "--model", f"script:{self.root}/moved.json"), 0)
        self.assert_status(self.assent("run", "more", "--thread", "t"), 1)  # past its end, but found: it was recorded


class Threads(ProgramTest):
    def test_a_prompt_on_a_waiting_thread(self):
        ids = self.waiting(write("a", "b"), shell("true", "c2"))
        done = self.assert_fails(["run", "more", "--thread", "t"], "waiting", ids[1])
        self.assertIn(ids[0], done.result["error"]["message"])
        self.assertEqual(self.pending_ids(), ids)
        script = self.script(turn("", write("a", "b")), turn("Something else."), name="t.json")
        self.assert_fails(["run", "more", "--thread", "t", "--abort-open", "--ask", "bogus"], "usage", "bogus")
        self.assert_fails(["run", "more", "--thread", "t", "--abort-open", "--answers", "bogus"], "usage", "--answers")
        self.assertEqual(self.pending_ids(), ids, "a refused prompt aborts nothing")
        done = self.assent("run", "more", "--thread", "t", "--abort-open", "--model", script)
        self.assertEqual((done.status, done.out), (0, "Something else.\n"))
        self.assertEqual(self.pending_ids(), [])
        self.assert_fails(["approve", ids[0]], "conflict", "aborted")
        self.assertFalse(self.file("a").exists())

    def test_abort_open_where_nothing_is_open(self):
        args = self.run_args(turn("One."), turn("Two."))
        self.assertEqual(self.assent(*args, "--abort-open").out, "One.\n")
        self.assertEqual(self.assent(*args, "--abort-open").out, "Two.\n")

    def test_a_conversation_goes_on(self):
        args = self.run_args(turn("One."), turn("", write("a", "b")), turn("Two."))
        self.assertEqual(self.assent(*args).out, "One.\n")
        self.assertEqual(self.assent("run", "go on", "--thread", "t", "--answers", "approve").out, "Two.\n")

    def test_resume_of_what_has_ended(self):
        self.ok(*self.run_args(turn("One.")))
        before = self.history()
        self.assertEqual(self.ok("resume", "t").out, "One.\n")
        self.assertEqual(len(self.history()), len(before))

    def test_odd_names(self):
        for name in ("a b", "-dash", "é/../x", "x" * 500, "'; drop table threads; --", "new\nline"):
            with self.subTest(name):
                args = self.run_args(turn("Bye."))
                args[3] = name
                done = self.assent(args[0], args[1], f"--thread={name}", *args[4:], "--json")
                self.assert_status(done, 0)
                self.assertEqual(done.result["thread"], name)
                self.assertEqual(self.ok("history", "--json", "--", name).json[0]["event"], "configured")
        self.assertEqual(len(self.ok("threads", "--json").json), 6)
        self.assertEqual(len(self.ok("threads").out.splitlines()), 7, "a line each")


class Limits(ProgramTest):
    def test_turns(self):
        args = self.run_args(turn("", call("ls", {}, "c1")), turn("", call("ls", {}, "c2")), turn("end"))
        done = self.assent(*args, "--max-turns", "2", "--json")
        self.assertEqual((done.status, done.kind), (1, "refused"))
        self.assertIn("limit of 2 model turns", done.result["error"]["message"])
        self.assert_status(self.assent("resume", "t"), 1)
        done = self.assent("resume", "t", "--max-turns", "3")
        self.assertEqual((done.status, done.out), (0, "end\n"))

    def test_calls(self):
        args = self.run_args(turn("", call("ls", {}, "c1")), turn("", call("ls", {}, "c2"), call("ls", {}, "c3")),
                             turn("end"))
        done = self.assent(*args, "--max-calls", "2", "--json")
        self.assertEqual((done.status, done.kind), (1, "refused"))
        self.assertIn("limit of 2 tool calls", done.result["error"]["message"])
        self.assertEqual([one["is_error"] for one in done.result["calls"]], [False, True, True])
        done = self.assent("resume", "t", "--max-calls", "10")
        self.assertEqual((done.status, done.out), (0, "end\n"))

    def test_no_calls_at_all(self):
        args = self.run_args(turn("", shell("touch ran")), turn("end"))
        done = self.assent(*args, "--max-calls", "0", "--json")
        self.assertEqual((done.status, done.kind), (1, "refused"))
        self.assertIn("limit of 0 tool calls", done.result["error"]["message"])
        self.assertEqual(self.pending(), [])


class Rules(ProgramTest):
    def test_a_rule_for_a_tool_that_does_not_exist(self):
        for option in ("--ask", "--allow", "--deny"):
            self.assert_fails([*self.run_args(turn("end")), option, "shell,bogus"], "usage", "bogus")
            self.assert_fails(["judge", "ls", "{}", "--workspace", self.workspace, option, "bogus"], "usage", "bogus")
        self.assertEqual(self.ok("threads", "--json").json, [])


if __name__ == "__main__":
    unittest.main()
