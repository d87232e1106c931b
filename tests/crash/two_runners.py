"""Two processes on one thread, and what a killed one leaves behind.

    two_runners.py PROGRAM

  * two `resume` of one thread at once: one runs it, the other is told `leased`, nothing runs twice
  * `resume` right after SIGKILL takes the thread over at once, there is no timer to wait for
  * the processes of a shell call die with the program that started them
"""

import collections
import signal
import sys
import time

from folder import PATIENCE_S, THREAD, Folder, Wrong, need

ROUNDS = 20
COMMAND = 'echo ran >> "@/effects.txt"; touch "@/started"; while [ ! -e "@/go" ]; do sleep 0.01; done'


def waiting_folder(program, command):
    """A folder with one approved shell call that nobody has started."""
    call = {"id": "one", "name": "shell", "arguments": {"command": command}}
    folder = Folder(program, [{"text": "A command.", "calls": [call]}, {"text": "That is all."}])
    run = folder.run(["run", "--thread", THREAD, *folder.model(), "go on"])
    need(run.status == 10, f"{run}")
    approved = folder.run(["approve", run.json["interrupts"][0]["id"]])
    need(approved.status == 0, f"{approved}")
    return folder


def wait_for(condition, what):
    began = time.monotonic()
    while not condition():
        need(time.monotonic() - began < PATIENCE_S, what)
        time.sleep(0.001)
    return (time.monotonic() - began) * 1000


def runs(folder):
    return (folder.workspace / "effects.txt").read_text(encoding="utf-8").count("ran")


def two_at_once(program):
    """Who of the two runs is open; the tool does not end before the other was told."""
    folder = waiting_folder(program, COMMAND)
    arguments = ["resume", THREAD]
    both = [folder.start(arguments), folder.start(arguments)]
    wait_for(lambda: any(process.poll() is not None for process in both), "both run the thread")
    winner = 0 if both[0].poll() is None else 1
    loser = folder.end(both[1 - winner], arguments)
    need(loser.status == 1 and loser.error_kind() == "leased", f"not leased: {loser}")
    need(f"process {both[winner].pid} " in loser.json["error"]["message"], f"does not say who: {loser}")
    (folder.workspace / "go").touch()
    won = folder.end(both[winner], arguments)
    need(won.status == 0 and won.json["result"] == "done", f"{won}")
    need(runs(folder) == 1, f"the tool ran {runs(folder)} times")
    need(folder.run(["history", THREAD]).status == 0, "the history does not hold")
    folder.remove()
    return winner


def killed_and_resumed(program):
    """How long the next `resume` took, in milliseconds. The tool of the killed one still dies then."""
    folder = waiting_folder(program, COMMAND)
    process = folder.start(["resume", THREAD])
    wait_for((folder.workspace / "started").exists, "the tool was not started")
    process.send_signal(signal.SIGKILL)
    killed = folder.end(process, ["resume", THREAD])
    began = time.monotonic()
    resumed = folder.run(["resume", THREAD])
    took = (time.monotonic() - began) * 1000
    need(killed.killed, f"{killed}")
    need(resumed.status == 10, f"not taken over at once: {resumed}")
    (unknown,) = resumed.json["interrupts"]
    need(unknown["kind"] == "unknown" and str(process.pid) in unknown["process"], f"{unknown}")
    need(folder.run(["resolve", unknown["id"], "--done", "it ran"]).status == 0, "not resolved")
    done = folder.run(["resume", THREAD])
    need(done.json["result"] == "done" and runs(folder) == 1, f"{done}")
    folder.wait_until_tools_are_gone()
    folder.remove()
    return took


def tool_dies_with_program(program):
    """How long the processes of a shell call outlived the program, in milliseconds."""
    # One in the foreground, one in a session of its own: both are below the helper.
    command = 'sh -c "sleep 600; : @" & setsid sh -c "sleep 600; : @" & touch "@/started"; sh -c "sleep 600; : @"; :'
    folder = waiting_folder(program, command)
    process = folder.start(["resume", THREAD])
    wait_for((folder.workspace / "started").exists, "the tool was not started")
    wait_for(lambda: len(folder.tool_processes()) >= 5, "the helper, its shell and three more are not there")
    process.send_signal(signal.SIGKILL)
    need(folder.end(process, ["resume", THREAD]).killed, "not killed")
    took = wait_for(lambda: not folder.tool_processes(), f"{folder.tool_processes()} outlived the program")
    folder.remove()
    return took


def main():
    program = sys.argv[1]
    winners = collections.Counter(two_at_once(program) for _ in range(ROUNDS))
    print(f"two at once, {ROUNDS} times: the first started won {winners[0]}, the other {winners[1]}; ", end="")
    print(f"{ROUNDS} were told leased, nothing ran twice")
    took = sorted(killed_and_resumed(program) for _ in range(ROUNDS))
    print(f"resume after SIGKILL, {ROUNDS} times: ", end="")
    print(f"{took[len(took) // 2]:.0f} ms in the middle, {took[-1]:.0f} ms at most")
    took = sorted(tool_dies_with_program(program) for _ in range(5))
    print(f"tools of a killed program, 5 times: gone after {took[2]:.0f} ms in the middle, {took[-1]:.0f} ms at most")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as wrong:
        sys.exit(f"WRONG: {wrong}")
