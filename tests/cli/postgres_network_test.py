"""The way to the PostgreSQL server is cut at every message; what the program says then must be so.

The address of the server of the tests is the last argument.
"""

import sys

from program import *
from proxy import AFTER, BEFORE, Proxy

URL = sys.argv.pop()
SERVER = URL.split("host=")[1].split("&")[0] + "/.s.PGSQL.5432"
LEASE_S = 1
# How often the way stays closed behind a cut: a program that tries once gives up, one that must store something does not.
AWAY = 4


class NetworkTest(ProgramTest):
    """One set of tables; each case has a thread of its own."""

    def setUp(self):
        super().setUp()
        schema = f"net_{self.root.name.replace('-', '_').lower()}"
        self.direct = f"{URL}&schema={schema}"
        self.proxy = Proxy(SERVER)
        self.addCleanup(self.proxy.close)
        self.through = (f"postgresql://assent@127.0.0.1:{self.proxy.port}/postgres?sslmode=disable"
                        f"&gssencmode=disable&schema={schema}")
        self.url = self.direct
        self.made = 0

    def command(self, args, db=True):
        return [self.program, *(["--db", self.url] if db else []), *map(str, args)]

    def new_thread(self, answered=False):
        """A thread that waits for an answer, or that was answered; its id and its approval's."""
        self.made += 1
        thread = f"t{self.made}"
        done = self.assent(*self.run_args(turn("I will.", shell(f"echo {thread} >>effects")), turn("That is all."),
                                          thread=thread), "--json")
        self.assert_status(done, WAITING)
        approval = done.result["interrupts"][0]["id"]
        if answered:
            self.ok("approve", approval)
        return thread, approval

    def cut(self, number, when, refusals, *args):
        """Runs the program through the proxy; whether the cut was reached is `proxy.was_cut`."""
        self.proxy.cut(number, when, refusals)
        self.url = self.through
        try:
            return self.assent(*args, "--json")
        finally:
            self.url = self.direct

    def messages(self, *args):
        """How many messages the program sends for it, undisturbed."""
        self.assertIn(self.cut(0, BEFORE, 0, *args).status, (0, WAITING))
        return self.proxy.seen

    def answers(self, thread):
        return self.events(thread).count("answered")

    def effects(self, thread):
        there = self.file("effects")
        return there.read_text(encoding="utf-8").splitlines().count(thread) if there.exists() else 0

    def bring_to_its_end(self, thread):
        """As a person does: looks, says what is so, goes on."""
        def went_on():
            done = self.assent("resume", thread, "--json", "--lease", LEASE_S)
            if done.status == 1 and done.kind == "leased":
                return False  # held by who was cut off, until its lease is over
            for approval in done.result["interrupts"]:
                if approval["kind"] == "unknown":
                    how = ["--done", "it is there"] if self.effects(thread) else ["--retry"]
                    self.ok("resolve", approval["id"], *how)
                elif approval["kind"] == "approve":
                    self.ok("approve", approval["id"])
            return done.status == 0
        wait_until(went_on, f"{thread} comes to its end")
        self.assertEqual(self.effects(thread), 1, thread)
        self.assertEqual(self.answers(thread), 1, thread)

    def faults(self, count):
        for number in range(1, count + 1):
            for when in (BEFORE, AFTER):
                # Both in turn: half of them each, so that the test does not take twice as long.
                yield number, when, AWAY * ((number + (when == AFTER)) % 2)

    def test_an_answer_is_kept_or_said_not_to_be(self):
        _, approval = self.new_thread()
        count = self.messages("approve", approval)
        kept = said = learned = 0
        for number, when, refusals in self.faults(count):
            with self.subTest(number=number, when=when, refusals=refusals):
                thread, approval = self.new_thread()
                done = self.cut(number, when, refusals, "approve", approval)
                stored = self.answers(thread)
                if done.status == 0:
                    self.assertEqual(stored, 1, done)
                    self.assertFalse(done.json["already"], "one's own answer is not somebody else's earlier one")
                    learned += self.proxy.was_cut
                else:
                    self.assertEqual(done.kind, "database", done)
                    self.assertTrue(self.proxy.was_cut, done)
                    said += 1
                kept += stored
                again = self.ok("--json", "approve", approval).json
                self.assertEqual(again["already"], stored == 1)
                self.assertEqual(self.answers(thread), 1)
        print(f"{count} messages of an answer cut twice each: {kept} answers kept, {learned} told in spite of the cut, "
              f"{said} said to be in doubt or lost")
        self.assertGreater(learned, 0)
        self.assertGreater(said, 0)

    def test_a_command_runs_once_wherever_its_runner_is_cut_off(self):
        thread, _ = self.new_thread(answered=True)
        count = self.messages("resume", thread)
        self.assertEqual(self.effects(thread), 1)
        ended = cut = ran = 0
        # Every third, another one each time that this is looked at for another way of being cut.
        for number, when, refusals in list(self.faults(count))[::3]:
            with self.subTest(number=number, when=when, refusals=refusals):
                thread, _ = self.new_thread(answered=True)
                done = self.cut(number, when, refusals, "resume", thread, "--lease", LEASE_S)
                cut += self.proxy.was_cut
                if done.status == 0:
                    ended += 1
                    self.assertEqual(self.effects(thread), 1)
                else:
                    self.assertTrue(self.proxy.was_cut, done)
                ran += self.effects(thread)
                self.assertLessEqual(self.effects(thread), 1)
                self.bring_to_its_end(thread)
        print(f"{count} messages of a run: {cut} cuts, {ended} runs ended in spite of them, {ran} commands ran before "
              f"or beside the cut, each once at the end")
        self.assertGreater(ended, 0)

    def test_a_question_is_stored_whole_or_not_at_all(self):
        def ask(thread):
            return (*self.run_args(turn("I will.", shell(f"echo {thread} >>effects")), turn("That is all."),
                                   thread=thread), "--idempotency-key", thread, "--lease", LEASE_S)
        count = self.messages(*ask("first"))
        for number, when, refusals in list(self.faults(count))[::3]:
            with self.subTest(number=number, when=when, refusals=refusals):
                thread = f"q{number}{when[0]}"
                done = self.cut(number, when, refusals, *ask(thread))
                self.assertIn(done.status, (1, WAITING))

                def asked(thread=thread):
                    again = self.assent(*ask(thread), "--json")
                    return again.status == WAITING or (again.status == 1 and again.kind == "waiting")
                wait_until(asked, f"{thread} asks")
                self.assertEqual(self.events(thread).count("asked"), 1)
                self.bring_to_its_end(thread)

    def test_who_cannot_connect_is_told_so(self):
        self.proxy.refuse()
        self.url = self.through
        self.assert_fails(["threads"], "database", "cannot be reached")


if __name__ == "__main__":
    unittest.main()
