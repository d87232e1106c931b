"""Kills the real program at named points and cuts the power of the disk under its database in the same moment.

    power_on_mount.py PROGRAM [--cuts N]

The database stands on an ext4 of its own, in a file that is mounted (a real file system; no test double). Cutting
its power is what the kernel offers for that: it goes down without writing out what nobody synced, and whatever is
asked of it afterwards is an I/O error. Then it is mounted again, as after a restart, and a person goes on with the
normal program until all is done.

It needs root and loop devices; where they are not permitted it says so and ends with status 77.
"""

import argparse
import contextlib
import fcntl
import os
import struct
import subprocess
import sys
import time

from folder import PATIENCE_S, Folder, Wrong, need
from kill_at_points import AtPoints, kill_at_each, kill_once, print_table, without_kills
from scenario import ALL

SKIPPED = 77
OWN_MOUNTS = "ASSENT_TEST_OWN_MOUNTS"
IMAGE_BYTES = 32 << 20
# <linux/ext4.h>: EXT4_IOC_SHUTDOWN, and that the log is not flushed first.
SHUTDOWN = 0x8004587D
WITHOUT_FLUSHING = struct.pack("I", 2)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{command[0]}: {done.stderr.strip()}")


class Disk:
    """An ext4 in a file, mounted at `where`."""

    def __init__(self, image, where):
        self.image = image
        self.where = where
        image.touch()
        os.truncate(image, IMAGE_BYTES)
        run("mkfs.ext4", "-q", str(image))
        where.mkdir()
        self.mount()

    def mount(self):
        run("mount", "-o", "loop", str(self.image), str(self.where))

    def unmount(self):
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                return run("umount", str(self.where))
            except OSError:  # a helper of a killed program still has a file open
                need(time.monotonic() < deadline, "somebody still uses the disk")
                time.sleep(0.01)

    def cut_power(self):
        folder = os.open(self.where, os.O_RDONLY)
        try:
            fcntl.ioctl(folder, SHUTDOWN, WITHOUT_FLUSHING)
        finally:
            os.close(folder)


class FolderOnDisk(Folder):
    """The database and its receipts stand on a disk of their own; the workspace on one whose power stays."""

    def __init__(self, program, turns):
        super().__init__(program, turns)
        try:
            self.disk = Disk(self.root / "image", self.root / "disk")
        except OSError:
            super().remove()
            raise
        self.db = self.disk.where / "assent.db"

    def restart(self):
        self.disk.cut_power()
        try:
            (self.disk.where / "new").touch()
        except OSError:
            pass
        else:
            raise Wrong("the disk still takes what is written")
        self.wait_until_tools_are_gone()
        self.disk.unmount()
        self.disk.mount()

    def remove(self):
        self.disk.unmount()
        super().remove()


class PowerIsCut(AtPoints):
    def __call__(self, number, arguments):
        ended = super().__call__(number, arguments)
        if ended.killed:
            self.folder.restart()
        return ended


def why_not():
    """What is not permitted here; nothing if a disk can be made and its power cut."""
    folder = None
    try:
        folder = FolderOnDisk("", [])
        folder.restart()
    except OSError as error:
        return str(error)
    finally:
        if folder:
            with contextlib.suppress(OSError):
                folder.remove()
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--cuts", type=int, default=1_000_000)
    options = parser.parse_args()
    if problem := why_not():
        print(f"no real disk was cut, it is not permitted here: {problem}")
        return SKIPPED
    began = time.monotonic()
    points = [(scenario, *point) for scenario in ALL for point in without_kills(scenario, options.program)]
    cases = points[:: max(1, len(points) // options.cuts)]
    rows, faults, starts = kill_at_each(
        cases, lambda scenario, *point: kill_once(scenario, options.program, *point, PowerIsCut, FolderOnDisk)
    )
    print_table(rows)
    for fault in faults:
        print(f"WRONG: {fault}")
    verdict = f"{len(faults)} went wrong" if faults else "0 approvals lost, 0 tools run twice"
    print(
        f"{len(cases)} times the power of a real ext4 was cut, at {len(points)} points: {verdict} ({starts} effects, each "
        f"once); {time.monotonic() - began:.0f} s"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    if os.getuid() != 0:
        print("no real disk was cut, only root may mount one")
        sys.exit(SKIPPED)
    if OWN_MOUNTS not in os.environ:
        command = ["unshare", "--mount", sys.executable, "-B", *sys.argv]
        os.execvpe(command[0], command, os.environ | {OWN_MOUNTS: "1"})
    try:
        sys.exit(main())
    except Wrong as wrong:
        sys.exit(f"WRONG: {wrong}")
