"""`work --log json`: one object a line on standard error."""

from work import *

SECRET = "argument-that-nobody-else-reads"


class LogTest(WorkTest):
    def lines(self, text: str) -> list[dict]:
        """Each line is a whole object with what all have."""
        lines = [json.loads(line) for line in text.splitlines()]
        for line in lines:
            self.assertRegex(line["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            self.assertIn(line["level"], ("info", "warning", "error"))
            self.assertRegex(line["event"], "^[a-z_]+$")
        self.assertNotIn(SECRET, text)
        return lines

    def only(self, lines: list[dict], event: str) -> dict:
        [one] = [line for line in lines if line["event"] == event]
        return one

    def test_a_line_for_each_thing_that_happens_and_no_argument(self):
        [first, second] = self.waiting(shell(f"echo {SECRET}", "a"), shell("exit 3", "b"))
        self.ok("approve", first, "--message", SECRET)
        self.ok("deny", second, "--message", SECRET)
        done = self.ok("work", "--until-idle", "--log", "json", "--at-once", "2")
        self.assertEqual(done.out, "")
        lines = self.lines(done.err)
        events = [line["event"] for line in lines if line["event"] != "note"]
        self.assertEqual(events[0], "started")
        self.assertEqual(events[-1], "stopped")
        self.assertEqual([line for line in events if line in ("run_started", "claimed", "finished", "run_ended")],
                         ["run_started", "claimed", "finished", "run_ended"])
        started = self.only(lines, "started")
        self.assertEqual((started["database"], started["at_once"]), (str(self.db), 2))
        answers = {line["approval"]: line for line in lines if line["event"] == "answered"}
        self.assertEqual({id: answers[id]["decision"] for id in answers}, {first: "approve", second: "deny"})
        self.assertEqual(answers[first]["signed_in"], "process")
        self.assertGreaterEqual(answers[first]["waited_ms"], 0)
        finished = self.only(lines, "finished")
        self.assertEqual([finished["attempt"]], self.only(lines, "claimed")["attempts"])
        self.assertEqual(finished["outcome"], "done")
        ended = self.only(lines, "run_ended")
        self.assertEqual((ended["thread"], ended["result"], ended["open"]), ("t", "done", 0))
        for line in lines:
            if line["event"] not in ("started", "stopped", "note"):
                self.assertEqual(line["thread"], "t")

    def test_what_is_asked_names_its_approval(self):
        args = self.run_args(turn("One.", shell("true")), turn("Two.", shell(f"echo {SECRET}", "b")), turn("All."))
        self.assert_status(self.assent(*args), WAITING)
        [asked] = self.pending_ids()
        self.ok("approve", asked)
        lines = self.lines(self.ok("work", "--until-idle", "--log", "json").err)
        [asked] = self.pending_ids()
        line = self.only(lines, "asked")
        self.assertEqual({key: line[key] for key in ("approval", "thread", "kind", "tool", "turn", "position")},
                         {"approval": asked, "thread": "t", "kind": "approve", "tool": "shell", "turn": 2, "position": 0})
        self.assertEqual([line["open"] for line in lines if line["event"] == "run_ended"][-1], 1)

    def test_a_start_in_doubt_is_a_warning(self):
        [asked] = self.waiting(shell(f"touch started; sleep 100; {SECRET}"))
        self.ok("approve", asked)
        doomed = self.start("work", "--lease", "1")
        wait_until(self.file("started").exists, "the command runs")
        doomed.signal(signal.SIGKILL)
        doomed.process.wait()
        lines = self.lines(self.ok("work", "--until-idle", "--lease", "1", "--log", "json").err)
        self.assertEqual(self.only(lines, "doubted")["level"], "warning")
        self.assertEqual(self.only(lines, "asked")["kind"], "unknown")

    def test_told_to_end_it_says_so(self):
        worker = self.start("work", "--log", "json", "--metrics", ":0")
        told = json.loads(self.line(worker, '"metrics"'))
        self.assertTrue(told["url"].startswith("http://127.0.0.1:"))
        self.line(worker, '"started"')
        worker.signal(signal.SIGTERM)
        done = worker.end()
        self.assert_status(done, 0)
        self.assertEqual([line["event"] for line in self.lines(done.err)], ["stopping", "stopped"])

    def test_results_stay_on_standard_output_with_json(self):
        [asked] = self.waiting(shell(f"echo {SECRET}"))
        self.ok("approve", asked)
        done = self.ok("--json", "work", "--until-idle", "--log", "json")
        self.assertEqual(done.lines, [{"thread": "t", "result": "done"}])
        self.assertIn("run_ended", [line["event"] for line in self.lines(done.err)])

    def test_who_is_notified_is_told_of_a_question_once(self):
        told = self.root / "told"
        calls = [shell("true", name) for name in "abc"]
        first, second, third = self.waiting(*calls)
        worker = self.start("work", "--log", "json", "--notify", f"cat >>{told}")
        # Each time the thread is run its agent is a new one, which tells of what is open.
        for approval in (first, second):
            self.ok("approve", approval)
            self.line(worker, '"run_ended"')
        self.ok("approve", third)
        while '"result": "done"' not in self.line(worker, '"run_ended"'):
            pass
        worker.signal(signal.SIGTERM)
        self.assert_status(worker.end(), 0)
        asked = [json.loads(line)["id"] for line in told.read_text(encoding="utf-8").splitlines()]
        self.assertEqual(len(asked), len(set(asked)), asked)
        self.assertIn(third, asked)

    def test_errors_are_lines_too(self):
        failed = self.assent("work", "--log", "json", "--at-once", "0")
        self.assert_status(failed, 2)
        line = self.only(self.lines(failed.err), "failed")
        self.assertEqual((line["level"], line["kind"]), ("error", "usage"))
        self.assert_fails(["work", "--log", "xml"], "usage", "text")


if __name__ == "__main__":
    unittest.main()
