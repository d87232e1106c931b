"""A PostgreSQL server dies and its standby is promoted: what was confirmed is there, as far as the settings promise.

    standby.py PROGRAM SERVER_TOOL

With a synchronous standby an answer that was told as recorded counts on the new server, and a command that ran is not run
again. With an asynchronous one that lagged behind, the last moments are gone: the question is open again, and a command
that ran meanwhile would run a second time if a person says yes a second time. docs/guides/postgresql.md says so.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from folder import Ended, Wrong, need

PATIENCE_S = 60


class Pair:
    """A server and its standby, and a workspace for the commands of agents."""

    def __init__(self, options, root, name, synchronous):
        self.program = os.path.abspath(options.program)
        self.server_tool = options.server
        self.root = root / name
        self.workspace = self.root / "workspace"
        self.workspace.mkdir(parents=True)
        (self.root / "home").mkdir()
        self.first, self.second = self.root / "first", self.root / "second"
        self.tool("start", self.first, "fsync=on")
        self.tool("standby", self.second, self.first)
        if synchronous:
            self.psql("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
            self.psql("SELECT pg_reload_conf()")
        self.server = self.first

    def tool(self, *arguments):
        subprocess.run([self.server_tool, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL,
                       timeout=PATIENCE_S)

    def psql(self, sql):
        folder = subprocess.run(["pg_config", "--bindir"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        url = (self.first / "url").read_text(encoding="utf-8").strip()
        return subprocess.run([os.path.join(folder, "psql"), url, "--no-align", "--tuples-only", "--command", sql],
                              stdout=subprocess.PIPE, text=True, check=True, timeout=PATIENCE_S).stdout.strip()

    def assent(self, *arguments):
        url = (self.server / "url").read_text(encoding="utf-8").strip()
        environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(self.root / "home"),
                       **{name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}}
        done = subprocess.run([self.program, "--db", url, "--json", *arguments], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, env=environment,
                              cwd=self.root, timeout=PATIENCE_S)
        return Ended(arguments, done.returncode, done.stdout, done.stderr)

    def ask(self, thread):
        """A thread that waits with one command; its approval's id."""
        turns = [{"text": "I will.", "calls": [{"id": "c", "name": "shell",
                                                "arguments": {"command": f"echo {thread} >> effects.txt"}}]},
                 {"text": "That is all."}]
        script = self.root / f"{thread}.json"
        script.write_text(json.dumps({"turns": turns}), encoding="utf-8")
        ended = self.assent("run", "--thread", thread, "--model", f"script:{script}", "--workspace",
                            str(self.workspace), "go on")
        need(ended.status == 10, f"{ended}")
        return ended.json["interrupts"][0]["id"]

    def do(self, *arguments):
        ended = self.assent(*arguments)
        need(ended.status == 0, f"{ended}")
        return ended

    def effects(self, thread):
        there = self.workspace / "effects.txt"
        return there.read_text(encoding="utf-8").splitlines().count(thread) if there.exists() else 0

    def open(self):
        ended = self.assent("threads")
        need(ended.status == 0, f"{ended}")
        return {one["id"]: one["open"] for one in json.loads(ended.out)}

    def fail_over(self):
        self.tool("halt", self.first)
        self.tool("promote", self.second)
        self.server = self.second

    def remove(self):
        for folder in (self.first, self.second):
            self.tool("stop", folder)


def synchronous(pair):
    """What was confirmed is on the standby."""
    wait_until(pair, "SELECT bool_and(sync_state = 'sync') FROM pg_stat_replication", "the standby is not synchronous")
    answered, ran = pair.ask("answered"), pair.ask("ran")
    pair.do("approve", answered)
    pair.do("approve", ran)
    pair.do("resume", "ran")
    pair.fail_over()
    need(pair.open() == {"answered": 0, "ran": 0}, f"an answer is gone: {pair.open()}")
    need(pair.do("approve", answered).json["already"], "the answer was not kept")
    pair.do("resume", "answered")
    pair.do("resume", "ran")
    effects = {thread: pair.effects(thread) for thread in ("answered", "ran")}
    need(effects == {"answered": 1, "ran": 1}, f"commands ran otherwise than once: {effects}")
    return "synchronous: the answers and the outcome are there, each command ran once"


def lagging(pair):
    """The standby was away: what was confirmed meanwhile is not there."""
    approval = pair.ask("late")
    pair.psql("SELECT pg_switch_wal()")
    wait_until(pair, "SELECT bool_and(replay_lsn = pg_current_wal_lsn()) FROM pg_stat_replication",
               "the standby does not follow")
    pair.tool("halt", pair.second)
    pair.do("approve", approval)
    pair.do("resume", "late")
    need(pair.effects("late") == 1, "it ran")
    pair.tool("halt", pair.first)
    pair.tool("again", pair.second)
    pair.tool("promote", pair.second)
    pair.server = pair.second
    need(pair.open() == {"late": 1}, f"the question is not open again: {pair.open()}")
    # Nothing runs by itself: only a second yes makes it run a second time.
    ended = pair.assent("resume", "late")
    need(ended.status == 10 and pair.effects("late") == 1, f"it ran again by itself: {ended}")
    pair.do("history", "late")
    return "asynchronous, lagging: the question is open again, nothing ran by itself, the chain holds"


def wait_until(pair, sql, otherwise):
    deadline = time.monotonic() + PATIENCE_S
    while pair.psql(sql) != "t":
        need(time.monotonic() < deadline, otherwise)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("server")
    options = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="assent-standby-"))
    root.chmod(0o755)
    for name, wants_synchronous, act in (("synchronous", True, synchronous), ("lagging", False, lagging)):
        pair = Pair(options, root, name, wants_synchronous)
        try:
            print(act(pair))
        except Wrong as wrong:
            sys.exit(f"WRONG: {name}: {wrong} (folder {root} is kept)")
        finally:
            pair.remove()
    shutil.rmtree(root, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
