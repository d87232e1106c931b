"""Two of three runners on one PostgreSQL server are killed while they run threads: the third goes on with them.

    two_of_three.py PROGRAM SERVER_TOOL

Within twice the lease each thread that a killed runner held has a new event in its journal; answers that are given
between the kill and that time are all kept, and each command has run once at the end.
"""

import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import time

from folder import Wrong, need
from kill_on_postgres import World, resolve, world_pending

RUNNERS = 3
THREADS = 12
CALLS = 3
AT_ONCE = 4  # a runner: all of them are needed
LEASE_S = 3
SETTLE_S = 60


def command(thread, call):
    # Long enough that each runner has some under way.
    return f"sleep 0.5; echo {thread}.{call} >> effects.txt"


def begin(world, thread):
    turns = [{"text": f"Call {call}.",
              "calls": [{"id": f"c{call}", "name": "shell", "arguments": {"command": command(thread, call)}}]}
             for call in range(CALLS)] + [{"text": "That is all."}]
    script = world.root / f"{thread}.json"
    script.write_text(json.dumps({"turns": turns}), encoding="utf-8")
    ended = world.run(["run", "--thread", thread, "--model", f"script:{script}", "--workspace", str(world.workspace),
                       "go on"])
    need(ended.status == 10, f"{ended}")
    world.threads.append(thread)


def answer_all(world):
    """Every open approval; whose answers were told as recorded stands in `told`."""
    for approval in world_pending(world.run(["pending"])):
        if approval["kind"] == "unknown":
            resolve(world, approval)
            continue
        ended = world.run(["approve", approval["id"]])
        if ended.status == 0:
            world.told[approval["id"]] = (approval["thread"], approval["turn"])
        else:
            need(ended.error_kind() in ("conflict", "refused"), f"{ended}")


def held_by(world, pid):
    """What stands in the tables: which threads a process holds."""
    bin_folder = subprocess.run(["pg_config", "--bindir"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    told = subprocess.run(
        [os.path.join(bin_folder, "psql"), world.url, "--no-align", "--tuples-only", "--command",
         "SELECT thread.id FROM assent.thread JOIN assent.runner ON runner.no = thread.runner"
         f" WHERE runner.pid = {int(pid)} AND thread.status = 0"],
        stdout=subprocess.PIPE, text=True, check=True)
    return set(told.stdout.split())


def history(world, thread):
    ended = world.run(["history", thread])
    need(ended.status == 0, f"the history does not hold: {ended}")
    return json.loads(ended.out)


def wait(true, seconds, what):
    until = time.monotonic() + seconds
    while not true():
        need(time.monotonic() < until, f"{what}: not within {seconds} s")
        time.sleep(0.05)


def go(world, runners):
    for number in range(THREADS):
        begin(world, f"t{number}")
    answer_all(world)
    for _ in range(RUNNERS):
        runners.append(world.start(["work", "--lease", str(LEASE_S), "--at-once", str(AT_ONCE)]))
    victims = runners[:2]

    def all_work():
        return all(held_by(world, runner.pid) for runner in runners)
    wait(all_work, SETTLE_S, "each runner holds a thread")
    for victim in victims:
        victim.kill()
    died = time.monotonic()
    held = set().union(*(held_by(world, victim.pid) for victim in victims))
    lengths = {thread: len(history(world, thread)) for thread in held}
    answers_meanwhile = len(world.told)
    went_on = {}
    while set(went_on) != held and time.monotonic() < died + 2 * LEASE_S:
        answer_all(world)
        for thread in held - set(went_on):
            # An answer alone is nothing that a runner did.
            if any(event["event"] not in ("answered", "resolved") for event in history(world, thread)[lengths[thread]:]):
                went_on[thread] = time.monotonic() - died
    answers_meanwhile = len(world.told) - answers_meanwhile
    need(set(went_on) == held, f"not gone on with after {2 * LEASE_S} s: {sorted(held - set(went_on))}")

    def all_done():
        answer_all(world)
        states = {one["id"]: one["state"] for one in world_pending(world.run(["threads"]))}
        return all(states[thread] == "done" for thread in world.threads)
    wait(all_done, SETTLE_S, "every thread comes to its end")
    return went_on, answers_meanwhile


def check(world):
    seen = collections.Counter(world.lines())
    wanted = {f"{thread}.{call}": 1 for thread in world.threads for call in range(CALLS)}
    need(seen == wanted, f"commands ran otherwise than once: {(seen - collections.Counter(wanted)) or 'too seldom'}")
    answered = {(thread, event["call"]["turn"]) for thread in world.threads for event in history(world, thread)
                if event["event"] == "answered"}
    need(set(world.told.values()) <= answered, "an answer that was told as recorded is not there")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("server")
    parser.set_defaults(seed=1)
    world = World(parser.parse_args())
    runners = []
    kept = f" (folder {world.root} is kept)"
    try:
        went_on, meanwhile = go(world, runners)
        check(world)
        print(f"lease {LEASE_S} s: {len(went_on)} threads of two killed runners went on after "
              f"{min(went_on.values()):.1f} to {max(went_on.values()):.1f} s; {meanwhile} answers given meanwhile, all "
              f"kept; {len(world.threads) * CALLS} commands, each once; {len(world.doubtful)} asked about")
        kept = ""
    except Wrong as wrong:
        sys.exit(f"WRONG: {wrong}{kept}")
    finally:
        for runner in runners:
            runner.kill()
            runner.communicate()
        world.tool("stop")
    shutil.rmtree(world.root, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
