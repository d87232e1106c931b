"""Signals, closed streams and killed processes: nothing is lost, nothing runs twice."""

from program import INTERRUPTED, WAITING, ProgramTest, lives, os, shell, signal, subprocess, taken, turn, unittest, wait_until, write

# Writes its process id, then stays.
STAYS = "echo $$ > pid.new; mv pid.new pid; exec sleep 600"
# The same, and whoever asks it politely is not heard.
DEAF = "trap '' TERM INT HUP; echo $$ > pid.new; mv pid.new pid; while :; do sleep 600; done"


class RunningTool(ProgramTest):
    def begin(self, command: str = STAYS, *options: str):
        """A run whose tool runs; the run and the tool's process id."""
        args = self.run_args(turn("", write("before.txt", "b", "c1"), shell(command, "c2")), turn("The end."))
        running = self.start(*args, "--allow", "*", "--json", *options)
        wait_until(self.file("pid").exists, "the tool runs")
        return running, int(self.file("pid").read_text())

    def test_each_signal_ends_the_tool_and_the_run(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                running, pid = self.begin()
                running.signal(number)
                done = running.end()
                self.assert_status(done, INTERRUPTED)
                self.assertIn("interrupted", done.result["error"]["message"])
                wait_until(lambda pid=pid: not lives(pid), "the tool has ended")
                self.assertEqual(self.file("before.txt").read_text(), "b")
                resumed = self.assent("resume", "t", "--json")
                self.assert_status(resumed, 0)
                [told] = [one for one in resumed.result["calls"] if one["tool_call_id"] == "c2"]
                self.assertEqual((told["outcome"], told["not_run"]), ("cancelled", False))
                self.assertIn("stopped: the call was cancelled", told["result"])
                self.assertEqual(resumed.result["text"], "The end.")
                self.file("pid").unlink()
                self.db.unlink()

    def test_the_way_on_is_told(self):
        args = self.run_args(turn("", shell(STAYS)), turn("The end."))
        running = self.start(*args, "--allow", "shell")
        wait_until(self.file("pid").exists, "the tool runs")
        running.signal(signal.SIGINT)
        self.assertIn(f"assent --db sqlite:{self.db} resume t", running.end().err)

    def test_a_second_signal_ends_it_at_once(self):
        running, pid = self.begin(DEAF)
        wait_until(lambda: "finished" in self.events(), "the other call's end is stored")
        running.signal(signal.SIGINT)
        wait_until(lambda: taken(running.process.pid, signal.SIGINT), "the first signal is taken")
        running.signal(signal.SIGINT)
        self.assert_status(running.end(), INTERRUPTED)
        wait_until(lambda: not lives(pid), "the tool has ended with the program")
        self.assert_status(self.assent("resume", "t"), WAITING)
        self.assertEqual([one["kind"] for one in self.pending()], ["unknown"])

    def test_a_deaf_tool_is_ended_too(self):
        running, pid = self.begin(DEAF)
        running.signal(signal.SIGTERM)
        self.assert_status(running.end(), INTERRUPTED)
        wait_until(lambda: not lives(pid), "the tool has ended")

    def test_an_abort_from_elsewhere_ends_the_tool(self):
        running, pid = self.begin()
        aborted = self.ok("abort", "t", "--reason", "enough", "--json").json
        self.assertEqual((aborted["state"], aborted["running"]), ("aborted", 1))
        done = running.end()
        self.assertEqual((done.status, done.result["result"]), (1, "aborted"))
        wait_until(lambda: not lives(pid), "the tool has ended")

    def test_answers_are_taken_while_a_tool_runs(self):
        args = self.run_args(turn("", shell("touch ran", "c1"), shell(STAYS, "c2")), turn("The end."))
        self.assert_status(self.assent(*args), WAITING)
        first, second = self.pending_ids()
        self.ok("approve", second)
        running = self.start("resume", "t", "--json")
        wait_until(self.file("pid").exists, "the tool runs")
        self.ok("approve", first)
        wait_until(self.file("ran").exists, "the other tool has run")
        running.signal(signal.SIGINT)
        self.assert_status(running.end(), INTERRUPTED)


class KilledProgram(ProgramTest):
    """What was begun by a process that died is never begun again without a person."""

    def setUp(self):
        super().setUp()
        self.args = self.run_args(turn("", shell(f"echo begun >> log; {STAYS}")), turn("The end."))
        running = self.start(*self.args, "--allow", "shell")
        wait_until(self.file("pid").exists, "the tool runs")
        self.tool = int(self.file("pid").read_text())
        running.signal(signal.SIGKILL)
        self.assert_status(running.end(), -signal.SIGKILL)
        wait_until(lambda: not lives(self.tool), "the tool has ended with the program")
        self.assert_status(self.assent("resume", "t"), WAITING)
        [self.unknown] = self.pending()

    def test_it_is_asked_how_it_ended(self):
        self.assertEqual((self.unknown["kind"], self.unknown["allowed_decisions"]),
                         ("unknown", ["done", "retry", "fail"]))
        self.assert_fails(["approve", self.unknown["id"]], "refused", "resolve it")
        self.assert_fails(["deny", self.unknown["id"]], "refused", "resolve it")
        self.assert_fails(["run", "more", "--thread", "t"], "waiting", self.unknown["id"])
        self.assertIn("resolve", self.assent("resume", "t").err)
        self.assert_status(self.assent("resume", "t", "--answers", "approve"), 2)
        self.assertEqual(len(self.pending()), 1)
        self.assertEqual(self.file("log").read_text(), "begun\n")

    def resolved(self, *how: str) -> dict:
        answer = self.ok("resolve", self.unknown["id"], *how, "--json").json
        self.assertEqual((answer["already"], "--" + answer["decision"]), (False, how[0]))
        self.assertTrue(self.ok("resolve", self.unknown["id"], *how, "--json").json["already"])
        done = self.assent("resume", "t", "--json")
        self.assert_status(done, 0)
        return done.result["calls"][0]

    def test_done(self):
        call = self.resolved("--done", "it printed 5")
        self.assertEqual((call["outcome"], call["result"]), ("done", "it printed 5"))

    def test_done_without_words(self):
        self.assertEqual(self.resolved("--done")["outcome"], "done")

    def test_fail(self):
        call = self.resolved("--fail", "it broke")
        self.assertEqual((call["outcome"], call["result"], call["is_error"]), ("failed", "it broke", True))

    def test_retry(self):
        self.file("pid").unlink()
        self.ok("resolve", self.unknown["id"], "--retry")
        running = self.start("resume", "t")
        wait_until(self.file("pid").exists, "the tool runs again")
        self.assertEqual(self.file("log").read_text(), "begun\nbegun\n")
        self.assertTrue(self.ok("resolve", self.unknown["id"], "--retry", "--json").json["already"])
        running.signal(signal.SIGINT)
        self.assert_status(running.end(), INTERRUPTED)

    def test_another_resolution(self):
        self.ok("resolve", self.unknown["id"], "--done", "x")
        self.assert_fails(["resolve", self.unknown["id"], "--retry"], "conflict", self.unknown["id"])
        self.assert_fails(["resolve", self.unknown["id"], "--done", "another"], "conflict", self.unknown["id"])


class ClosedStreams(ProgramTest):
    def closed(self, redirections: str, *args) -> int:
        command = ["sh", "-c", f'exec "$0" "$@" {redirections}', *self.command(args)]
        return subprocess.run(command, env=self.env, cwd=self.root, check=False, timeout=60,
                              capture_output=True).returncode

    def test_nobody_reads(self):
        reader, writer = os.pipe()
        os.close(reader)
        args = self.run_args(turn("Hello.", write("a.txt", "a" * 100_000)), turn("The end."))
        for options in (["--json"], []):
            running = self.start(*args, "--allow", "*", *options, stdout=writer, stderr=writer)
            running.process.wait(timeout=60)
            self.assertGreaterEqual(running.process.returncode, 0, "it did not die")
            self.assertEqual(self.file("a.txt").stat().st_size, 100_000)
            self.assertEqual(self.events()[-1], "run_finished")
            self.file("a.txt").unlink()
            self.db.unlink()
        os.close(writer)

    def test_nobody_reads_an_answer(self):
        reader, writer = os.pipe()
        os.close(reader)
        [held] = self.waiting(write("a.txt", "a"))
        self.start("approve", held, stdout=writer, stderr=writer).process.wait(timeout=60)
        os.close(writer)
        self.assertEqual(self.ok("show", held, "--json").json["state"], "approved")

    def test_streams_that_are_closed_from_the_start(self):
        for redirections in (">&-", "2>&-", "<&-", ">&- 2>&-", "<&- >&- 2>&-"):
            with self.subTest(redirections):
                name = redirections.translate(str.maketrans("<> &-", "io_ad"))
                args = self.run_args(turn("Hello.", shell("echo out; echo err >&2"), write(name, "a", "c2")),
                                     turn("The end."), thread=name)
                self.assertEqual(self.closed(f"{redirections}", *args), WAITING)
                self.assertEqual(len(self.pending()), 2)
                for held in self.pending_ids():
                    self.assertEqual(self.closed(redirections, "approve", held), 0)
                self.assertEqual(self.closed(redirections, "resume", name), 0)
                self.assertEqual(self.file(name).read_text(), "a")
                told = [entry for entry in self.history(name) if entry["event"] == "finished"]
                self.assertIn("out", str(told))
                self.assertEqual(self.closed(redirections, "pending"), 0)
        self.ok("threads")

    def test_a_full_disk_for_the_results_loses_nothing(self):
        [held] = self.waiting(write("a.txt", "a"))
        with open("/dev/full", "w", encoding="utf-8") as full:
            self.start("approve", held, stdout=full, stderr=full).process.wait(timeout=60)
            self.start("resume", "t", stdout=full, stderr=full).process.wait(timeout=60)
        self.assertEqual(self.file("a.txt").read_text(), "a")
        self.assertEqual(self.events()[-1], "run_finished")


if __name__ == "__main__":
    unittest.main()
