"""Real processes on a real PostgreSQL server, killed: runners, answerers, and the server itself.

    kill_on_postgres.py PROGRAM SERVER_TOOL [--kills N] [--seed N] [--json FILE]

Three `assent work` run threads whose gated commands append a line to a file; two answerers say yes to what is asked.
Runners and answerers are killed with SIGKILL, at named points and at random, and the server is restarted in its
immediate mode, until there were N kills. Then everything may come to its end, and each command must have run once. What
nobody can know after a kill is asked about, and told here: those are the doubtful ones. Answers that were told as
recorded must all be in the journals.
"""

import argparse
import collections
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from folder import Ended, Wrong, need

RUNNERS = 3
ANSWERERS = 2
CALLS = 3  # a thread
ACTIVE = 12  # threads that are not done, as long as kills go on
LEASE_S = 2
SETTLE_S = 120  # after the last kill
PATIENCE_S = 60
RESTART_EVERY = 15  # kills
LONG_EVERY = 4  # restarts: the server stays away for longer than a lease, while tools end
LONG_S = 8
RUNNER_POINTS = ["before:lease", "after:lease", "before:claimed", "after:claimed", "tool:start", "tool:end",
                 "shell:before", "shell:spawned", "before:finished", "after:finished", "before:model_turn",
                 "after:model_turn"]
ANSWERER_POINTS = ["before:answered", "after:answered"]


def line_of(thread, call):
    return f"{thread}.{call}"


class World:
    """The server, the folder, the processes, and what was seen."""

    def __init__(self, options):
        self.program = os.path.abspath(options.program)
        self.server_tool = options.server
        self.chance = random.Random(options.seed)
        self.root = Path(tempfile.mkdtemp(prefix="assent-crash-pg-"))
        self.workspace = self.root / "workspace"
        self.workspace.mkdir()
        (self.root / "home").mkdir()
        self.server = self.root / "server"
        self.effects = self.workspace / "effects.txt"
        self.lock = threading.Lock()
        self.histogram = collections.Counter()
        self.kills = collections.Counter()
        self.told = {}  # approval: the thread and decision that were told as recorded
        self.doubtful = {}  # thread and call: how it was settled
        self.threads = []
        self.stop = threading.Event()  # kills are over
        self.end = threading.Event()
        self.faults = []
        self.numbers = iter(range(10**9))
        self.tool("start")
        self.url = (self.server / "url").read_text(encoding="utf-8").strip()

    def tool(self, action):
        subprocess.run([self.server_tool, action, str(self.server)], check=True, stdout=subprocess.DEVNULL)

    def start(self, arguments, points=None):
        environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(self.root / "home"),
                       **{name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")},
                       **(points or {})}
        return subprocess.Popen([self.program, "--db", self.url, "--json", *arguments], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                                cwd=self.root)

    @staticmethod
    def finish(process, arguments):
        try:
            out, err = process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired as late:
            process.kill()
            raise Wrong(f"`{' '.join(arguments)}` did not end") from late
        return Ended(arguments, process.returncode, out, err)

    def run(self, arguments, points=None):
        return self.finish(self.start(arguments, points), arguments)

    def surely(self, arguments):
        """Until the server is there."""
        for _ in range(100):
            ended = self.run(arguments)
            if ended.error_kind() != "database":
                return ended
            time.sleep(0.1)
        raise Wrong(f"the server stays away: {ended}")

    def killed(self, what, window):
        with self.lock:
            self.kills[what] += 1
            self.histogram[f"{what}: {window}"] += 1

    def begin_thread(self):
        thread = f"t{next(self.numbers)}"
        turns = [{"text": f"Call {call}.",
                  "calls": [{"id": f"c{call}", "name": "shell",
                             "arguments": {"command": f"echo {line_of(thread, call)} >> effects.txt"}}]}
                 for call in range(CALLS)] + [{"text": "That is all."}]
        script = self.root / f"{thread}.json"
        script.write_text(json.dumps({"turns": turns}), encoding="utf-8")
        ended = self.surely(["run", "--thread", thread, "--idempotency-key", thread, "--model", f"script:{script}", "--workspace",
                             str(self.workspace), "go on"])
        # Others may have answered before the process that asked had ended.
        need(ended.status in (0, 1, 10), f"{ended}")
        with self.lock:
            self.threads.append(thread)

    def lines(self):
        return self.effects.read_text(encoding="utf-8").split("\n")[:-1] if self.effects.exists() else []


def window_of(path):
    try:
        return path.read_bytes().split(b"\0")[0].decode() or "(before any point)"
    except OSError:
        return "(before any point)"


def keep_runner(world, number):
    """One runner after another, each killed after a while."""
    chance = random.Random(world.chance.random())
    while not world.end.is_set():
        window = world.root / f"window.{number}"
        window.unlink(missing_ok=True)
        points = {"ASSENT_WINDOW_FILE": str(window)}
        named = not world.stop.is_set() and chance.random() < 0.4
        if named:
            points["ASSENT_CRASH_AT"] = f"{chance.choice(RUNNER_POINTS)}:{chance.randint(1, 4)}"
        elif not world.stop.is_set():
            points["ASSENT_STRETCH_MS"] = "3"
        arguments = ["work", "--lease", str(LEASE_S), "--at-once", "4"]
        process = world.start(arguments, points)
        dies_at = time.monotonic() + chance.uniform(0.2, 3)
        while process.poll() is None and not world.end.is_set():
            if not world.stop.is_set() and not named and time.monotonic() > dies_at:
                process.kill()
                break
            time.sleep(0.01)
            if world.stop.is_set() and named:
                process.kill()  # it would die later, when nobody counts
                break
        if world.end.is_set() and process.poll() is None:
            process.send_signal(signal.SIGTERM)
        ended = world.finish(process, arguments)
        if ended.killed:
            world.killed("runner", window_of(window))
        elif ended.error_kind() != "database":  # begun while the server was away
            need(ended.status == 0 and world.end.is_set(), f"a runner ended by itself: {ended}")


def tool_lives(line):
    """Whether a process of this call's command is there."""
    mark = f"echo {line} ".encode()
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                if mark in Path("/proc", entry, "cmdline").read_bytes():
                    return True
            except OSError:
                continue
    return False


def resolve(world, approval):
    """As somebody who looks at what is there."""
    line = line_of(approval["thread"], approval["turn"] - 1)
    deadline = time.monotonic() + PATIENCE_S
    while tool_lives(line):
        need(time.monotonic() < deadline, f"the command of {line} outlived its runner")
        time.sleep(0.005)
    happened = line in world.lines()
    ended = world.run(["resolve", approval["id"], *(["--done", "it is there"] if happened else ["--retry"])])
    if ended.status == 0:
        with world.lock:
            world.doubtful[line] = "had happened" if happened else "had not happened"


def answer_one(world, approval, chance):
    if approval["kind"] == "unknown":
        resolve(world, approval)
        return
    points = {}
    arguments = ["approve", approval["id"]]
    dies = not world.stop.is_set() and chance.random() < 0.1
    if dies:
        points["ASSENT_CRASH_AT"] = f"{chance.choice(ANSWERER_POINTS)}:1"
    ended = world.run(arguments, points)
    if ended.killed:
        world.killed("answerer", points["ASSENT_CRASH_AT"].split(":1")[0])
    elif ended.status == 0:
        with world.lock:
            world.told[approval["id"]] = (approval["thread"], approval["turn"])
    else:
        # Another was faster, or the server is away.
        need(ended.error_kind() in ("conflict", "database", "refused"), f"{ended}")


def keep_answering(world):
    chance = random.Random(world.chance.random())
    while not world.end.is_set():
        ended = world.run(["pending", "--limit", "20"])
        # An array is no object: nothing was read, or the server is away.
        waiting = world_pending(ended)
        chance.shuffle(waiting)
        for approval in waiting[:5]:
            answer_one(world, approval, chance)
        if not waiting:
            time.sleep(0.05)


def world_pending(ended):
    try:
        found = json.loads(ended.out)
    except json.JSONDecodeError:
        return []
    return found if isinstance(found, list) else []


def guarded(world, act, *arguments):
    def body():
        try:
            act(world, *arguments)
        except Exception as fault:  # pylint: disable=broad-exception-caught
            world.faults.append(f"{type(fault).__name__}: {fault}")
            world.end.set()
    thread = threading.Thread(target=body)
    thread.start()
    return thread


def states(world):
    ended = world.surely(["threads"])
    return {one["id"]: one["state"] for one in world_pending(ended)}


def go(world, kills):
    workers = [guarded(world, keep_runner, number) for number in range(RUNNERS)]
    workers += [guarded(world, keep_answering) for _ in range(ANSWERERS)]
    restarts = 0
    began = time.monotonic()
    try:
        while sum(world.kills.values()) < kills and not world.end.is_set():
            now = states(world)
            active = sum(state in ("running", "waiting") for state in now.values())
            if active < ACTIVE:
                world.begin_thread()
            if sum(world.kills.values()) // RESTART_EVERY > restarts:
                restarts += 1
                away_s = LONG_S if restarts % LONG_EVERY == 1 else 0
                world.tool("halt")
                time.sleep(away_s)
                world.tool("again")
                world.killed("server", "away for long" if away_s else "immediate restart")
        killing_s = time.monotonic() - began
        world.stop.set()
        deadline = time.monotonic() + SETTLE_S
        while not world.end.is_set():
            now = states(world)
            left = {thread: now.get(thread) for thread in world.threads if now.get(thread) != "done"}
            if not left:
                break
            need(time.monotonic() < deadline, f"does not come to its end: {left}")
            time.sleep(0.2)
    finally:
        world.end.set()
        for worker in workers:
            worker.join()
    need(not world.faults, "; ".join(world.faults))
    return killing_s


def check(world):
    """What was lost and what was doubled."""
    expected = [line_of(thread, call) for thread in world.threads for call in range(CALLS)]
    seen = collections.Counter(world.lines())
    lost = [line for line in expected if seen[line] == 0]
    doubled = [line for line in expected if seen[line] > 1]
    need(set(seen) <= set(expected), "something ran that nobody asked for")
    answers = collections.defaultdict(set)
    for thread in world.threads:
        ended = world.surely(["history", thread])
        need(ended.status == 0, f"the history does not hold: {ended}")
        for event in json.loads(ended.out):
            if event["event"] == "answered":
                answers[thread].add(event["call"]["turn"])
    missing = [told for told in world.told.values() if told[1] not in answers[told[0]]]
    return {"lost": lost, "doubled": doubled, "answers_missing": missing, "calls": len(expected)}


def first_line(command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")[0]


def report(world, found, took, options):
    kills = sum(world.kills.values())
    width = max(map(len, world.histogram), default=0)
    for window, hits in sorted(world.histogram.items()):
        print(f"  {window:{width}}  {hits:5}  {'#' * min(hits, 50)}")
    print(f"{kills} kills in {took:.0f} s ({', '.join(f'{n} {what}' for what, n in sorted(world.kills.items()))}); "
          f"{len(world.threads)} threads, {found['calls']} calls, {len(world.told)} answers told as recorded")
    settled = collections.Counter(world.doubtful.values())
    print(f"{len(found['lost'])} lost, {len(found['doubled'])} doubled, {len(found['answers_missing'])} answers missing, "
          f"{len(world.doubtful)} doubtful and asked about ({dict(settled)})")
    if options.json:
        Path(options.json).write_text(json.dumps({
            "benchmark": "crash-pg", "command": f"make crash-pg KILLS={options.kills}",
            "versions": [first_line([world.program, "--version"]), first_line(["pg_config", "--version"])],
            "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "seed": options.seed, "kills": dict(world.kills), "seconds": round(took),
            "threads": len(world.threads), "calls": found["calls"], "lost": len(found["lost"]),
            "doubled": len(found["doubled"]), "answers_told": len(world.told),
            "answers_missing": len(found["answers_missing"]), "doubtful": dict(settled),
            "windows": dict(sorted(world.histogram.items()))}, indent=1) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("server")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**31))
    parser.add_argument("--json")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    world = World(options)
    kept = f" (folder {world.root} is kept)"
    try:
        took = go(world, options.kills)
        found = check(world)
        report(world, found, took, options)
        need(not found["lost"] and not found["doubled"] and not found["answers_missing"], f"{found}")
        kept = ""
    except Wrong as wrong:
        sys.exit(f"WRONG: {wrong}{kept}")
    finally:
        world.tool("stop")
    shutil.rmtree(world.root, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
