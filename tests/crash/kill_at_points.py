"""Kills the real program at every named point of every process of every scenario, and goes on.

    kill_at_points.py PROGRAM [--every N]

The points: before and after each append to the journal, start and end of each tool's body. A first round
without kills tells which there are, and compares their number with the rows of the journal. Then, for
each of them, a fresh folder: the process that passes it is killed right there with SIGKILL, and a person
goes on with the normal program until all is done. With --every N only each N-th of them, for a program
that is slow under a sanitizer.
"""

import argparse
import collections
import concurrent.futures
import sys
import time

from folder import Folder, Wrong, need
from scenario import ALL, go_through

WORKERS = 2
INSIDE = ("file.", "shell:")


def in_flight(point):
    """Passed while a call is claimed and its outcome is not recorded; some are inside of tools."""
    return point in ("after:claimed", "tool:start", "tool:end", "before:finished") or point.startswith(INSIDE)


class AtPoints:
    """Launches the processes of one scenario; some die at a point, all write down what they pass."""

    def __init__(self, folder, crashes):
        self.folder = folder
        self.crashes = crashes
        self.commands = {}

    def log_of(self, number):
        return self.folder.root / f"points.{number}"

    def passed(self, number):
        return self.log_of(number).read_text(encoding="utf-8").splitlines() if self.log_of(number).exists() else []

    def __call__(self, number, arguments):
        self.commands[number] = arguments[0]
        points = {"ASSENT_POINT_LOG": str(self.log_of(number))}
        crash = self.crashes.get(number)
        if crash:
            points["ASSENT_CRASH_AT"] = crash
        ended = self.folder.run(arguments, points)
        need(ended.killed == bool(crash), f"crash at {crash}: {ended}")
        if crash:
            need(self.passed(number)[-1] == crash.rpartition(":")[0], f"not killed at {crash}")
        return ended


def without_kills(scenario, program):
    """The points of a scenario as (number of the process, its command, point, how often until then)."""
    points = []
    launchers = []

    def make(folder):
        launchers.append(AtPoints(folder, scenario.crashes))
        return launchers[0]

    def count(person):
        names = collections.Counter()
        for number in range(person.processes):
            passed = launchers[0].passed(number)
            names.update(passed)
            seen = collections.Counter()
            for name in passed:
                seen[name] += 1
                # A process that dies in any case cannot die somewhere else before: later ones are looked at.
                if number > max(scenario.crashes, default=-1):
                    points.append((number, launchers[0].commands[number], name, seen[name]))
        compare_with_journal(scenario, names, person.folder.journal_rows())

    go_through(scenario, program, make, count)
    return points


def compare_with_journal(scenario, names, rows):
    before = sum(count for name, count in names.items() if name.startswith("before:") and name != "before:lease")
    after = sum(count for name, count in names.items() if name.startswith("after:") and name != "after:lease")
    leases = (names["before:lease"], names["after:lease"])
    tools = (names["tool:start"], names["tool:end"])
    files = sum(count for name, count in names.items() if name.startswith("file."))
    print(
        f"{scenario.name:9} {rows:3} journal rows, {before} + {after} points around appends; without a row: "
        f"{leases[0]} + {leases[1]} around leases, {tools[0]} + {tools[1]} at tools, {files} in file tools"
    )
    need(before == after == rows, f"{scenario.name}: {rows} rows, {before} points before and {after} after appends")
    need(leases[0] == leases[1], f"{scenario.name}: leases {leases}")
    # A runner that dies at a tool by the scenario's own will does so at its start or at its end.
    need(tools[0] >= tools[1] >= tools[0] - len(scenario.crashes), f"{scenario.name}: tools {tools}")


def kill_once(scenario, program, number, point, n, launcher=AtPoints, folder_of=Folder):
    crashes = {**scenario.crashes, number: f"{point}:{n}"}
    try:
        person = go_through(scenario, program, lambda folder: launcher(folder, crashes), folder_of=folder_of)
    except Wrong as wrong:
        raise Wrong(f"process {number} killed at {point}:{n}: {wrong}") from wrong
    if person.deaths and not scenario.crashes:
        flight = person.deaths[0]
        # Of two calls that run at once, the other may still be in flight.
        may_be = in_flight(point) or point == "after:finished"
        need(flight > 0 or not in_flight(point), f"{scenario.name} {point}:{n}: nothing was in flight")
        need(flight == 0 or may_be, f"{scenario.name} {point}:{n}: {flight} in flight")
    return person


def kill_at_each(cases, kill):
    """Of each (scenario, number of the process, its command, point, how often until then): what became of it."""
    rows = collections.defaultdict(lambda: [0, 0, 0, 0])
    faults = []
    starts = 0
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as workers:
        jobs = {
            workers.submit(kill, scenario, number, point, n): (point, command)
            for scenario, number, command, point, n in cases
        }
        for job in concurrent.futures.as_completed(jobs):
            row = rows[jobs[job]]
            row[0] += 1
            try:
                person = job.result()
            except Wrong as wrong:
                faults.append(str(wrong))
                continue
            row[1] += person.unknown
            row[2] += person.proved
            row[3] += person.counted
            starts += sum(person.effects_seen.values())
    return rows, faults, starts


def print_table(rows):
    print(f"\n{'killed at':22} {'in':18} {'kills':>5} {'unknown':>8} {'proved':>8} {'counted':>8}")
    for (point, command), (kills, unknown, proved, counted) in sorted(rows.items()):
        print(f"{point:22} {command:18} {kills:5} {unknown:8} {proved:8} {counted:8}")
    print("unknown: outcomes that a person had to resolve; proved: those that a receipt told")
    print("counted: answers of killed processes that stand\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    program = options.program
    began = time.monotonic()
    points = [(scenario, *point) for scenario in ALL for point in without_kills(scenario, program)]
    cases = points[:: options.every]
    rows, faults, starts = kill_at_each(cases, lambda *case: kill_once(case[0], program, *case[1:]))
    print_table(rows)
    for fault in faults:
        print(f"WRONG: {fault}")
    verdict = f"{len(faults)} went wrong" if faults else "0 approvals lost, 0 tools run twice"
    where = "every point" if options.every == 1 else f"each {options.every}th of {len(points)} points"
    print(
        f"{len(cases)} kills, one at {where}: {verdict} ({starts} effects of {len(cases) - len(faults)} cases, "
        f"each once); {time.monotonic() - began:.0f} s"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as wrong:
        sys.exit(f"WRONG: {wrong}")
