"""Writes the databases of today's format that later versions must still open: tests/golden/*-vN.sql.

    tests/golden/make_databases.py PROGRAM POSTGRES_URL

Run it once for each format, with the version that is released; the files are never written again. POSTGRES_URL is that of
a server of one's own (tools/postgres-server), in which nothing called `assent` is kept.

Three threads: `ended` is done, `waits` asks about a call, `doubt` was killed while a call ran.
"""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The same for whoever makes them: the place is part of what is hashed.
PLACE = Path("/tmp/assent-golden")
THREADS = ("ended", "waits", "doubt")


def shell(command: str) -> dict:
    return {"text": "I will.", "calls": [{"id": "call_1", "name": "shell", "arguments": {"command": command}}]}


def wait_for(true) -> None:
    while not true():
        time.sleep(0.01)


class Maker:
    def __init__(self, program: str, url: str):
        self.start = [os.path.abspath(program), "--db", url]
        self.env = {"PATH": os.environ["PATH"], "HOME": str(PLACE), "XDG_STATE_HOME": str(PLACE / "state")}

    def run(self, *args: str, status: int = 0) -> str:
        done = subprocess.run([*self.start, *args], env=self.env, cwd=PLACE, capture_output=True, text=True)
        if done.returncode != status:
            raise SystemExit(f"{args}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def prompt(self, thread: str, command: str) -> str:
        script = PLACE / f"{thread}.json"
        script.write_text(json.dumps({"turns": [shell(command), {"text": "That is all."}]}), encoding="utf-8")
        self.run("run", "please", "--thread", thread, "--workspace", str(PLACE / "workspace"), "--model", f"script:{script}",
                 status=10)
        [asked] = json.loads(self.run("--json", "pending", "--thread", thread))
        return asked["id"]

    def make(self) -> None:
        self.run("approve", self.prompt("ended", "echo ended >>done"))
        self.run("resume", "ended")
        self.prompt("waits", "echo waits >>done")
        self.run("approve", self.prompt("doubt", "touch started; sleep 100"))
        runner = subprocess.Popen([*self.start, "work", "--lease", "1"], env=self.env, cwd=PLACE,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for((PLACE / "workspace/started").exists)
        runner.send_signal(signal.SIGKILL)
        runner.wait()
        shutil.rmtree(PLACE / "state", ignore_errors=True)
        for receipts in PLACE.glob("*-receipts"):
            shutil.rmtree(receipts)
        while len(json.loads(self.run("--json", "pending"))) < 2:
            self.run("work", "--until-idle")


@contextlib.contextmanager
def fresh_place():
    shutil.rmtree(PLACE, ignore_errors=True)
    (PLACE / "workspace").mkdir(parents=True)
    try:
        yield
    finally:
        shutil.rmtree(PLACE, ignore_errors=True)


def write(name: str, lines: list[str]) -> None:
    path = HERE / name
    if path.exists():
        print(f"{name} is there already; a released one is never written again")
        return
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def make_sqlite(program: str) -> None:
    with fresh_place():
        path = PLACE / "assent.db"
        Maker(program, f"sqlite:{path}").make()
        with contextlib.closing(sqlite3.connect(path)) as database:
            [(version,)] = database.execute("PRAGMA user_version")
            [(application,)] = database.execute("PRAGMA application_id")
            write(f"sqlite-v{version}.sql", [f"PRAGMA application_id = {application};", f"PRAGMA user_version = {version};",
                                             *database.iterdump()])


def make_postgres(program: str, url: str) -> None:
    with fresh_place():
        maker = Maker(program, url)
        maker.make()
        version = json.loads(maker.run("--json", "db", "check"))["format"]
        dump = subprocess.run(["pg_dump", "--schema", "assent", "--inserts", "--no-owner", "--no-privileges",
                               "--no-comments", url], check=True, capture_output=True, text=True).stdout
        # What only a newest client reads (\\restrict), and its comments, are left out.
        write(f"postgres-v{version}.sql",
              [line for line in dump.splitlines() if line and not line.startswith(("--", "\\"))])


if __name__ == "__main__":
    make_sqlite(sys.argv[1])
    make_postgres(sys.argv[1], sys.argv[2])
