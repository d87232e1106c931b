"""The program on PostgreSQL behind a PgBouncer that gives each transaction to one of two connections of the server.

Its address is the last argument.
"""

import sys

from program import *

URL = sys.argv.pop()
THREADS = 6


class PoolerTest(ProgramTest):
    """Each test has tables of its own."""

    def setUp(self):
        super().setUp()
        self.url = f"{URL}&schema=pooler_{self.root.name.replace('-', '_').lower()}"

    def command(self, args, db=True):
        return [self.program, *(["--db", self.url] if db else []), *map(str, args)]

    def pending_ids(self):
        return [approval["id"] for approval in self.pending()]

    def test_one_asks_another_answers_a_third_goes_on(self):
        [asked] = self.waiting(shell("echo one >>done"))
        self.ok("approve", asked)
        self.assertIn("That is all.", self.ok("resume", "t").out)
        self.assertEqual(self.file("done").read_text(encoding="utf-8"), "one\n")

    def test_workers_share_it(self):
        for number in range(THREADS):
            [asked] = self.waiting(shell(f"echo {number} >>done"), thread=f"t{number}")
            self.ok("approve", asked)
        running = [self.start("work", "--at-once", 4, "--until-idle") for _ in range(2)]
        for worker in running:
            self.assert_status(worker.end(), 0)
        lines = self.file("done").read_text(encoding="utf-8").split()
        self.assertEqual(sorted(lines), [str(number) for number in range(THREADS)])
        self.assertEqual({one["state"] for one in self.ok("--json", "threads").json}, {"done"})
        checked = self.ok("--json", "db", "check", "--chains").json
        self.assertEqual((checked["threads"], checked["broken"]), (THREADS, []))

    def test_doctor_says_what_the_address_should_say(self):
        def pooler():
            checks = self.assent("--json", "doctor").json["checks"]
            return next(check for check in checks if check["name"] == "pooler")
        self.assertEqual(pooler()["standing"], "ok", pooler()["says"])
        self.url = self.url.replace("&pooler=transaction", "")
        self.assertEqual(pooler()["standing"], "weak")
        self.assertIn("add pooler=transaction to the address", pooler()["next"])


if __name__ == "__main__":
    unittest.main()
