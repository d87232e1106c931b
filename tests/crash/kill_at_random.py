"""Kills the real program at random times until every window between two points was hit often enough.

    kill_at_random.py PROGRAM [--seed N] [--kills N] [--hits N] [--stretch-ms N] [--limit-s N]

The killed processes stay some milliseconds in each window (ASSENT_STRETCH_MS), so that a kill, which comes
from outside at any time, finds them there. Some kills come at a random time after the start; the others
wait until the process is in a window that was hit seldom, and come a random time later. Which window it
was is what the process itself wrote last (ASSENT_WINDOW_FILE). Answers are also given while a runner works.
"""

import argparse
import collections
import concurrent.futures
import random
import sys
import threading
import time
import traceback

from folder import THREAD, Wrong
from scenario import ALL, MAIN, STOPS, Person, go_through
from kill_at_points import without_kills

WORKERS = 2
# Afterwards a person is left in peace, so that every scenario comes to its end.
KILLS_PER_FOLDER_MAX = 40
NO_WINDOW = "(before any point)"


class Tally:
    """What was hit and what is missing. Shared by all workers."""

    def __init__(self, windows, options):
        self.windows = windows  # command: the windows its processes pass
        self.options = options
        self.hits = collections.Counter({name: 0 for names in windows.values() for name in names})
        self.kills = collections.Counter()
        self.ended = 0
        self.scenarios = collections.Counter()
        self.sums = collections.Counter()
        self.faults = []
        self.deadline = time.monotonic() + options.limit_s
        self.lock = threading.Lock()

    def missing(self):
        # A window that only a kill leads to, by chance, is counted but not waited for.
        known = {name for names in self.windows.values() for name in names} - {NO_WINDOW}
        return {name: self.hits[name] for name in known if self.hits[name] < self.options.hits}

    def enough(self):
        return not self.missing() and sum(self.kills.values()) >= self.options.kills

    def over(self):
        return self.enough() or self.faults or time.monotonic() > self.deadline


class AtRandom:
    """Launches the processes of one folder and kills some of them."""

    def __init__(self, folder, tally, chance):
        self.folder = folder
        self.tally = tally
        self.chance = chance
        self.kills = 0

    def __call__(self, number, arguments):
        window = self.folder.root / f"window.{number}"
        plan = self.plan(arguments[0])
        points = {"ASSENT_WINDOW_FILE": str(window)}
        if plan != "none" or self.chance.random() < 0.2:
            points["ASSENT_STRETCH_MS"] = str(self.tally.options.stretch_ms)
        process = self.folder.start(arguments, points)
        if plan == "time":
            passed = len(self.tally.windows[arguments[0]])
            self.wait(process, self.chance.uniform(0, 0.02 + passed * self.tally.options.stretch_ms / 1000))
        elif plan == "window":
            self.wait_for_window(process, window, self.wanted(arguments[0]))
        if plan != "none":
            process.kill()
        ended = self.folder.end(process, arguments)
        self.count(ended, plan, self.read(window))
        return ended

    def plan(self, command):
        if self.kills >= KILLS_PER_FOLDER_MAX or self.tally.over():
            return "none"
        # Where everything was hit often enough, there are few more kills, so that rare windows are reached.
        share = 0.8 if self.missing(command) else 0.15
        if self.chance.random() > share:
            return "none"
        return self.chance.choice(["time", "window", "window"])

    def missing(self, command):
        missing = self.tally.missing()
        return sorted(name for name in self.tally.windows[command] if name in missing)

    def wanted(self, command):
        return self.missing(command) or sorted(self.tally.windows[command])

    def wait_for_window(self, process, window, names):
        """Until the process is in one of these windows; some are let pass, so that later ones are hit too."""
        before = NO_WINDOW
        while process.poll() is None:
            now = self.read(window)
            if now != before and now in names and self.chance.random() < 0.6:
                break
            before = now
            time.sleep(0.0005)
        self.wait(process, self.chance.uniform(0, self.tally.options.stretch_ms / 1000))

    @staticmethod
    def wait(process, seconds):
        until = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < until:
            time.sleep(0.0005)

    @staticmethod
    def read(window):
        try:
            return window.read_bytes().rstrip(b"\0").decode() or NO_WINDOW
        except (OSError, UnicodeDecodeError):  # not made yet; being written
            return NO_WINDOW

    def count(self, ended, plan, name):
        with self.tally.lock:
            if not ended.killed:
                self.tally.ended += 1
                return
            self.kills += 1
            self.tally.kills[plan] += 1
            self.tally.hits[name] += 1


class HastyPerson(Person):
    """Sometimes lets a runner go on before all is answered, and answers while it works."""

    chance = random.Random()

    def decide(self, approvals):
        plain = all(approval["kind"] == "approve" for approval in approvals)
        mine = [(approval, arguments) for approval in approvals if (arguments := self.answer_to(approval))]
        if not plain or not mine or self.chance.random() < 0.6:
            return super().decide(approvals)
        if len(mine) > 1 and self.chance.random() < 0.5:
            approval, arguments = self.chance.choice(mine)
            return self.answer(approval, arguments)
        with concurrent.futures.ThreadPoolExecutor(len(mine) + 1) as together:
            runner = together.submit(self.process, "resume", THREAD)
            answers = [(approval, arguments, together.submit(self.process, *arguments)) for approval, arguments in mine]
        # Nobody writes any more: the journal may be read.
        if runner.result().killed:
            self.runner_died()
        else:
            self.runner_ended(runner.result())
        for approval, arguments, ended in answers:
            if ended.result().killed:
                self.counted += self.answers_in_journal(approval)
            else:
                self.recorded(approval, arguments, ended.result())


def choose(tally, chance):
    """The scenario that passes what is missing."""
    rare = {"before:aborted", "after:aborted", "before:run_finished", "after:run_finished"}
    rare |= {"before:user_message", "after:user_message", "before:configured", "after:configured"}
    missing = set(tally.missing())
    if missing and missing <= rare:
        return STOPS
    if missing and not missing & rare:
        return MAIN
    return chance.choice([MAIN, STOPS])


def work(worker, tally, program):
    chance = random.Random(f"{tally.options.seed} {worker}")

    def hasty(*arguments):
        person = HastyPerson(*arguments)
        person.chance = chance
        return person

    while not tally.over():
        scenario = choose(tally, chance)
        try:
            person = go_through(
                scenario, program, lambda folder: AtRandom(folder, tally, chance), person_of=hasty
            )
        except Exception as wrong:  # also what nobody thought of must not end one worker in silence
            with tally.lock:
                tally.faults.append("".join(traceback.format_exception(wrong)))
            return
        with tally.lock:
            tally.scenarios[scenario.name] += 1
            tally.sums["effects"] += sum(person.effects_seen.values())
            tally.sums["answers"] += len(person.told) + person.counted
            tally.sums["counted"] += person.counted
            tally.sums["unknown"] += person.unknown
            tally.sums["proved"] += person.proved


def read_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=20_311)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--hits", type=int, default=20)
    parser.add_argument("--stretch-ms", type=int, default=6)
    parser.add_argument("--limit-s", type=int, default=540)
    return parser.parse_args()


def windows_of(program):
    """What can be hit: the points that each command passes in runs without kills."""
    windows = collections.defaultdict(set)
    for scenario in ALL:
        for _, command, point, _ in without_kills(scenario, program):
            windows[command].add(point)
    return windows


def main():
    options = read_options()
    began = time.monotonic()
    tally = Tally(windows_of(options.program), options)
    print(f"seed {options.seed}: {len(tally.hits)} windows of {options.stretch_ms} ms", flush=True)
    threads = [threading.Thread(target=work, args=(i, tally, options.program)) for i in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name, count in sorted(tally.hits.items()):
        print(f"{name:22} {count:4} {'#' * min(count, 80)}")
    for fault in tally.faults:
        print(f"WRONG: {fault}")
    if not tally.enough():
        print(f"not hit {options.hits} times: {tally.missing()}")
    kills = tally.kills
    print(
        f"{sum(kills.values())} kills ({kills['time']} at a random time, {kills['window']} at a random time in an "
        f"awaited window), {tally.ended} processes ended by themselves; {dict(tally.scenarios)} brought to "
        f"their end; {tally.sums['effects']} effects, each once; {tally.sums['answers']} answers, none lost "
        f"({tally.sums['counted']} of killed processes); {tally.sums['unknown']} unknown outcomes resolved, "
        f"{tally.sums['proved']} proved by receipts; "
        f"{time.monotonic() - began:.0f} s"
    )
    return 0 if tally.enough() and not tally.faults else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as wrong:
        sys.exit(f"WRONG: {wrong}")
