"""Prompts to a thread that is busy, prompts given again, and the command that is told of questions."""

import sys

from program import WAITING, ProgramTest, json, turn, unittest, wait_until, write


class Queue(ProgramTest):
    def test_a_prompt_waits_for_the_turn_in_hand(self):
        [approval] = self.waiting(write("a.txt", "a"))
        refused = self.assent("run", "--thread", "t", "and then?", "--json")
        self.assert_status(refused, 1)
        self.assertEqual(refused.kind, "waiting")
        queued = self.assent("run", "--thread", "t", "--queue", "and then?", "--json")
        self.assert_status(queued, WAITING)
        self.assertEqual((queued.result["result"], queued.result["prompt"]), ("waiting", "queued"))
        self.ok("approve", approval)
        self.assertEqual(self.ok("resume", "t", "--json").result["result"], "done")
        events = self.events()
        self.assertEqual((events.count("user_message"), events.count("queued"), events.count("model_turn")), (1, 1, 2))
        self.assertIn("and then?", self.ok("history", "t").out)

    def test_queue_and_abort_open_exclude_each_other(self):
        self.assert_status(self.assent("run", "--thread", "t", "--queue", "--abort-open", "hello"), 2)


class IdempotencyKey(ProgramTest):
    def run_keyed(self, prompt: str):
        return self.assent("run", "--workspace", self.workspace, "--model", self.script(turn("Hello."), turn("Again.")),
                           "--idempotency-key", "k", prompt, "--json")

    def test_a_prompt_is_begun_once(self):
        first = self.run_keyed("hello")
        self.assert_status(first, 0)
        self.assertNotIn("prompt", first.result)
        again = self.run_keyed("hello")
        self.assert_status(again, 0)
        self.assertEqual((again.result["prompt"], again.result["thread"], again.result["text"]),
                         ("repeated", first.result["thread"], "Hello."))
        self.assertEqual(len(self.ok("threads", "--json").json), 1)

    def test_a_key_for_another_prompt_is_a_conflict(self):
        self.assert_status(self.run_keyed("hello"), 0)
        other = self.run_keyed("good bye")
        self.assert_status(other, 1)
        self.assertEqual(other.kind, "conflict")
        self.assertEqual(len(self.ok("threads", "--json").json), 1)


class Notify(ProgramTest):
    def told(self) -> list:
        file = self.root / "told"
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []

    def notifier(self) -> str:
        # Each event is one line: its name, and the approval as it came.
        program = ("import json,os,sys;print(json.dumps([os.environ['ASSENT_EVENT'],json.load(sys.stdin)]),"
                   f"file=open({str(self.root / 'told')!r},'a'))")
        file = self.root / "notify.py"
        file.write_text(program, encoding="utf-8")
        return f"{sys.executable} {file}"

    def test_asked_and_answered_are_told(self):
        done = self.assent(*self.run_args(turn("I write.", write("a.txt", "a")), turn("Done.")), "--notify",
                           self.notifier(), "--answers", "approve", "--json")
        self.assert_status(done, 0)
        wait_until(lambda: len(self.told()) == 2, "two events")
        # They are started one after the other, and may end in any order.
        told = dict(self.told())
        self.assertEqual(sorted(told), ["answered", "asked"])
        self.assertEqual((told["asked"]["tool"], told["asked"]["state"]), ("write_file", "open"))
        self.assertEqual((told["answered"]["id"], told["answered"]["decision"]), (told["asked"]["id"], "approve"))

    def test_decisions_given_beforehand_are_told_too(self):
        ids = self.waiting(write("a.txt", "a", "call_1"))
        decisions = json.dumps({"decisions": [{"type": "approve"}]})
        self.assert_status(self.assent("resume", "t", "--decisions", decisions, "--notify", self.notifier()), 0)
        wait_until(lambda: len(self.told()) == 1, "one event")
        event, approval = self.told()[0]
        self.assertEqual((event, approval["id"], approval["decision"]), ("answered", ids[0], "approve"))

    def test_a_command_that_fails_changes_nothing(self):
        done = self.assent(*self.run_args(turn("I write.", write("a.txt", "a")), turn("Done.")), "--notify", "exit 3",
                           "--answers", "approve")
        self.assert_status(done, 0)
        self.assertIn("the notify command failed with exit status 3", done.err)
        self.assertEqual(self.file("a.txt").read_text(encoding="utf-8"), "a")


if __name__ == "__main__":
    unittest.main()
