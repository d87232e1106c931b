"""The program on a PostgreSQL server, whose address is the last argument."""

import re
import sys
import time
from pathlib import Path

from program import *

URL = sys.argv.pop()
GUIDE = Path(__file__).resolve().parents[2] / "docs/guides/postgresql.md"


class PostgresTest(ProgramTest):
    """Each test has tables of its own."""

    def setUp(self):
        super().setUp()
        self.schema = f"cli_{self.root.name.replace('-', '_').lower()}"
        self.url = f"{URL}&schema={self.schema}"

    def command(self, args, db=True):
        return [self.program, *(["--db", self.url] if db else []), *map(str, args)]

    def pending_ids(self):
        return [approval["id"] for approval in self.pending()]

    def test_one_asks_another_answers_a_third_goes_on(self):
        [first, second] = self.waiting(shell("echo one >>done", "a"), shell("echo two >>done", "b"))
        self.ok("approve", first)
        self.ok("deny", second, "--message", "no")
        done = self.ok("resume", "t")
        self.assertIn("That is all.", done.out)
        self.assertEqual(self.file("done").read_text(encoding="utf-8"), "one\n")
        self.assertEqual(self.ok("--json", "threads").json[0]["state"], "done")
        self.assertIn("run_finished", self.events())
        self.assertEqual(self.pending(), [])

    def test_a_receipt_of_a_command_is_kept_in_the_state_folder(self):
        [asked] = self.waiting(shell("echo one >>done"))
        self.ok("approve", asked)
        self.ok("resume", "t")
        self.assertTrue((self.state / "assent" / "receipts").is_dir())

    def test_check_changes_nothing_and_migrate_does(self):
        checked = self.assent("--json", "db", "check")
        self.assert_status(checked, 1)
        self.assertEqual(checked.json["format"], 0)
        told = self.assent("db", "check")
        self.assertIn("no tables yet; db migrate would make format ", told.out)
        self.assertIn("(was: no tables)", self.ok("db", "migrate").out)
        self.assertIn("already", self.ok("db", "migrate").out)
        self.assertIn("the current one", self.ok("db", "check").out)

    def test_check_and_migrate_know_files_too(self):
        self.url = f"sqlite:{self.db}"
        self.assert_status(self.assent("db", "check"), 1)
        self.assertFalse(self.db.exists())
        self.assertIn("(was: no tables)", self.ok("db", "migrate").out)
        self.assertIn("the current one", self.ok("db", "check").out)
        self.db.write_text("something else", encoding="utf-8")
        self.assert_fails(["db", "check"], "database", "is not a database")
        self.url = "memory:"
        self.assert_fails(["db", "check"], "usage", "in memory")

    def test_a_password_is_shown_nowhere(self):
        host = URL.split("host=")[1]
        self.url = f"postgresql://assent:tops%2Fecret@/postgres?host={host}&schema={self.schema}&sslpassword=tops%2Fecret"
        done = self.assent(*self.run_args(turn("I will.", shell("echo one"))))
        self.assert_status(done, WAITING)
        self.assertIn(f"--db 'postgresql://assent@/postgres?host={host}&schema={self.schema}", done.out + done.err)
        for words in (done.out, done.err, self.ok("db", "check").out, self.ok("--json", "db", "check").out):
            self.assertNotIn("tops", words)
        for wrong in ("postgresql://u:tops/ecret@h/d", "postgresql://u:tops@ecret@h/d", "postgresql://u:tops%zz@h/d",
                      "postgresql:tops", "postgresql://u:topsecret@localhost:1/d",
                      "postgresql://u:topsecret@localhost:one/d", "postgresql://u@h/d?nothing=tops",
                      "postgresql://u@h/d?pooler=tops"):
            self.url = wrong
            told = self.assent("threads")
            self.assertNotEqual(told.status, 0)
            self.assertNotIn("tops", told.out + told.err)

    def test_a_password_is_not_among_the_arguments_that_others_see(self):
        script = self.root / "slow.json"
        os.mkfifo(script)
        host = URL.split("host=")[1]
        self.url = f"postgresql://assent:topsecret@/postgres?host={host}&schema={self.schema}"
        running = self.start("run", "please", "--workspace", self.workspace, "--model", f"script:{script}")
        line = Path(f"/proc/{running.process.pid}/cmdline")
        wait_until(lambda: b"assent:xxxxxxxxx@" in line.read_bytes(), "the password is overwritten")
        self.assertNotIn(b"topsecret", line.read_bytes())
        script.write_text(json.dumps({"turns": [turn("Bye.")]}), encoding="utf-8")
        self.assert_status(running.end(), 0)

    def test_what_cannot_be_reached_is_one_line(self):
        self.url = "postgresql://u@/d?host=/nowhere"
        self.assert_fails(["threads"], "database", "cannot be reached")
        self.url = URL.replace("/postgres?", "/nothing?")
        self.assert_fails(["threads"], "database", 'database "nothing" does not exist')

    def test_doctor_says_what_the_server_may_lose(self):
        done = self.assent("--json", "doctor")
        checks = {check["name"]: check for check in done.json["checks"]}
        self.assertEqual(checks["disk"]["standing"], "missing")  # the tests' server does not sync
        self.assertIn("fsync is off", checks["disk"]["says"])
        self.assertEqual(checks["clock"]["standing"], "ok")
        self.assertIn("a superuser", checks["role"]["says"])
        self.assertIn("without a password", checks["connection"]["says"])
        self.assertIn("assent db migrate", checks["database"]["next"])
        self.url += "&options=-csynchronous_commit%3Doff%20-cfsync%3Don"
        self.assertIn("cannot be changed now", self.assent("doctor").out)

    def test_prune_removes_what_ended_long_ago(self):
        for url in (self.url, f"sqlite:{self.db}"):
            self.url = url
            [asked] = self.waiting(shell("echo one >>done"))
            self.ok("approve", asked)
            self.ok("resume", "t")
            self.assertEqual(self.ok("--json", "db", "prune", "--older-than", "1h").json["threads"], [])
            self.assertIn("t\n", self.ok("db", "prune", "--older-than", "0s", "--dry-run").out)
            self.assertIn("1 pruned", self.ok("db", "prune", "--older-than", "0s").err)
            self.assertEqual(self.events(), ["pruned"])
            self.assertIn("removed what happened up to event", self.ok("history", "t").out)
            self.assert_fails(["db", "prune", "--older-than", "never"], "usage", "not never")

    # The guide.

    def sql(self, text, database="postgres"):
        return subprocess.run(["psql", "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--dbname",
                               URL.replace("/postgres?", f"/{database}?")], input=text, text=True, check=True,
                              capture_output=True).stdout

    def as_guided(self, text):
        """The guide's names are those of one database; the tests share a server."""
        return (text.replace("assent_owner", f"{self.schema}_owner").replace("assent_worker", f"{self.schema}_worker")
                .replace("SCHEMA assent", f"SCHEMA {self.schema}").replace("assent.", f"{self.schema}."))

    def test_the_roles_of_the_guide_are_enough_and_may_not_change_a_journal(self):
        first, then = re.findall(r"^```sql\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        self.sql(self.as_guided(first))
        mine = self.url
        self.url = mine.replace("//assent@", f"//{self.schema}_worker@")
        self.assert_fails(["threads"], "database", "may not be used by this role")
        self.url = mine.replace("//assent@", f"//{self.schema}_owner@")
        self.ok("db", "migrate")
        self.sql(self.as_guided(then))
        self.url = mine.replace("//assent@", f"//{self.schema}_worker@")
        [asked] = self.waiting(shell("echo one >>done"))
        self.ok("approve", asked)
        self.ok("work", "--until-idle")
        self.assertEqual(self.state_of("t"), "done")
        for change in ("UPDATE journal SET body = NULL", "DELETE FROM journal", "TRUNCATE journal"):
            with self.assertRaises(subprocess.CalledProcessError):
                self.sql(f"SET ROLE {self.schema}_worker; SET search_path TO {self.schema}; {change}")

    def test_what_is_dumped_goes_on_where_it_is_restored(self):
        [asked] = self.waiting(shell("echo one >>done"))
        dump = self.root / "assent.dump"
        subprocess.run(["pg_dump", "--format", "custom", "--schema", self.schema, "--file", dump, URL], check=True)
        self.sql(f"CREATE DATABASE {self.schema}")
        self.url = self.url.replace("/postgres?", f"/{self.schema}?")
        subprocess.run(["pg_restore", "--no-owner", "--dbname", URL.replace("/postgres?", f"/{self.schema}?"), dump],
                       check=True)
        self.ok("db", "check")
        self.ok("approve", asked)
        self.ok("work", "--until-idle")
        self.assertEqual(self.state_of("t"), "done")
        self.assertEqual(self.events().count("answered"), 1)

    # Work.

    def worker(self, *options):
        """Started, and ready to work."""
        return self.start("work", "--lease", "3", *options)

    def state_of(self, thread):
        return next(one["state"] for one in self.ok("--json", "threads").json if one["id"] == thread)

    def test_a_worker_goes_on_with_what_was_answered(self):
        worker = self.worker()
        [asked] = self.waiting(shell("echo one >>done"))
        self.ok("approve", asked)
        wait_until(lambda: self.state_of("t") == "done", "the worker goes on")
        worker.signal(signal.SIGTERM)
        done = worker.end()
        self.assert_status(done, 0)
        self.assertIn("thread t: done", done.err)

    def test_until_idle_it_ends(self):
        [asked] = self.waiting(shell("echo one >>done"))
        self.ok("approve", asked)
        self.ok("work", "--until-idle")
        self.assertEqual(self.state_of("t"), "done")
        lines = self.ok("work", "--until-idle", "--json").lines if self.ok("work", "--until-idle", "--json").out else []
        self.assertEqual(lines, [])
        self.url = "memory:"
        self.assert_fails(["work"], "usage", "a database in memory has no threads")

    def test_told_to_end_it_gives_back_what_runs(self):
        worker = self.worker()
        [asked] = self.waiting(shell("touch started; sleep 100"))
        self.ok("approve", asked)
        wait_until(self.file("started").exists, "the command runs")
        worker.signal(signal.SIGTERM)
        done = worker.end()
        self.assert_status(done, 0)
        self.assertIn("thread t: given back", done.err)
        self.ok("work", "--until-idle")
        self.assertEqual(self.state_of("t"), "done")

    def test_threads_of_two_killed_runners_go_on_with_the_third(self):
        threads = [f"t{n}" for n in range(6)]
        ids = {}
        for thread in threads:
            command = f"touch {thread}.started; while [ ! -e go ]; do sleep 0.01; done; echo {thread} >>done"
            [ids[thread]] = self.waiting(shell(command), thread=thread)
        doomed = [self.worker("--at-once", "3") for _ in range(2)]
        for thread in threads:
            self.ok("approve", ids[thread])
        wait_until(lambda: all(self.file(f"{thread}.started").exists() for thread in threads), "all commands run")
        third = self.worker("--at-once", "6")
        for worker in doomed:
            worker.signal(signal.SIGKILL)
        killed_at = time.monotonic()
        # Nobody knows whether they have run: people are asked. How soon, tests/crash/two_of_three.py looks at.
        unknown = []
        while len(unknown) < len(threads):
            unknown = [one for one in self.pending() if one["kind"] == "unknown"]
            self.assertLess(time.monotonic() - killed_at, 2 * DEADLINE)  # it hangs
        self.file("go").touch()
        for approval in unknown:
            self.ok("resolve", approval["id"], "--retry")
        wait_until(lambda: all(self.state_of(thread) == "done" for thread in threads), "all go on")
        self.assertEqual(sorted(self.file("done").read_text(encoding="utf-8").split()), threads)
        for thread in threads:
            events = self.events(thread)
            self.assertEqual(events.count("answered"), 1)
        third.signal(signal.SIGTERM)
        self.assert_status(third.end(), 0)


if __name__ == "__main__":
    unittest.main()
