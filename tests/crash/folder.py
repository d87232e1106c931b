"""One folder with a database, a workspace and a script of model turns, and the real program on it."""

import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

THREAD = "work"
# Long enough for a loaded machine; nothing waits for it unless something hangs.
PATIENCE_S = 60


class Wrong(Exception):
    """What the program did is not what it promises."""


def need(condition, what):
    if not condition:
        raise Wrong(what)


class Ended:
    """One process of the program that has ended."""

    def __init__(self, command, status, out, err):
        self.command = command
        self.status = status
        self.out = out
        self.err = err
        self.killed = status == -9
        lines = [line for line in out.splitlines() if line.startswith("{")]
        try:
            self.json = json.loads(lines[-1]) if lines else {}
        except json.JSONDecodeError:
            need(self.killed, f"{command}: no JSON on standard output: {lines[-1]}")
            self.json = {}

    def error_kind(self):
        return (self.json.get("error") or {}).get("kind")

    def __str__(self):
        return f"`{' '.join(self.command)}` ended with {self.status}: {self.json or self.err}"


class Folder:
    def __init__(self, program, turns):
        self.root = Path(tempfile.mkdtemp(prefix="assent-crash-"))
        self.db = self.root / "assent.db"
        self.program = program
        self.started = set()  # process ids of the program itself
        self.workspace = self.root / "workspace"
        self.workspace.mkdir()
        (self.root / "home").mkdir()
        script = json.dumps({"turns": turns}).replace("@", str(self.workspace))
        (self.root / "script.json").write_text(script, encoding="utf-8")
        (self.workspace / "orders.txt").write_text("a\nb\n", encoding="utf-8")
        (self.workspace / "counter.txt").write_text("n = 0;\n", encoding="utf-8")

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)

    def start(self, arguments, points=None):
        """Starts `assent ARGUMENTS`; `points` are the variables that src/base/test_point.hpp names."""
        environment = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": str(self.root / "home"),
            **{name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")},
            **(points or {}),
        }
        process = subprocess.Popen(
            [self.program, "--db", f"sqlite:{self.db}", "--json", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=self.root,
        )
        self.started.add(process.pid)
        return process

    @staticmethod
    def end(process, arguments):
        try:
            out, err = process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired as late:
            process.kill()
            raise Wrong(f"`{' '.join(arguments)}` did not end") from late
        return Ended(arguments, process.returncode, out, err)

    def run(self, arguments, points=None):
        return self.end(self.start(arguments, points), arguments)

    def model(self):
        return ["--model", f"script:{self.root / 'script.json'}", "--workspace", str(self.workspace)]

    def database(self):
        """A copy of the database as it stands. The next to open the real one is the program itself."""
        copy = Path(tempfile.mkdtemp(dir=self.root, prefix="copy-"))
        # The journal too: one who was killed while it made the tables has left them half written.
        for end in ("", "-journal", "-wal"):
            there = self.db.with_name(self.db.name + end)
            if there.exists():
                shutil.copy(there, copy / there.name)
        return sqlite3.connect(copy / "assent.db")

    def journal(self):
        """All events, oldest first. No other process may be writing."""
        events = []
        connection = self.database()
        try:
            for header, body in connection.execute("SELECT header, body FROM journal ORDER BY pos"):
                number = json.loads(header)["n"]
                for event in json.loads(body)["events"]:
                    if event["event"] == "asked":
                        event["number"] = number
                        number += 1
                    events.append(event)
        except sqlite3.OperationalError:
            return []  # killed before the tables were made
        finally:
            connection.close()
        return events

    def journal_rows(self):
        connection = self.database()
        try:
            return connection.execute("SELECT count(*) FROM journal").fetchone()[0]
        finally:
            connection.close()

    def tool_processes(self):
        """Processes of this folder's shell calls: what has its path in the process table and is not the
        program, but also a child of the program that has not become the helper yet."""
        mark = str(self.root).encode()
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or int(entry) in self.started:
                continue
            try:
                if mark in Path("/proc", entry, "cmdline").read_bytes():
                    found.append(int(entry))
            except OSError:
                continue  # gone meanwhile
        return found

    def wait_until_tools_are_gone(self):
        deadline = time.monotonic() + PATIENCE_S
        while self.tool_processes():
            need(time.monotonic() < deadline, "processes of a killed program's tools still live")
            time.sleep(0.002)
