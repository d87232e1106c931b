"""Kills the runner around one command, with and without the command's helper, and lets two take the thread over.

    kill_around_helper.py PROGRAM [--seed N] [--kills N]

First at every named point of the runner and of the helper, then at random times. Whatever is recorded must
fit what happened: an outcome that was proved, its whole effect, once; one that is unknown, whatever a person
finds; a call that was given back, none.
"""

import argparse
import collections
import concurrent.futures
import random
import sys
import time

from folder import THREAD, Folder, Wrong, need
from scenario import in_flight

TURNS = [
    {"text": "A command.", "calls": [{"id": "one", "name": "shell", "arguments": {
        "command": 'echo begun >> "@/effects.txt"; sleep 0.03; echo ended >> "@/effects.txt"; echo told'}}]},
    {"text": "That is all."},
]
RESULT = "stdout:\ntold\nexit status: 0"
WHOLE = ["begun", "ended"]

# Where, who dies, and what may come of it.
AT_RUNNER = [(point, "program", allowed) for point, allowed in (
    ("after:claimed", {"unknown"}),
    ("tool:start", {"unknown"}),
    ("shell:before", {"unknown"}),
    # The helper may have begun, or see that it has to begin nothing any more.
    ("shell:spawned", {"unknown", "released", "proved"}),
    ("tool:end", {"proved"}),
    ("before:finished", {"proved"}),
)]
AT_HELPER = [(point, who, allowed) for point, of_runner, of_both in (
    ("prepared", {"released"}, {"unknown"}),
    # On a loaded machine the command may end before the helper comes to see that its runner is dead.
    ("start", {"unknown", "proved"}, {"unknown"}),
    ("started", {"unknown", "proved"}, {"unknown"}),
    ("ended", {"proved"}, {"unknown"}),
    ("receipt:written", {"proved"}, {"unknown"}),
    ("receipt:named", {"proved"}, {"proved"}),
    ("receipt", {"proved"}, {"proved"}),
    ("reported", {"proved"}, {"proved"}),
) for who, allowed in (("runner", of_runner), ("both", of_both))]


def effects(folder):
    there = folder.workspace / "effects.txt"
    return there.read_text(encoding="utf-8").split() if there.exists() else []


def became_of(folder):
    """What became of the first start: exactly one of released, proved (finished), unknown (doubted)."""
    events = folder.journal()
    starts = [start["attempt"] for event in events if event["event"] == "claimed" for start in event["starts"]]
    ends = [event for event in events if event["event"] in ("finished", "doubted", "released")
            and event["attempt"] == starts[0]]
    need(len(ends) == 1, f"one start, and {[event['event'] for event in ends]}")
    if ends[0]["event"] == "finished":
        need((ends[0]["outcome"], ends[0]["result"]["text"]) == ("done", RESULT), f"recorded: {ends[0]}")
    return {"finished": "proved", "doubted": "unknown"}.get(ends[0]["event"], ends[0]["event"])


def taken_over_by_two(folder):
    """Two take the thread at once; one of them may be told that the other has it."""
    with concurrent.futures.ThreadPoolExecutor(2) as together:
        both = [together.submit(folder.run, ["resume", THREAD]) for _ in range(2)]
    ended = [one.result() for one in both]
    for one in ended:
        need(one.status in (0, 10) or one.error_kind() == "leased", f"{one}")
    need(any(one.status in (0, 10) for one in ended), f"nobody could take the thread: {ended[0]}; {ended[1]}")


def settle(folder, seen):
    """A person looks, says how it ended, and goes on. What must be there in the end."""
    last = folder.run(["resume", THREAD])
    open_now = last.json.get("interrupts", [])
    if not open_now:
        need(last.status == 0, f"{last}")
        return WHOLE
    need(last.status == 10 and open_now[0]["kind"] == "unknown", f"{last}")
    again = not seen
    how = ["--retry"] if again else ["--done", "I saw it"]
    resolved = folder.run(["resolve", open_now[0]["id"], *how])
    need(resolved.status == 0, f"{resolved}")
    last = folder.run(["resume", THREAD])
    need(last.status == 0, f"{last}")
    return WHOLE if again else seen


def check_end(found, seen):
    """After the dead runner, and before anybody goes on."""
    if found == "proved":
        need(seen == WHOLE, f"proved, and the effect is {seen}")
    if found == "unknown":
        need(seen in ([], ["begun"], WHOLE), f"the effect is {seen}")
    if found == "released":
        need(seen == WHOLE, f"given back, started again, and the effect is {seen}")


def go(program, kill):
    """One folder, one kill, two who take over, and a person."""
    folder = Folder(program, TURNS)
    command = ["run", "--thread", THREAD, *folder.model(), "--allow", "shell", "go on"]
    try:
        kill(folder, command)
        events = folder.journal()
        if not any(event["event"] == "user_message" for event in events):
            folder.remove()
            return "not begun"
        lost = in_flight(events)
        taken_over_by_two(folder)
        folder.wait_until_tools_are_gone()
        found, seen = became_of(folder) if lost else "nothing lost", effects(folder)
        check_end(found, seen)
        wanted = settle(folder, seen)
        need(effects(folder) == wanted, f"{found}, in the end the effect is {effects(folder)}")
        need(folder.run(["history", THREAD]).status == 0, "the history does not hold")
        need(not list(folder.root.glob("assent.db-receipts/*")), "receipts are left over")
    except Wrong as wrong:
        raise Wrong(f"{wrong} (folder {folder.root} is kept)") from wrong
    folder.remove()
    return found


def kill_at(point, who):
    names = {"ASSENT_CRASH_AT": f"{point}:1"}
    if who != "program":
        names = {"ASSENT_HELPER_POINT": point, "ASSENT_HELPER_KILLS": who}

    def kill(folder, command):
        ended = folder.run(command, names)
        need(ended.killed, f"was not killed: {ended}")

    return kill


def kill_after(seconds):
    def kill(folder, command):
        process = folder.start(command)
        until = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < until:
            time.sleep(0.0005)
        process.kill()
        folder.end(process, command)

    return kill


def seconds_of_a_run(program):
    began = time.monotonic()
    found = go(program, lambda folder, command: folder.run(command))
    need(found == "nothing lost", f"without a kill: {found}")
    return (time.monotonic() - began) / 2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=20_311)
    parser.add_argument("--kills", type=int, default=60)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    began = time.monotonic()
    faults = []
    totals = collections.Counter()

    def case(name, kill, allowed=None):
        try:
            found = go(options.program, kill)
            need(allowed is None or found in allowed, f"{found}, not {allowed}")
        except Wrong as wrong:
            faults.append(f"{name}: {wrong}")
            return
        totals[found] += 1
        if allowed:
            print(f"{name:32} {found}", flush=True)

    for point, who, allowed in AT_RUNNER + AT_HELPER:
        case(f"{point} ({who})", kill_at(point, who), allowed)
    length = seconds_of_a_run(options.program)
    print(f"seed {options.seed}: {options.kills} kills within {length:.2f} s")
    for number in range(options.kills):
        case(f"random kill {number}", kill_after(chance.uniform(0, length)))
    for fault in faults:
        print(f"WRONG: {fault}")
    lost = totals["proved"] + totals["released"] + totals["unknown"]
    print(
        f"{lost} runners died while a command was claimed, which without receipts are {lost} unknown outcomes: "
        f"{totals['proved']} are proved, {totals['released']} given back, {totals['unknown']} unknown; "
        f"{totals['nothing lost'] + totals['not begun']} died before or after; {len(faults)} went wrong; "
        f"{time.monotonic() - began:.0f} s"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as wrong:
        sys.exit(f"WRONG: {wrong}")
