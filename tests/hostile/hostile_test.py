"""An approved command that tries to decide, read or change what is not its own. Nothing may come of it.

The same attack runs four times: with and without Landlock, as root and as an ordinary user. Without Landlock some
attempts work; `WITHOUT_LANDLOCK` names them, `doctor` and docs/security.md say so, and the test fails when one of
them begins to hold as well as when another stops to.
"""

import hashlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

# pylint: disable-next=wrong-import-position
from program import NOBODY, WAITING, ProgramTest, Screen, json, os, shell, shutil, subprocess, turn, unittest

SECRETS = {"ANTHROPIC_API_KEY": "sk-secret-1", "MY_TOKEN": "sk-secret-2"}

# Landlock does not know about modes of files.
WITH_LANDLOCK = {"change mode"}
# Version 2 of its interface, which Debian 12's kernel has, knows neither truncate(2) nor signals.
WITH_LANDLOCK_2 = WITH_LANDLOCK | {"truncate", "signal"}
READING = {"open", "copy", "open through a link", "open through a descriptor", "list", "hard link"}
CHANGING = {"append", "create", "change mode", "truncate", "rename", "replace", "remove"}
TERMINAL = {"write to the terminal", "read the terminal"}
WITHOUT_LANDLOCK = READING | CHANGING | TERMINAL | {"signal"}
# Only where users may make name spaces of their own, in which they mount what they like.
WHERE_NAME_SPACES_ARE_FREE = {"mount"}
APPROVING = {"approve by its name", "approve by its full path", "approve by a renamed copy",
             "approve with an empty environment", "approve in a session of its own", "approve on a terminal of its own",
             "approve as a daemon", "approve where no parent is seen", "approve without the mark"}
DECIDING = APPROVING | {"deny", "edit", "respond", "abort", "resume with answers", "resume with looser rules",
                        "a run that aborts", "the demo"}
LOOKING = {"open through a parent", "ptrace", "read memory", "read memory as a file", "read maps",
           "read environment of parents", "take descriptors", "take descriptors by number", "push through a parent"}
ROOT_ONLY = {"open by handle", "enter name spaces", "push keystrokes",
             "steal the terminal"}
# In a container root may have less.
DEPENDING_ON_ROOT = WHERE_NAME_SPACES_ARE_FREE | {"the disk", "approve without the mark"}
ALL = (READING | DECIDING | LOOKING | TERMINAL | ROOT_ONLY | {"signal"}) - DEPENDING_ON_ROOT


def landlock() -> bool:
    """Whether this kernel has it: 444 is landlock_create_ruleset, 1 asks for the version."""
    asked = "import ctypes; print(ctypes.CDLL(None).syscall(444, 0, 0, 1))"
    return int(subprocess.run([sys.executable, "-c", asked], capture_output=True, check=True).stdout) > 0


def python_for(user: int | None) -> str:
    """An interpreter that this user can run."""
    for found in (sys.executable, "/usr/bin/python3"):
        options = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        try:
            if subprocess.run([found, "-c", ""], check=False, **options).returncode == 0:
                return found
        except OSError:
            pass
    raise AssertionError("no Python that every user can run")


class Hostile(ProgramTest):
    def prepare(self, user: int | None, without: str) -> None:
        """A waiting approval, a configuration, and the attack with all it has to know."""
        if user is not None:
            self.assertEqual(self.other_user(), user)
        self.user = user
        self.env |= SECRETS | ({"ASSENT_WITHOUT": without} if without else {})
        self.settings = self.config / "assent" / "settings.toml"
        self.settings.parent.mkdir(parents=True)
        self.settings.write_text("the person's own\n")
        (self.state / "assent").mkdir(parents=True, mode=0o700)
        (self.state / "assent" / "receipt").write_text("kept\n")
        shutil.copy(Path(__file__).with_name("attack.py"), self.file("attack.py"))
        self.own()
        args = self.run_args(turn("I will.", shell("touch decided")), turn("end"), thread="victim")
        self.assert_status(self.assent(*args, user=user), WAITING)
        [self.victim] = [one["id"] for one in self.ok("--json", "pending", user=user).json]

    def own(self) -> None:
        """All of it belongs to the user."""
        if self.user is not None:
            subprocess.run(["chown", "-R", f"{self.user}:{self.user}", str(self.root)], check=True)

    def attack(self, phase: str) -> tuple[dict, str, int]:
        """Has a person at a terminal approve the attack; what it says, what was shown, and the exit status."""
        args = self.run_args(turn("", shell(f"{python_for(self.user)} attack.py {phase}")), turn("end"), thread=phase)
        as_user = [] if self.user is None else ["setpriv", f"--reuid={self.user}", f"--regid={self.user}",
                                                "--clear-groups"]
        screen = Screen([*as_user, *self.command(tuple(args))], self.env | {"TERM": "xterm"}, self.root)
        try:
            if self.user is not None:
                os.chown(screen.terminal, self.user, self.user)
            self.file("targets.json").write_text(json.dumps({
                "program": self.program, "victim": self.victim, "database": str(self.db), "terminal": screen.terminal,
                "closed_files": [*(str(self.db) + suffix for suffix in ("", "-wal", "-shm", "-runners")),
                                 str(self.settings), str(self.state / "assent" / "receipt")],
                "closed_folders": [str(self.settings.parent), str(self.state / "assent")]}))
            self.own()
            screen.answer("shell", "approve")
            status = screen.end()
            shown = screen.shown
        finally:
            screen.close()
        self.assertTrue(self.file(f"{phase}.json").exists(), f"the attack did not run to its end:\n{shown}")
        return json.loads(self.file(f"{phase}.json").read_text()), shown, status

    def table(self, title: str, said: dict) -> set[str]:
        """Prints the attempts with their verdicts; the names of those that worked."""
        print(f"\n{title}")
        for name, one in said.items():
            print(f"  {'WORKED' if one['worked'] else 'held':8}{name:36}{one['why']}".rstrip())
        return {name for name, one in said.items() if one["worked"]}

    def facts(self) -> dict:
        """What nobody but the person may change."""
        kept = [self.settings, self.state / "assent" / "receipt"]
        return {str(path): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_ino) for path in kept} | {
            "database": self.db.stat().st_ino, "state": sorted(os.listdir(self.state / "assent")),
            "config": sorted(os.listdir(self.settings.parent)), "links": self.db.stat().st_nlink}

    def assert_nothing_decided(self) -> None:
        self.assertEqual([one["id"] for one in self.ok("--json", "pending", user=self.user).json], [self.victim])
        events = [one["event"] for one in self.ok("--json", "history", "victim", user=self.user).json]
        self.assertNotIn("answered", events)
        self.assertEqual(events[-1], "asked")
        self.assertFalse(self.file("decided").exists() or self.file("edited").exists())

    def run_with_landlock(self, user: int | None, without: str = "", works: frozenset | set = WITH_LANDLOCK) -> None:
        if not landlock():
            self.skipTest("this kernel has no Landlock")
        self.prepare(user, without)
        before = self.facts()
        said, shown, status = self.attack("decide")
        worked = self.table(f"with Landlock, {self.who()}", said)
        self.assertEqual(status, 0, shown)
        self.assertNotIn("FORGED", shown)
        self.assertNotIn("Landlock", shown)
        said, shown, status = self.attack("destroy")
        self.assertEqual(worked | self.table(f"with Landlock, {self.who()}, destroying", said), works)
        self.assertEqual(status, 0, shown)
        self.assertEqual(self.facts(), before)
        self.assert_nothing_decided()

    def run_without_landlock(self, user: int | None) -> None:
        self.prepare(user, "landlock")
        said, shown, _ = self.attack("decide")
        worked = self.table(f"without Landlock, {self.who()}", said)
        self.assertIn("this kernel has no Landlock", shown.replace("\r\n", " "))
        self.assert_nothing_decided()
        destroyed = self.table(f"without Landlock, {self.who()}, destroying", self.attack("destroy")[0])
        self.assertEqual((worked | destroyed) - WHERE_NAME_SPACES_ARE_FREE, WITHOUT_LANDLOCK)

    def run_without_anything(self, user: int | None) -> set[str]:
        self.prepare(user, "landlock,ancestry,mark,memory,privileges")
        return self.table(f"without any protection, {self.who()}", self.attack("decide")[0]) - DEPENDING_ON_ROOT

    @unittest.skipIf(os.geteuid() != 0, "what only root can do")
    def test_each_attempt_works_where_nothing_is_in_its_way(self):
        self.assertEqual(self.run_without_anything(None), ALL)

    def test_an_ordinary_user_can_do_most_of_it_where_nothing_is_in_the_way(self):
        self.assertEqual(self.run_without_anything(NOBODY if os.geteuid() == 0 else None), ALL - ROOT_ONLY)

    def who(self) -> str:
        return "root" if os.geteuid() == 0 and self.user is None else "ordinary user"

    def test_with_landlock(self):
        self.run_with_landlock(None)

    def test_with_the_landlock_of_debian_12(self):
        self.run_with_landlock(NOBODY if os.geteuid() == 0 else None, "landlock-from-3", WITH_LANDLOCK_2)

    def test_without_landlock(self):
        self.run_without_landlock(None)

    @unittest.skipIf(os.geteuid() != 0, "this is an ordinary user already")
    def test_with_landlock_as_an_ordinary_user(self):
        self.run_with_landlock(NOBODY)

    @unittest.skipIf(os.geteuid() != 0, "this is an ordinary user already")
    def test_without_landlock_as_an_ordinary_user(self):
        self.run_without_landlock(NOBODY)


class EachAlone(ProgramTest):
    """Each way of noticing a tool holds where the others are missing."""

    def decide(self, without: str, line: str) -> str:
        """What a deciding command says below a tool; the approval must still be open afterwards."""
        [victim] = self.waiting(shell("touch decided"), thread="victim")
        script = line.replace("ASSENT", f"'{self.program}' --db 'sqlite:{self.db}'").replace("ID", victim)
        self.file("try.sh").write_text(script + " >said 2>&1")
        args = self.run_args(turn("", shell("sh try.sh")), turn("end"), thread="attack")
        self.assert_status(self.assent(*args, "--allow", "shell", env={"ASSENT_WITHOUT": without}), 0)
        return self.file("said").read_text()

    ROWS = (
        ("ancestors", "landlock,mark", "ASSENT approve ID", "must not decide"),
        ("ancestors of who detached itself", "landlock,mark", "setsid -w env -i ASSENT approve ID", "must not decide"),
        ("mark", "landlock,ancestry", "ASSENT approve ID", "must not decide"),
        ("mark in an empty environment", "landlock,ancestry", "env -i ASSENT approve ID", "must not decide"),
        ("mark where no parent is seen", "landlock",
         "if ! unshare -pf true; then own=-Ur; fi; unshare $own -pf ASSENT approve ID", "must not decide"),
        ("closed files", "ancestry,mark", "ASSENT approve ID", "cannot be opened|may not be opened|Permission denied"),
        ("a wall of none", "landlock,ancestry,mark", "ASSENT approve ID", "approved"),
    )

    def test_each_holds_alone(self):
        for name, without, line, words in self.ROWS:
            if name == "closed files" and not landlock():
                continue
            with self.subTest(name):
                self.setUp()
                said = self.decide(without, line)
                self.assertRegex(said, words)
                decided = "answered" in [one["event"] for one in self.history("victim")]
                self.assertEqual(decided, words == "approved", said)

    def test_looking_is_no_deciding(self):
        [victim] = self.waiting(shell("touch decided"), thread="victim")
        self.file("try.sh").write_text(f"'{self.program}' --db 'sqlite:{self.db}' show {victim} >said 2>&1")
        args = self.run_args(turn("", shell("sh try.sh")), turn("end"), thread="look")
        self.assert_status(self.assent(*args, "--allow", "shell", env={"ASSENT_WITHOUT": "landlock"}), 0)
        self.assertIn("touch decided", self.file("said").read_text())


if __name__ == "__main__":
    unittest.main()
