"""docs/guides/backup.md, followed word by word: a copy is taken while a worker runs, and restored elsewhere."""

import contextlib
import re
import sqlite3
import sys
import tempfile
from pathlib import Path

from program import *
from program import PROGRAM

URL = sys.argv.pop()
ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs/guides/backup.md"
TOOL = ROOT / "tools/postgres-server"
BLOCK = re.compile(r"^ *```sh\n *# (.*?)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)


class BackupTest(ProgramTest):
    """What both stores have in common; `url` is the database that the program is run on."""

    store = ""
    url = ""

    def setUp(self):
        super().setUp()
        commands = self.root / "commands"
        commands.mkdir()
        (commands / "assent").symlink_to(PROGRAM)
        self.env["PATH"] = f"{commands}:{self.env['PATH']}"

    def command(self, args, db=True):
        return [self.program, "--db", self.url, *map(str, args)]

    def pending_ids(self):
        return [approval["id"] for approval in self.pending()]

    def follow(self, what: str, **names) -> str:
        """Runs a block of the guide as it stands there, with these variables."""
        [block] = [text for title, text in BLOCK.findall(GUIDE.read_text(encoding="utf-8"))
                   if title in (f"{what}: {self.store}", f"{what}: any")]
        variables = {name: str(value) for name, value in names.items()}
        return subprocess.run(["bash", "-eu", "-o", "pipefail", "-c", block], env=self.env | variables, check=True,
                              text=True, capture_output=True, cwd=self.root).stdout

    def states(self) -> dict[str, str]:
        return {one["id"]: one["state"] for one in self.ok("--json", "threads").json}

    def elsewhere(self) -> None:
        """From here on the program is on another machine, as far as it knows: no receipts are there."""
        self.env["XDG_STATE_HOME"] = str(self.root / "state-elsewhere")

    def backed_up_while_a_worker_runs(self, back_up, restore) -> None:
        [asked] = self.waiting(shell("echo asked >>done"), thread="asked")
        [runs] = self.waiting(shell("touch started; while [ ! -e go ]; do sleep 0.01; done; echo runs >>done"),
                              thread="runs")
        [ended] = self.waiting(shell("echo ended >>done"), thread="ended")
        self.ok("approve", ended)
        self.ok("resume", "ended")
        worker = self.start("work", "--lease", "1")
        self.ok("approve", runs)
        wait_until(self.file("started").exists, "the command runs")
        back_up()
        # What happens now is in no backup.
        self.file("go").touch()
        self.ok("approve", asked)
        wait_until(lambda: set(self.states().values()) == {"done"}, "all is done in the database that goes on")
        worker.signal(signal.SIGTERM)
        self.assert_status(worker.end(), 0)
        self.assertEqual(sorted(self.file("done").read_text(encoding="utf-8").split()), ["asked", "ended", "runs"])

        self.assertIn("every chain holds", restore())
        self.elsewhere()
        self.assertEqual(self.states()["ended"], "done")
        self.assertEqual(self.pending_ids(), [asked])
        # As the guide says: a question that was answered since is open again, a call that ran is in doubt.
        wait_until(lambda: self.assent("work", "--until-idle", "--lease", "1").status == 0
                   and {one["kind"] for one in self.pending()} == {"approve", "unknown"}, "how it ended is asked")
        [unknown] = [one["id"] for one in self.pending() if one["kind"] == "unknown"]
        self.ok("resolve", unknown, "--done", "it ran, says the old database")
        self.ok("approve", asked)
        self.ok("work", "--until-idle", "--lease", "1")
        self.assertEqual(set(self.states().values()), {"done"})
        self.assertEqual(self.file("done").read_text(encoding="utf-8").split().count("asked"), 2)
        self.assertEqual(self.file("done").read_text(encoding="utf-8").split().count("runs"), 1)
        self.assertEqual(self.ok("--json", "db", "check", "--chains").json["broken"], [])
        self.assertEqual(self.ok("--json", "db", "check", "--chains").json["threads"], 3)

    def an_approved_call_runs_again_unless_its_thread_is_ended(self, back_up, restore) -> None:
        [asked] = self.waiting(shell("echo again >>done"))
        self.ok("approve", asked)
        back_up()
        self.ok("work", "--until-idle")
        restore()
        self.elsewhere()
        self.follow("end a thread", NEW_URL=self.url, THREAD="t")
        self.ok("work", "--until-idle")
        self.assertEqual(self.states(), {"t": "aborted"})
        self.assertEqual(self.file("done").read_text(encoding="utf-8"), "again\n")


class SqliteBackup(BackupTest):
    store = "sqlite"

    def setUp(self):
        super().setUp()
        self.url = f"sqlite:{self.db}"
        self.copy = self.root / "copy.db"
        self.new = self.root / "elsewhere" / "gate.db"
        self.new.parent.mkdir()

    def back_up(self) -> None:
        self.follow("back up", DB=self.db, COPY=self.copy)
        self.assertEqual(self.copy.stat().st_mode & 0o777, 0o600)

    def restore(self) -> str:
        told = self.follow("restore", COPY=self.copy, NEW_DB=self.new)
        self.assertEqual(self.new.stat().st_mode & 0o777, 0o600)
        self.url = f"sqlite:{self.new}"
        return told

    def test_while_a_worker_runs(self):
        self.backed_up_while_a_worker_runs(self.back_up, self.restore)

    def test_an_approved_call_runs_again_unless_its_thread_is_ended(self):
        self.an_approved_call_runs_again_unless_its_thread_is_ended(self.back_up, self.restore)

    def test_a_chain_that_does_not_hold_is_found(self):
        [asked] = self.waiting(shell("true"))
        self.waiting(shell("true"), thread="other")
        self.ok("approve", asked)
        with contextlib.closing(sqlite3.connect(self.db)) as database, database:
            [(row, body)] = [(row, body) for row, body in database.execute("SELECT pos, body FROM journal")
                             if b'"event":"answered"' in body]
            self.assertIn(b'"approve"', body)
            database.execute("UPDATE journal SET body = ? WHERE pos = ?", (body.replace(b'"approve"', b'"deny"'), row))
        self.assert_status(self.assent("db", "check"), 0)
        checked = self.assent("--json", "db", "check", "--chains")
        self.assert_status(checked, 1)
        self.assertEqual(checked.json["broken"], ["t"])
        told = self.assent("db", "check", "--chains")
        self.assertIn("2 threads read, 1 damaged", told.out)
        self.assertRegex(told.err, "^t: ")


class PostgresBackup(BackupTest):
    store = "postgresql"

    def setUp(self):
        super().setUp()
        self.schema = f"backup_{self.root.name.replace('-', '_').lower()}"
        self.database = URL
        self.new_database = URL.replace("/postgres?", f"/{self.schema}?")
        self.url = f"{URL}&schema={self.schema}"
        self.dump = self.root / "assent.dump"

    def back_up(self) -> None:
        self.follow("back up", SCHEMA=self.schema, DUMP=self.dump, DATABASE=self.database)
        self.assertEqual(self.dump.stat().st_mode & 0o777, 0o600)

    def restore(self) -> str:
        subprocess.run(["psql", "--no-psqlrc", "--quiet", "--command", f"CREATE DATABASE {self.schema}", self.database],
                       check=True, capture_output=True)
        self.url = f"{self.new_database}&schema={self.schema}"
        return self.follow("restore", NEW_DATABASE=self.new_database, NEW_URL=self.url, DUMP=self.dump)

    def test_while_a_worker_runs(self):
        self.backed_up_while_a_worker_runs(self.back_up, self.restore)

    def test_an_approved_call_runs_again_unless_its_thread_is_ended(self):
        self.an_approved_call_runs_again_unless_its_thread_is_ended(self.back_up, self.restore)


class PointInTime(BackupTest):
    """On a server of the test's own, which archives its log."""

    store = "postgresql"

    def setUp(self):
        super().setUp()
        self.root.chmod(0o711)
        self.archive = self.root / "archive"
        self.archive.mkdir()
        self.give(self.archive)
        server = self.root / "server"
        self.addCleanup(subprocess.run, [TOOL, "stop", server])
        subprocess.run([TOOL, "start", server, "archive_mode=on", f"archive_command='cp %p {self.archive}/%f'"], check=True)
        self.url = (server / "url").read_text(encoding="utf-8").strip()

    @staticmethod
    def give(path: Path) -> None:
        """To the user of the server, which is not root."""
        if os.geteuid() == 0:
            subprocess.run(["chown", "--recursive", "nobody:nogroup", path], check=True)

    def sql(self, text: str) -> str:
        return subprocess.run(["psql", "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--command", text, self.url],
                              check=True, capture_output=True, text=True).stdout.strip()

    def archive_all(self) -> None:
        segment = self.sql("SELECT pg_walfile_name(pg_switch_wal())")
        wait_until((self.archive / segment).exists, "the log up to here is archived")

    def start_restored(self, base: Path) -> None:
        bin_folder = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name))
        as_user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []
        control = [*as_user, bin_folder / "pg_ctl", "--pgdata", base, "--wait"]
        place = Path(tempfile.mkdtemp(prefix="assent-restored-"))
        self.addCleanup(shutil.rmtree, place, ignore_errors=True)
        with (base / "postgresql.auto.conf").open("a", encoding="utf-8") as settings:
            settings.write(f"unix_socket_directories = '{place}'\narchive_mode = off\n")
        self.give(place)
        self.give(base)
        self.addCleanup(subprocess.run, [*control, "--mode", "immediate", "stop"], capture_output=True, cwd=place)
        subprocess.run([*control, "--log", place / "log", "start"], check=True, capture_output=True, cwd=place)
        self.url = f"postgresql://assent@/postgres?host={place}"
        wait_until(lambda: self.sql("SELECT pg_is_in_recovery()") == "f", "it is restored and takes writes")

    def test_a_base_backup_and_the_log_bring_back_any_moment(self):
        [before] = self.waiting(shell("echo before >>done"), thread="before")
        base = self.root / "base"
        self.follow("base backup", DATABASE=self.url, BASE=base)
        [after] = self.waiting(shell("echo after >>done"), thread="after")
        moment = self.sql("SELECT clock_timestamp()")
        self.ok("approve", before)
        self.ok("resume", "before")
        self.archive_all()
        self.follow("restore to a moment", BASE=base, ARCHIVE=self.archive, MOMENT=moment)
        self.start_restored(base)
        self.elsewhere()
        self.assertEqual(self.ok("--json", "db", "check", "--chains").json["broken"], [])
        self.assertEqual(self.pending_ids(), [before, after])
        self.ok("approve", after)
        self.ok("work", "--until-idle", "--lease", "1")
        self.assertEqual(self.states(), {"before": "waiting", "after": "done"})


if __name__ == "__main__":
    unittest.main()
