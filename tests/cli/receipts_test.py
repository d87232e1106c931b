"""The runner is killed around a command: what the helper wrote down of it is found by whoever resumes."""

import stat

from program import WAITING, ProgramTest, lives, os, shell, signal, turn, unittest, wait_until

SAYS_HELLO = "echo hello; echo oops >&2; echo x >> effects; exit 3"
ITS_RESULT = "stdout:\nhello\nstderr:\noops\nexit status: 3"
# Writes its process id, then stays.
STAYS = "echo begun; echo $$ > pid.new; mv pid.new pid; exec sleep 600"


class ARunnerThatIsKilled(ProgramTest):
    def setUp(self):
        super().setUp()
        self.receipts = self.db.with_name(self.db.name + "-receipts")

    def kept(self):
        return sorted(path.name for path in self.receipts.iterdir())

    def killed_at(self, point: str, command: str, **env: str):
        """A run whose program is killed at a named point of it, or by its helper."""
        args = self.run_args(turn("I will.", shell(command)), turn("That is all."))
        variables = env or {"ASSENT_CRASH_AT": f"{point}:1"}
        done = self.assent(*args, "--allow", "shell", env=variables)
        self.assert_status(done, -signal.SIGKILL)

    def resumed(self):
        resumed = self.assent("resume", "t", "--json")
        self.assert_status(resumed, 0)
        [told] = [one for one in resumed.result["calls"] if one["tool"] == "shell"]
        return told

    def test_after_the_command_ended_its_true_result_is_recorded_and_nobody_is_asked(self):
        self.killed_at("tool:end", SAYS_HELLO)
        [attempt] = self.kept()
        told = self.resumed()
        self.assertEqual((told["outcome"], told["result"], told["is_error"]), ("failed", ITS_RESULT, True))
        self.assertEqual(self.file("effects").read_text(), "x\n")
        finished = next(event for event in self.history() if event["event"] == "finished")
        self.assertEqual(finished["attempt"], attempt)
        self.assertNotIn("asked", self.events())
        self.assertEqual(self.kept(), [])

    def test_the_same_result_is_recorded_as_by_a_runner_that_lives(self):
        for command in ("echo hello", "exit 3", "kill -9 $$", "head -c 200000 /dev/zero | tr '\\\\0' x", "printf '\\377'"):
            with self.subTest(command):
                args = self.run_args(turn("", shell(command)), turn("End."))
                [plain] = self.assent(*args, "--allow", "shell", "--json").result["calls"]
                self.db.unlink()
                self.killed_at("tool:end", command)
                self.assertEqual(self.resumed(), plain)
                self.db.unlink()

    def test_while_the_command_runs_the_outcome_is_unknown_and_what_is_known_is_told(self):
        args = self.run_args(turn("", shell(STAYS)), turn("End."))
        running = self.start(*args, "--allow", "shell")
        wait_until(self.file("pid").exists, "the tool runs")
        running.signal(signal.SIGKILL)
        running.end()
        resumed = self.assent("resume", "t", "--json")
        self.assert_status(resumed, WAITING)
        [asked] = resumed.result["interrupts"]
        self.assertEqual(asked["kind"], "unknown")
        self.assertEqual(asked["reason"], "its process ended before the outcome was recorded; "
                                          "the command was killed because that process died")
        self.assertEqual(asked["details"], {"exit_status": None, "signal": 9, "timed_out": False, "cancelled": False,
                                            "cut_bytes": 0, "runner_died": True})
        self.assertFalse(lives(int(self.file("pid").read_text())))
        shown = self.ok("show", asked["id"]).out
        self.assertIn("What is there of its result", shown)
        self.assertIn("begun", shown)
        self.assertIn("stopped: the process that ran it died", shown)
        self.ok("resolve", asked["id"], "--fail", "it slept")
        self.assertEqual(self.resumed()["result"], "it slept")
        self.assertEqual(self.kept(), [])

    def test_before_the_command_began_it_runs_once_and_nobody_is_asked(self):
        self.killed_at("", SAYS_HELLO, ASSENT_HELPER_POINT="prepared", ASSENT_HELPER_KILLS="runner")
        self.assertFalse(self.file("effects").exists())
        self.assertEqual(self.resumed()["result"], ITS_RESULT)
        self.assertEqual(self.file("effects").read_text(), "x\n")
        self.assertEqual([event for event in self.events() if event in ("claimed", "released", "finished")],
                         ["claimed", "released", "claimed", "finished"])

    def test_a_helper_that_died_too_is_told(self):
        self.killed_at("", SAYS_HELLO, ASSENT_HELPER_POINT="ended", ASSENT_HELPER_KILLS="both")
        resumed = self.assent("resume", "t", "--json")
        self.assert_status(resumed, WAITING)
        self.assertTrue(resumed.result["interrupts"][0]["reason"].endswith(
            "its shell helper left no receipt"))

    def test_what_does_not_belong_to_the_attempt_is_not_believed(self):
        def of_other_attempt(path):
            path.write_bytes(path.read_bytes().replace(path.name.encode(), b"0" * len(path.name)))

        def torn(path):
            os.truncate(path, 40)

        def of_newer_format(path):
            path.write_bytes(path.read_bytes().replace(b"report 1", b"report 9"))

        def open_to_others(path):
            path.chmod(0o644)

        for spoil, words in ((of_other_attempt, "torn"), (torn, "torn"), (of_newer_format, "does not know"),
                             (open_to_others, "was not written by the shell helper")):
            with self.subTest(spoil.__name__):
                self.killed_at("tool:end", SAYS_HELLO)
                spoil(next(self.receipts.iterdir()))
                resumed = self.assent("resume", "t", "--json")
                self.assert_status(resumed, WAITING)
                self.assertIn(words, resumed.result["interrupts"][0]["reason"])
                self.db.unlink()

    def test_the_folder_is_for_its_owner_alone(self):
        self.ok(*self.run_args(turn("", shell("true")), turn("End.")), "--allow", "shell")
        self.assertEqual(stat.S_IMODE(self.receipts.stat().st_mode), 0o700)
        self.assertEqual(self.kept(), [])
        self.receipts.chmod(0o755)
        self.assert_fails(["resume", "t"], "tool", "is open to others; make it yours with mode 0700")

    def test_none_are_kept_of_a_database_in_memory(self):
        args = self.run_args(turn("", shell("true")), turn("End."))
        self.ok("--db", "memory:", *args, "--allow", "shell", db=False)
        self.assertEqual([path.name for path in self.root.rglob("*receipts*")], [])


if __name__ == "__main__":
    unittest.main()
