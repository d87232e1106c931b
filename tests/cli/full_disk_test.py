"""A disk without room or that takes nothing, a real one: what cannot be stored is told, nothing runs twice and nothing is lost.

The file system is one in memory of 2 MB, in a mount namespace of this test's own.
"""

import os
import shutil
import subprocess
import sys

from program import WAITING, ProgramTest, shell, turn, unittest, write

OWN_MOUNTS = "ASSENT_TEST_OWN_MOUNTS"
FILL = "dd if=/dev/zero of=fill bs=4k 2>/dev/null"


class FullDisk(ProgramTest):
    def setUp(self):
        super().setUp()
        self.disk = self.root / "disk"
        self.disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", self.disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", self.disk], check=True)
        shutil.rmtree(self.workspace)
        self.workspace = self.disk / "workspace"
        self.workspace.mkdir()
        (self.disk / "state").mkdir(mode=0o700)
        self.db = self.disk / "state" / "assent.db"
        self.env["ASSENT_DB"] = f"sqlite:{self.db}"

    def fill(self):
        subprocess.run(["sh", "-c", FILL], cwd=self.workspace, check=False)

    def make_room(self):
        self.file("fill").unlink()

    def assert_full(self, *args: str):
        done = self.assent(*args, "--json")
        self.assert_status(done, 1)
        self.assertEqual(done.kind, "database")
        self.assertIn("full", done.lines[-1]["error"]["message"])

    def test_while_an_outcome_is_stored(self):
        # An outcome so long that the log of the database must grow for it.
        [approval] = self.waiting(shell(f"echo ran >>ran; {FILL}; head -c 200000 /dev/zero | tr '\\0' x"))
        self.ok("approve", approval)
        self.assert_full("resume", "t")
        self.assertEqual(self.file("ran").read_text(), "ran\n")
        self.make_room()

        self.assert_status(self.assent("resume", "t"), WAITING)
        [unknown] = self.pending()
        self.assertEqual(unknown["kind"], "unknown")
        self.ok("resolve", unknown["id"], "--done", "it ran")
        done = self.assent("resume", "t", "--json")
        self.assert_status(done, 0)
        self.assertEqual(done.result["calls"][0]["outcome"], "done")
        self.assertEqual(self.file("ran").read_text(), "ran\n")

    def test_while_an_answer_is_stored(self):
        [approval] = self.waiting(write("a.txt", "as approved\n"))
        self.fill()
        self.assert_full("approve", approval)
        self.make_room()
        self.assertEqual(self.pending_ids(), [approval])
        self.ok("approve", approval)
        self.assert_status(self.assent("resume", "t"), 0)
        self.assertEqual(self.file("a.txt").read_text(), "as approved\n")

    def test_before_anything_is_stored(self):
        self.fill()
        args = self.run_args(turn("", write("a.txt", "a")), turn("end"))
        self.assert_full(*args)
        self.make_room()
        self.assert_status(self.assent(*args), WAITING)

    def remount(self, how: str):
        subprocess.run(["mount", "-o", f"remount,{how}", self.disk], check=True)

    def test_a_disk_that_becomes_read_only(self):
        [approval] = self.waiting(write("a.txt", "as approved\n"))
        self.remount("ro")
        self.assert_fails(["approve", approval], "database", "read-only")
        self.assert_fails(["resume", "t"], "database", "read-only")
        self.remount("rw")
        self.assertEqual(self.pending_ids(), [approval])
        self.ok("approve", approval)
        self.assert_status(self.assent("resume", "t"), 0)
        self.assertEqual(self.file("a.txt").read_text(), "as approved\n")


if __name__ == "__main__":
    if OWN_MOUNTS not in os.environ:
        command = ["unshare", "--mount"] + ([] if os.getuid() == 0 else ["--map-root-user"])
        os.execvpe(command[0], [*command, sys.executable, "-B", *sys.argv], os.environ | {OWN_MOUNTS: "1"})
    unittest.main()
