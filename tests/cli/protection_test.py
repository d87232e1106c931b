"""What keeps an agent from deciding about itself, as its users see it: refusals, modes, doctor."""

import re
import stat
import sys

from program import PROGRAM, WAITING, ProgramTest, call, json, os, shell, subprocess, turn, unittest, write


def landlock() -> bool:
    """Whether this kernel has it: 444 is landlock_create_ruleset, 1 asks for the version."""
    asked = "import ctypes; print(ctypes.CDLL(None).syscall(444, 0, 0, 1))"
    return int(subprocess.run([sys.executable, "-c", asked], capture_output=True, check=True).stdout) > 0


VERSION = subprocess.run([PROGRAM, "--version"], capture_output=True, check=True, encoding="utf-8").stdout


def mode(path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


class Guarded(ProgramTest):
    def test_no_option_takes_the_built_in_denials_back(self):
        for line in (f"cat {self.db}", f"rm {self.db}-wal", f"ls {self.state}/assent", f"cat {self.config}/assent/x",
                     "assent approve 1k3f9", f"'{self.program}' deny 1k3f9"):
            with self.subTest(line):
                said = self.ok("judge", "shell", json.dumps({"command": line}), "--workspace", self.workspace,
                               "--allow", "*", "--json").json
                self.assertEqual(said["verdict"], "deny")
                [against] = [one for one in said["guards"] if one["verdict"] == "deny"]
                self.assertEqual(against["guard"], "built-in")
                self.assertIn("leave it to the person", against["reason"])

    def test_nobody_is_asked_and_nothing_runs(self):
        args = self.run_args(turn("", shell(f"cat {self.db}"), call("read_file", {"file_path": str(self.db)}, "c2"),
                                  write(f"../db/{self.db.name}", "x", "c3")), turn("end"))
        done = self.assent(*args, "--json")
        self.assert_status(done, 0)
        self.assertEqual([(one["outcome"], one.get("denied_by")) for one in done.result["calls"]],
                         [("denied", "guard built-in")] * 3)

    def test_an_edit_cannot_get_past_them(self):
        [held] = self.waiting(shell("true"))
        self.ok("edit", held, "--set", f'command="cat {self.db}"')
        self.ok("resume", "t")
        denied = [one for one in self.history()[-1:-6:-1] if one["event"] == "judged"][0]
        self.assertIn("built-in", json.dumps(denied))
        self.assertNotIn("claimed", self.events())


class Places(ProgramTest):
    def refuse(self, words: str, workspace, *options) -> None:
        args = ["run", "please", "--workspace", str(workspace), "--model", self.script(turn("end"))]
        self.assert_fails([*args, *options], "usage", words)

    def test_a_folder_that_holds_what_decides_is_refused(self):
        (self.state / "assent" / "inner").mkdir(parents=True)
        link = self.workspace / "link"
        link.symlink_to(self.db.parent)
        (self.root / "far").symlink_to(self.db.parent)
        (self.root / "chain").symlink_to(link)
        for workspace, words in ((self.db.parent, "contains the database"), (self.root / "far", "contains the database"),
                                 (self.root, "contains the database"), ("/", "contains the database"),
                                 (self.state, "contains the state folder"), (self.state / "assent", "contains the state folder"),
                                 (self.state / "assent" / "inner", "is part of the state folder"),
                                 (os.path.dirname(self.program), "contains the program")):
            with self.subTest(workspace):
                self.refuse(words, workspace)
                self.refuse(words, self.workspace, "--writable", workspace)
        for way in (link, self.root / "chain"):
            with self.subTest(way):
                db = f"sqlite:{way / self.db.name}"
                self.assert_fails(["--db", db, *self.run_args(turn("end"))], "usage", "contains the database", db=False)
        self.refuse("is no folder", self.workspace, "--writable", self.root / "none")
        self.assertFalse((self.config / "assent").exists())

    def test_the_configuration_is_no_workspace(self):
        folder = self.config / "assent"
        folder.mkdir(parents=True)
        self.refuse("contains the configuration", folder)
        self.refuse("contains the configuration", self.config)

    def test_what_is_made_is_for_its_owner_alone(self):
        def loose():
            os.umask(0)
        args = self.run_args(turn("", shell("true")), turn("end"))
        self.assert_status(self.assent(*args, db=False, preexec_fn=loose), WAITING)
        folder = self.state / "assent"
        self.assertEqual(mode(folder), 0o700)
        made = {path.name: mode(path) for path in folder.iterdir()}
        self.assertLessEqual({"assent.db", "assent.db-runners", "assent.db-receipts"}, set(made))
        self.assertEqual(made.pop("assent.db-receipts"), 0o700)
        self.assertEqual(set(made.values()), {0o600})
        # One that was opened to others is closed again.
        folder.chmod(0o755)
        self.ok("pending", db=False)
        self.assertEqual(mode(folder), 0o700)

    def test_writable_folders_are_kept_with_the_thread(self):
        cache = self.root / "cache"
        cache.mkdir()
        line = f"echo x > {cache}/made"
        args = self.run_args(turn("", shell(line)), turn("end"))
        self.assert_status(self.assent(*args, "--writable", cache), WAITING)
        self.ok("approve", self.pending_ids()[0])
        self.ok("resume", "t")
        self.assertTrue((cache / "made").exists())
        if landlock():
            (cache / "made").unlink()
            args = self.run_args(turn("", shell(line)), turn("end"), thread="without")
            self.assert_status(self.assent(*args, "--allow", "shell"), 0)
            self.assertFalse((cache / "made").exists())


class Doctor(ProgramTest):
    LINES = ["landlock", "helper", "memory", "user", "state folder", "database", "disk", "terminal", "ptrace", "services",
             "keys", "guard", "try: open", "try: write", "try: look", "try: signal", "try: decide"]

    def checks(self, *args, status: int = 0, **options) -> dict:
        done = self.assent("doctor", "--json", *args, **options)
        self.assert_status(done, status)
        self.assertEqual(done.json["missing"], sum(one["standing"] == "missing" for one in done.json["checks"]))
        return {one["name"]: one for one in done.json["checks"]}

    @unittest.skipUnless(landlock(), "this kernel has no Landlock")
    def test_all_holds_here(self):
        checks = self.checks()
        self.assertEqual(list(checks), self.LINES)
        for name in ("helper", "memory", "state folder", "database", "keys", "guard", "try: open", "try: write",
                     "try: look", "try: decide"):
            self.assertEqual(checks[name]["standing"], "ok", checks[name])
        self.assertFalse(self.db.exists() or self.state.exists(), "looking makes nothing")
        self.assertEqual(os.listdir(self.root / "tmp"), [])

    def test_its_lines_for_people(self):
        said = self.assent("doctor")
        self.assertEqual(said.err, "")
        columns = [re.match(r"(ok|weak|missing) +(\S+(?: \S+)*)  +\S", line) for line in said.out.splitlines()
                   if not re.match(r" +→ ", line)]
        self.assertEqual([line and line[2] for line in columns], self.LINES, said.out)

    def test_a_real_database(self):
        self.waiting(shell("true"))
        self.assertIn("mode 0600", self.checks()["database"]["says"])
        self.assertIn("synchronous full", self.checks()["disk"]["says"])
        self.db.chmod(0o640)
        self.assertEqual(self.checks(status=1)["database"]["next"], f"chmod 600 {self.db}")
        self.db.chmod(0o600)
        os.link(self.db, self.root / "other")
        self.assertIn("another name", self.checks(status=1)["database"]["says"])

    def test_a_state_folder_that_others_may_enter(self):
        folder = self.state / "assent"
        folder.mkdir(parents=True)
        folder.chmod(0o755)
        self.assertEqual(self.checks(status=1)["state folder"]["next"], f"chmod 700 {folder}")

    def test_keys_by_name_only(self):
        done = self.assent("doctor", env={"SOME_API_KEY": "sk-secret", "GIT_TOKEN": "sk-secret"})
        self.assertIn("kept from tools: ", done.out)
        self.assertIn("SOME_API_KEY", done.out)
        self.assertNotIn("sk-secret", done.out)

    @unittest.skipUnless(landlock() and "with test points" in VERSION, "needs the switches of test builds")
    def test_what_is_taken_away_is_missing(self):
        """The lines say what is: each protection is switched off, and its line changes."""
        for without, lines in (("landlock", {"landlock", "try: open", "try: write"}), ("memory", {"memory"}),
                               ("landlock,mark,ancestry", {"landlock", "try: open", "try: write", "try: decide"})):
            with self.subTest(without):
                checks = self.checks(status=1, env={"ASSENT_WITHOUT": without})
                self.assertEqual({name for name, one in checks.items() if one["standing"] == "missing"}, lines)

    def test_a_helper_of_another_version(self):
        folder = self.root / "bin"
        folder.mkdir()
        subprocess.run(["cp", self.program, str(folder / "assent")], check=True)
        helper = folder / "assent-exec"
        real = os.path.join(os.path.dirname(self.program), "assent-exec")
        helper.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo assent-exec 9.9 && exit\nexec {real} "$@"\n')
        helper.chmod(0o755)
        self.program = str(folder / "assent")
        self.assertIn("is not of this version", self.checks(status=1)["helper"]["says"])
        helper.unlink()
        self.assertIn("not found", self.checks(status=1)["helper"]["says"])


if __name__ == "__main__":
    unittest.main()
