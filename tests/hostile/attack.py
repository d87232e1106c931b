"""What a hostile agent could have a person approve: a program that tries to decide in the person's place.

    attack.py PHASE        PHASE is `decide` or `destroy`; run by the shell tool in the workspace

`targets.json` in the workspace tells it everything an attacker could guess or look up. Each function whose
name begins with `try_` is one attempt; it returns whether it worked, and an error means that it did not.
What came of each goes to `PHASE.json`. It spares no effort, but what works is undone where others need it.
"""

import ctypes
import fcntl
import json
import os
import pty
import shutil
import signal
import stat
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

TARGETS = json.loads(Path("targets.json").read_text(encoding="utf-8"))
PROGRAM, VICTIM, DATABASE = TARGETS["program"], TARGETS["victim"], TARGETS["database"]
CLOSED_FILES, CLOSED_FOLDERS = TARGETS["closed_files"], TARGETS["closed_folders"]
TERMINAL = TARGETS["terminal"]
LIBC = ctypes.CDLL(None, use_errno=True)
HERE = Path.cwd()


# What the attempts share.

def command(*args: str, program: str = PROGRAM) -> list[str]:
    return [program, "--db", f"sqlite:{DATABASE}", *args]


def run(args: list[str], **options) -> subprocess.CompletedProcess:
    return subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False, **options)


def succeeds(args: list[str]) -> bool:
    return run(args).returncode == 0


def decides(args: list[str], **options) -> bool:
    """Whether it got so far that only what was decided before could be in its way."""
    done = run([*args, "--json"], **options)
    return done.returncode == 0 or any(f'"kind": "{kind}"'.encode() in done.stdout
                                       for kind in ("conflict", "usage", "model"))


def approve(*before: str, program: str = PROGRAM) -> bool:
    return decides([*before, *command("approve", VICTIM, program=program)])


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[1])


def helper_and_runner() -> tuple[int, int]:
    pid = os.getppid()
    while pid > 1:
        program = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]
        if program.endswith(b"/assent-exec"):
            return pid, parent(pid)
        pid = parent(pid)
    raise RuntimeError("no helper among the parents")


HELPER, RUNNER = helper_and_runner()


def any_works(attempt, things) -> bool:
    """Whether it works on one of them."""
    worked = False
    for thing in things:
        try:
            worked = bool(attempt(thing)) or worked
        except OSError:
            pass
    return worked


def system_call(name: str, *args) -> int:
    """A function of the C library; throws what it says no with."""
    result = getattr(LIBC, name)(*args)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def in_child(attempt) -> bool:
    """Whether it works in a process of its own, which it may spoil."""
    pid = os.fork()
    if pid == 0:
        try:
            attempt()
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(pid, 0)[1] == 0


def reads(path: str) -> bool:
    with open(path, "rb", buffering=0) as file:
        return bool(file.read(16))


# Deciding.

def try_approve_by_its_name():
    folder, name = os.path.split(PROGRAM)
    return decides(["sh", "-c", f"{name} --db sqlite:{DATABASE} approve {VICTIM} $0"],
                   env=os.environ | {"PATH": folder + ":" + os.environ["PATH"]})


def try_approve_by_its_full_path():
    return approve()


def try_approve_by_a_renamed_copy():
    copy = HERE / "harmless"
    shutil.copy(PROGRAM, copy)
    return approve(program=str(copy))


def try_approve_with_an_empty_environment():
    return approve("env", "-i")


def try_approve_in_a_session_of_its_own():
    return approve("setsid", "--wait")


def try_approve_on_a_terminal_of_its_own():
    pid, master = pty.fork()
    if pid == 0:
        os.execv(PROGRAM, command("approve", VICTIM))
    try:
        while os.read(master, 1024):
            pass
    except OSError:
        pass
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def try_approve_as_a_daemon():
    """Forked twice, in another session, its parents gone."""
    said = HERE / "daemon-said"
    if os.fork() == 0:
        os.setsid()
        child = os.getpid()
        if os.fork() == 0:
            while os.getppid() == child:
                time.sleep(0.01)
            part = HERE / "daemon-part"
            part.write_text(str(approve()), encoding="utf-8")
            part.rename(said)
        os._exit(0)
    os.wait()
    end = time.monotonic() + 30
    while not said.exists() and time.monotonic() < end:
        time.sleep(0.01)
    return said.read_text(encoding="utf-8") == "True"


def try_approve_where_no_parent_is_seen():
    """A name space of processes: the first in it has no parent."""
    return approve("unshare", "--user", "--map-root-user", "--pid", "--fork") or approve("unshare", "--pid", "--fork")


def try_approve_without_the_mark():
    return approve("prlimit", "--msgqueue=unlimited") or \
        approve("unshare", "--user", "--map-root-user", "--pid", "--fork", "prlimit", "--msgqueue=unlimited")


def try_deny():
    return decides(command("deny", VICTIM))


def try_edit():
    return decides(command("edit", VICTIM, "--set", 'command="touch edited"'))


def try_respond():
    return decides(command("respond", VICTIM, "--message", "done"))


def try_resume_with_answers():
    return decides(command("resume", "victim", "--answers", "approve"))


def try_resume_with_looser_rules():
    return decides(command("resume", "victim", "--allow", "*"))


def try_abort():
    return decides(command("abort", "victim"))


def try_a_run_that_aborts():
    return decides(command("run", "hello", "--thread", "victim", "--abort-open", "--answers", "approve"))


def try_the_demo():
    return succeeds([PROGRAM, "--db", "memory:", "demo", "--answers", "approve,approve"])


# Reading what is closed.

def try_open():
    return any_works(reads, CLOSED_FILES)


def try_copy():
    return any_works(lambda path: shutil.copy(path, HERE / "stolen") and reads(str(HERE / "stolen")), CLOSED_FILES)


def try_open_through_a_link():
    def through(path):
        (HERE / "way-in").unlink(missing_ok=True)
        (HERE / "way-in").symlink_to(path)
        return reads(str(HERE / "way-in"))
    return any_works(through, CLOSED_FILES)


def try_open_through_a_descriptor():
    def through(path):
        fd = os.open(path, os.O_PATH)
        return reads(f"/proc/self/fd/{fd}")
    return any_works(through, CLOSED_FILES)


def try_open_through_a_parent():
    return any_works(reads, [f"/proc/{pid}/root{path}" for path in CLOSED_FILES for pid in (RUNNER, HELPER)])


def try_open_by_handle():
    """A number instead of a name."""
    def by_handle(path):
        handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 136)
        mount = ctypes.c_int()
        system_call("name_to_handle_at", -100, path.encode(), handle, ctypes.byref(mount), 0)
        fd = system_call("open_by_handle_at", os.open(HERE, os.O_RDONLY), handle, os.O_RDONLY)
        return bool(os.read(fd, 16))
    return any_works(by_handle, CLOSED_FILES)


def try_list():
    return any_works(lambda path: os.listdir(path) or True, [*CLOSED_FOLDERS, str(Path(DATABASE).parent)])


def try_hard_link():
    def link(path):
        os.link(path, HERE / "hard")
        (HERE / "hard").unlink()
        return True
    return any_works(link, CLOSED_FILES)


def try_mount():
    folder = str(Path(DATABASE).parent)
    (HERE / "mounted").mkdir(exist_ok=True)
    line = f"mount --bind {folder} mounted && cat mounted/{Path(DATABASE).name} > /dev/null"
    seen = "mount -t tmpfs none mounted"
    try:
        return any(succeeds([*before, "sh", "-c", text]) for text in (line, seen)
                   for before in ([], ["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"]))
    finally:
        while succeeds(["umount", "mounted"]):
            pass


def try_the_disk():
    device = os.stat(DATABASE).st_dev
    os.mknod(HERE / "disk", stat.S_IFBLK | 0o600, device)
    return reads(str(HERE / "disk"))


# Other processes.

def try_ptrace():
    def attach(pid):
        system_call("ptrace", 0x4206, pid, None, None)  # PTRACE_SEIZE, which does not stop it; over when we end
        return True
    return any_works(attach, (RUNNER, HELPER))


def try_read_memory():
    """Where there is nothing to read is told only to who may read."""
    def read(pid):
        class Piece(ctypes.Structure):
            _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
        mine = Piece(ctypes.cast(ctypes.create_string_buffer(8), ctypes.c_void_p), 8)
        try:
            system_call("process_vm_readv", pid, ctypes.byref(mine), 1, ctypes.byref(Piece(4096, 8)), 1, 0)
        except OSError as error:
            return error.errno == 14  # EFAULT
        return True
    return any_works(read, (RUNNER, HELPER))


def try_read_memory_as_a_file():
    return any_works(lambda pid: os.open(f"/proc/{pid}/mem", os.O_RDONLY) >= 0, (RUNNER, HELPER))


def try_read_maps():
    return any_works(reads, [f"/proc/{pid}/maps" for pid in (RUNNER, HELPER)])


def try_read_environment_of_parents():
    return any_works(reads, [f"/proc/{pid}/environ" for pid in (RUNNER, HELPER)])


def try_take_descriptors():
    names = [f"/proc/{pid}/fd/{fd}" for pid in (RUNNER, HELPER) for fd in range(32)]
    return any_works(lambda name: os.open(name, os.O_RDONLY | os.O_NONBLOCK) >= 0, names) or any_works(os.readlink, names)


def try_take_descriptors_by_number():
    def take(pid):
        fd = os.pidfd_open(pid)
        return any_works(lambda number: system_call("syscall", 438, fd, number, 0) >= 0, range(32))
    return any_works(take, (RUNNER, HELPER))


def try_enter_name_spaces():
    return any(in_child(lambda pid=pid: system_call("setns", os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY), 0))
               for pid in (RUNNER, HELPER))


def try_signal():
    return any_works(lambda pid: os.kill(pid, signal.SIGWINCH) is None, (RUNNER,))


def try_keys():
    own = Path("/proc/self/environ").read_bytes() + json.dumps(dict(os.environ)).encode()
    return b"sk-secret" in own


# The terminal of the person who answers.

def try_write_to_the_terminal():
    return any_works(lambda path: os.write(os.open(path, os.O_WRONLY | os.O_NOCTTY), b"FORGED"), (TERMINAL, "/dev/tty"))


def try_read_the_terminal():
    return any_works(lambda path: os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK) >= 0, (TERMINAL, "/dev/tty"))


def try_push_keystrokes():
    def push(path):
        fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(fd, termios.TIOCSTI, b"\0")
        return True
    return any_works(push, (TERMINAL, "/dev/tty"))


def try_steal_the_terminal():
    def steal():
        os.setsid()
        fcntl.ioctl(os.open(TERMINAL, os.O_RDWR | os.O_NONBLOCK), termios.TIOCSCTTY, 1)
        fcntl.ioctl(os.open("/dev/tty", os.O_RDWR), termios.TIOCSTI, b"\0")
    return in_child(steal)


def try_push_through_a_parent():
    return any_works(lambda name: os.write(os.open(name, os.O_WRONLY | os.O_NOCTTY), b"FORGED"),
                     [f"/proc/{RUNNER}/fd/{fd}" for fd in (0, 1, 2)])


# Destroying and replacing, from what hurts least to what hurts most.

def destroy_append():
    def append(path):
        with open(path, "ab") as file:
            file.flush()
        return True
    return any_works(append, CLOSED_FILES)


def destroy_create():
    return any_works(lambda folder: (Path(folder) / "planted").write_text("x", encoding="utf-8"), CLOSED_FOLDERS) or \
        any_works(lambda path: Path(path).write_text("x", encoding="utf-8"), [f"{DATABASE}-journal"])


def destroy_change_mode():
    return any_works(lambda path: os.chmod(path, 0o600) is None, CLOSED_FILES)


def destroy_truncate():
    return any_works(lambda path: os.truncate(path, os.stat(path).st_size) is None, CLOSED_FILES)


def destroy_rename():
    def there_and_back(path):
        os.rename(path, path + "-moved")
        os.rename(path + "-moved", path)
        return True
    return any_works(there_and_back, CLOSED_FILES + CLOSED_FOLDERS)


def destroy_replace():
    def replace(path):
        (HERE / "forged").write_text("forged", encoding="utf-8")
        os.rename(HERE / "forged", path)
        return True
    return any_works(replace, CLOSED_FILES)


def destroy_remove():
    return any_works(lambda path: os.unlink(path) is None, CLOSED_FILES)


def main() -> None:
    phase = sys.argv[1]
    prefix = {"decide": "try_", "destroy": "destroy_"}[phase]
    said = {}
    for name, attempt in list(globals().items()):
        if not name.startswith(prefix):
            continue
        try:
            worked, why = bool(attempt()), ""
        except (OSError, subprocess.SubprocessError) as error:
            worked, why = False, str(error)
        said[name.removeprefix(prefix).replace("_", " ")] = {"worked": worked, "why": why}
    (HERE / f"{phase}.json").write_text(json.dumps(said), encoding="utf-8")


main()
