"""What the tests of the program share: a folder of one's own, scripts for the model, runs with a deadline.

Nothing here knows how the program works. `ASSENT_PROGRAM` names it; it is run as a user would run it, with an
environment that holds nothing of the user who runs the tests.
"""

import contextlib
import dataclasses
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import tempfile
import termios
import time
import unittest
from collections.abc import Callable, Iterator
from pathlib import Path

PROGRAM = os.environ["ASSENT_PROGRAM"]
DEADLINE = 60.0  # seconds; a program that takes longer hangs
NOBODY = 65534

WAITING = 10
INTERRUPTED = 130


def call(name: str, arguments: object, call_id: str | None = "call_1") -> dict:
    """A call of the model. A text as arguments is what the model sends, byte for byte."""
    made = {"name": name, "arguments": arguments}
    return made if call_id is None else {"id": call_id, **made}


def turn(text: str, *calls: dict) -> dict:
    return {"text": text, "calls": list(calls)} if calls else {"text": text}


def write(path: str, content: str, call_id: str = "call_1") -> dict:
    return call("write_file", {"file_path": path, "content": content}, call_id)


def shell(command: str, call_id: str = "call_1") -> dict:
    return call("shell", {"command": command}, call_id)


@dataclasses.dataclass
class Done:
    """A run of the program that has ended."""

    status: int
    out: str
    err: str

    @property
    def json(self):
        """The one document on standard output."""
        return json.loads(self.out)

    @property
    def lines(self) -> list:
        """One document a line."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def result(self) -> dict:
        return self.lines[-1]

    @property
    def kind(self) -> str:
        """Kind of the error, of a command or of a run."""
        return self.lines[-1]["error"]["kind"]


class Running:
    """A run of the program that goes on."""

    def __init__(self, process: subprocess.Popen):
        self.process = process

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def end(self) -> Done:
        try:
            out, err = self.process.communicate(timeout=DEADLINE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            raise AssertionError(f"it does not end; so far:\n{out}\n{err}") from None
        return Done(self.process.returncode, out or "", err or "")


class Screen:
    """The program on a terminal: what it shows is read, keys are typed."""

    def __init__(self, command: list[str], env: dict[str, str], cwd: Path, ahead: str = ""):
        self.master, slave = pty.openpty()
        self.terminal = os.ttyname(slave)
        os.write(self.master, ahead.encode())  # typed before there is anything to see

        def take_terminal():
            os.setsid()
            # The terminal that is opened first by the leader of a session becomes its own.
            os.close(os.open(self.terminal, os.O_RDWR))

        self.process = subprocess.Popen(  # pylint: disable=subprocess-popen-preexec-fn
            command, stdin=slave, stdout=slave, stderr=slave, env=env, cwd=cwd, preexec_fn=take_terminal)
        os.close(slave)
        self.shown = ""
        self.seen = 0

    def read(self, wait: float) -> bool:
        """Reads what is there within `wait` seconds. False at the end."""
        if not select.select([self.master], [], [], wait)[0]:
            return True
        try:
            got = os.read(self.master, 65536)
        except OSError:  # the other side is closed
            return False
        self.shown += got.decode(errors="replace")
        return bool(got)

    def expect(self, text: str) -> str:
        """Waits for `text` after what was expected before; what came up to its end."""
        end = time.monotonic() + DEADLINE
        while (at := self.shown.find(text, self.seen)) < 0:
            if time.monotonic() > end or not self.read(0.5):
                raise AssertionError(f"{text!r} was never shown, but:\n{self.shown[self.seen:]}")
        before, self.seen = self.shown[self.seen:at + len(text)], at + len(text)
        return before

    def answer(self, question: str, text: str) -> None:
        """Types a line when `question` and the mark that invites to type are shown."""
        self.expect(question)
        self.expect("> ")
        self.type(text + "\n")

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def hang_up(self) -> None:
        os.close(self.master)
        self.master = -1

    def end(self) -> int:
        """Reads to the end; the exit status."""
        end = time.monotonic() + DEADLINE
        while self.master >= 0 and self.process.poll() is None and time.monotonic() < end:
            if not self.read(0.05):
                break
        while self.master >= 0 and select.select([self.master], [], [], 0)[0] and self.read(0):
            pass
        return self.process.wait(timeout=max(1.0, end - time.monotonic()))

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.master >= 0:
            os.close(self.master)

    def modes(self) -> list:
        return termios.tcgetattr(self.master)


def wait_until(true: Callable[[], object], what: str) -> None:
    """Polls until it is true; fails after the deadline."""
    end = time.monotonic() + DEADLINE
    while not true():
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {DEADLINE} seconds")
        time.sleep(0.01)


def taken(pid: int, number: int) -> bool:
    """Whether a signal that was sent to the process has been taken by it."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    pending = next(line for line in status.splitlines() if line.startswith("ShdPnd:"))
    return not int(pending.split()[1], 16) >> (number - 1) & 1


def lives(pid: int) -> bool:
    """Whether the process runs: what has ended and is not yet collected does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state not in "ZX"


class ProgramTest(unittest.TestCase):
    """A fresh folder with a workspace, a database and the user's folders."""

    maxDiff = None

    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="assent-cli-")).resolve()
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.workspace = self.root / "workspace"
        self.state = self.root / "state"
        self.config = self.root / "config"
        self.db = self.root / "db" / "gate.db"
        for folder in (self.workspace, self.db.parent, self.root / "home", self.root / "tmp"):
            folder.mkdir()
        self.env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LANG": "C.UTF-8",
                    "HOME": str(self.root / "home"), "TMPDIR": str(self.root / "tmp"),
                    "XDG_STATE_HOME": str(self.state), "XDG_CONFIG_HOME": str(self.config)}
        # Sanitizers are told how to report.
        self.env |= {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}
        self.program = PROGRAM

    # The program.

    def command(self, args: tuple, db: bool = True) -> list[str]:
        return [self.program, *(["--db", f"sqlite:{self.db}"] if db else []), *map(str, args)]

    def assent(self, *args, db: bool = True, **options) -> Done:
        """Runs the program on the folder's database (`db=False`: without the option) to its end."""
        return self.start(*args, db=db, **options).end()

    def start(self, *args, db: bool = True, env: dict | None = None, user: int | None = None, **options) -> Running:
        settings = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        if user is not None:
            settings |= {"user": user, "group": user, "extra_groups": []}
        process = subprocess.Popen(self.command(args, db), env=self.env | (env or {}), cwd=self.root,
                                   encoding="utf-8", errors="surrogateescape", **settings)
        self.addCleanup(self.stop, process)
        return Running(process)

    @staticmethod
    def stop(process: subprocess.Popen) -> None:
        if process.poll() is None:
            process.kill()
            process.communicate()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()

    @contextlib.contextmanager
    def screen(self, *args, env: dict | None = None, ahead: str = "") -> Iterator[Screen]:
        screen = Screen(self.command(args), self.env | {"TERM": "xterm", **(env or {})}, self.root, ahead)
        try:
            yield screen
        finally:
            screen.close()

    # Things to run it with.

    def script(self, *turns: dict, name: str = "script.json") -> str:
        """Writes a script; the value for --model."""
        path = self.root / name
        path.write_text(json.dumps({"turns": turns}, ensure_ascii=False), encoding="utf-8")
        return f"script:{path}"

    def run_args(self, *turns: dict, thread: str = "t") -> list[str]:
        return ["run", "please", "--thread", thread, "--workspace", str(self.workspace),
                "--model", self.script(*turns, name=f"{thread}.json")]

    def waiting(self, *calls: dict, thread: str = "t", options: tuple = ()) -> list[str]:
        """A thread that waits with these calls; the ids of its approvals, in order."""
        before = set(self.pending_ids())
        args = self.run_args(turn("I will.", *calls), turn("That is all."), thread=thread)
        done = self.assent(*args, *options)
        self.assert_status(done, WAITING)
        return [pending for pending in self.pending_ids() if pending not in before]

    def pending(self) -> list:
        return self.ok("--json", "pending").json

    def pending_ids(self) -> list[str]:
        return [approval["id"] for approval in self.pending()] if self.db.exists() else []

    def history(self, thread: str = "t") -> list:
        return self.ok("--json", "history", thread).json

    def events(self, thread: str = "t") -> list[str]:
        return [entry["event"] for entry in self.history(thread)]

    def file(self, path: str) -> Path:
        return self.workspace / path

    def other_user(self) -> int | None:
        """A user whom file modes bind: this one, or for root another one, who gets a program to run."""
        if os.geteuid() != 0:
            return None
        folder = self.root / "bin"
        folder.mkdir()
        for name in (Path(PROGRAM).name, "assent-exec"):
            shutil.copy(Path(PROGRAM).parent / name, folder / name)
        self.program = str(folder / Path(PROGRAM).name)
        self.root.chmod(0o755)
        return NOBODY

    # What must hold.

    def ok(self, *args, **options) -> Done:
        done = self.assent(*args, **options)
        self.assert_status(done, 0)
        return done

    def assert_status(self, done: Done, status: int) -> None:
        self.assertEqual(done.status, status, f"\nstandard output:\n{done.out}\nstandard error:\n{done.err}")

    def assert_fails(self, args: list | tuple, kind: str, words: str, status: int | None = None, **options) -> Done:
        """The same error as JSON and as one line for people; `words` are in its message."""
        status = status or (2 if kind == "usage" else 1)
        done = self.assent(*args, "--json", **options)
        self.assert_status(done, status)
        self.assertEqual(done.err, "")
        error = done.lines[-1]["error"]
        self.assertEqual(error["kind"], kind, error["message"])
        self.assert_message(error["message"], words)
        told = self.assent(*args, **options)
        self.assert_status(told, status)
        self.assertEqual(told.out, "")
        last = told.err.splitlines()[-1]
        self.assertTrue(last.startswith("assent: "), told.err)
        self.assert_message(last.removeprefix("assent: "), words)
        return done

    def assert_message(self, message: str, words: str) -> None:
        self.assertIn(words, message)
        self.assertNotIn("\n", message)
        self.assertEqual(message[:1], message[:1].lower(), message)
        self.assertNotRegex(message, r"[{}]\s*$|terminate|std::|CLI::|exception")


__all__ = ["DEADLINE", "INTERRUPTED", "WAITING", "Done", "ProgramTest", "Running", "Screen", "call", "json", "lives",
           "os", "shell", "shutil", "signal", "subprocess", "taken", "turn", "unittest", "wait_until", "write"]
