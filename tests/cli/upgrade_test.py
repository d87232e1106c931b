"""Databases of every format that was released, opened by this version: tests/golden/sqlite-vN.sql and postgres-vN.sql.

`tests/golden/make_databases.py` says what is in them.
"""

import contextlib
import sqlite3
import sys
from pathlib import Path

from program import *

URL = sys.argv.pop()
GOLDEN = Path(__file__).resolve().parents[1] / "golden"
ENDED = ["configured", "user_message", "model_turn", "prepared", "judged", "asked", "answered", "claimed", "finished",
         "model_turn", "run_finished"]


class Upgrade:
    """What holds for each store; `load` makes a database of a golden file, `dump` says all that is in it."""

    kind = ""

    def formats(self):
        """Each golden file in a database of its own; yields its format."""
        files = sorted(GOLDEN.glob(f"{self.kind}-v*.sql"))
        self.assertTrue(files)
        for file in files:
            version = int(file.stem.rsplit("-v", 1)[1])
            with self.subTest(file=file.name):
                self.load(file, version)
                yield version

    def command(self, args, db=True):
        return [self.program, "--db", self.url, *map(str, args)]

    def go_on(self, thread: str) -> None:
        """With a workspace and a model of this machine: those of the golden file are somewhere else."""
        script = self.script(turn("never asked"), turn("That is all."), name=f"{thread}.json")
        self.ok("resume", thread, "--workspace", self.workspace, "--model", script)

    def test_the_oldest_is_the_first(self):
        self.assertTrue((GOLDEN / f"{self.kind}-v1.sql").exists())

    def test_a_dry_run_says_what_migrating_does_and_changes_nothing(self):
        for version in self.formats():
            before = self.dump()
            checked = self.assent("--json", "db", "check")
            current = checked.json["current"]
            self.assertEqual(checked.json["format"], version)
            self.assert_status(checked, 0 if version == current else 1)
            told = self.ok("db", "migrate", "--dry-run").out
            self.assertIn(f"format {current} already" if version == current else f"would make format {current}", told)
            self.assertEqual(self.dump(), before)
            self.ok("db", "migrate")
            self.assertEqual(self.ok("--json", "db", "check").json["format"], current)

    def test_what_happened_is_still_known_and_every_chain_holds(self):
        for _ in self.formats():
            self.ok("db", "migrate")
            checked = self.ok("--json", "db", "check", "--chains").json
            self.assertEqual((checked["threads"], checked["broken"]), (3, []))
            states = {one["id"]: one["state"] for one in self.ok("--json", "threads").json}
            self.assertEqual(states, {"ended": "done", "waits": "waiting", "doubt": "waiting"})
            self.assertEqual(self.events("ended"), ENDED)
            [answered] = [entry for entry in self.history("ended") if entry["event"] == "answered"]
            self.assertEqual(answered["decision"], "approve")
            self.assertIn("doubted", self.events("doubt"))

    def test_what_waits_is_answered_and_runs_once(self):
        for _ in self.formats():
            self.file("done").unlink(missing_ok=True)
            self.ok("db", "migrate")
            [asked] = [one for one in self.pending() if one["thread"] == "waits"]
            self.assertEqual((asked["tool"], asked["arguments"]), ("shell", {"command": "echo waits >>done"}))
            self.ok("approve", asked["id"], "--digest", asked["digest"])
            self.go_on("waits")
            self.assertEqual(self.file("done").read_text(encoding="utf-8"), "waits\n")
            self.assertEqual(self.events("waits").count("claimed"), 1)

    def test_what_is_in_doubt_is_resolved(self):
        for _ in self.formats():
            self.ok("db", "migrate")
            [unknown] = [one for one in self.pending() if one["thread"] == "doubt"]
            self.assertEqual(unknown["kind"], "unknown")
            self.ok("resolve", unknown["id"], "--done", "it ran")
            self.go_on("doubt")
            self.assertEqual(self.ok("--json", "db", "check", "--chains").json["broken"], [])


class SqliteUpgrade(Upgrade, ProgramTest):
    kind = "sqlite"

    def load(self, file: Path, version: int) -> None:
        self.path = self.root / f"v{version}.db"
        self.path.unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(self.path, isolation_level=None)) as database:
            database.executescript(file.read_text(encoding="utf-8"))
        self.url = f"sqlite:{self.path}"

    def dump(self) -> str:
        with contextlib.closing(sqlite3.connect(self.path)) as database:
            return "\n".join([*map(str, database.execute("PRAGMA user_version")), *database.iterdump()])


class PostgresUpgrade(Upgrade, ProgramTest):
    kind = "postgres"

    def load(self, file: Path, version: int) -> None:
        name = f"upgrade_v{version}_{self.root.name.replace('-', '_').lower()}"
        self.database = URL.replace("/postgres?", f"/{name}?")
        self.sql(URL, "--command", f"DROP DATABASE IF EXISTS {name}", "--command", f"CREATE DATABASE {name}")
        self.sql(self.database, "--file", str(file))
        self.url = self.database

    def sql(self, database: str, *args: str) -> None:
        subprocess.run(["psql", "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", *args, "--dbname", database],
                       check=True, capture_output=True)

    def dump(self) -> str:
        text = subprocess.run(["pg_dump", self.database], check=True, capture_output=True, text=True).stdout
        return "\n".join(line for line in text.splitlines() if not line.startswith("\\"))


if __name__ == "__main__":
    unittest.main()
