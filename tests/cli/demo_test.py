"""The demo: what somebody sees who types one command, with no network and no key."""

import re
from pathlib import Path

from program import WAITING, ProgramTest, json, shutil, subprocess, unittest

REPORT = ("# Orders of the week\n\n| order | amount |\n|---|---|\n| A-1001 | 120.00 |\n| A-1002 | 89.50 |\n"
          "| A-1003 | 240.00 |\n\nTotal: 449.50\n")


class Demo(ProgramTest):
    def setUp(self):
        super().setUp()
        self.env["PATH"] = "/usr/bin:/bin"

    def folder(self) -> Path:
        [folder] = (self.root / "tmp").glob("assent-demo-*")
        return folder

    def demo(self, *args, status: int = 0, **options):
        done = self.assent("demo", *args, db=False, **options)
        self.assert_status(done, status)
        self.thread = self.folder().name.removeprefix("assent-")
        return done

    def test_approve_one_and_deny_the_other(self):
        done = self.demo("--answers", "approve,deny")
        self.assertEqual((self.folder() / "report.md").read_text(), REPORT)
        self.assertEqual([file.name for file in (self.folder() / "old-invoices").iterdir()], ["2019.txt"])
        for line in REPORT.splitlines():
            self.assertIn(line, done.err)
        for text in ("write_file", "report.md", "rm -r old-invoices", "old-invoices is still there",
                     "The call of `shell` was denied"):
            self.assertIn(text, done.err)
        self.assertEqual(done.err.count("You may answer"), 2)
        self.assertIn("That is all.", done.out)
        for text in ("answered", "approve", "deny", "shell denied", "run finished"):
            self.assertIn(text, done.out)

    def test_the_model_is_told(self):
        self.demo("--answers", "approve,deny:keep them")
        history = json.loads(self.assent("history", self.thread, "--json", db=False).out)
        answered = [(entry["decision"], entry["message"]) for entry in history if entry["event"] == "answered"]
        self.assertEqual(answered, [("approve", ""), ("deny", "keep them")])
        text = next(entry for entry in history if entry["event"] == "answered" and entry["decision"] == "deny")["text"]
        self.assertIn("denied: keep them.", text)

    def test_the_other_way_round(self):
        done = self.demo("--answers", "deny,approve")
        self.assertFalse((self.folder() / "report.md").exists())
        self.assertFalse((self.folder() / "old-invoices").exists())
        self.assertNotIn("still there", done.err)

    def test_nobody_is_there(self):
        done = self.demo(status=WAITING)
        self.assertFalse((self.folder() / "report.md").exists())
        self.assertTrue((self.folder() / "old-invoices").exists())
        self.assertIn(f"assent resume {self.thread}", done.err)
        pending = self.assent("pending", "--json", db=False).json
        self.assertEqual([one["tool"] for one in pending], ["write_file", "shell"])
        self.assert_status(self.assent("approve", pending[0]["id"], db=False), 0)
        self.assert_status(self.assent("deny", pending[1]["id"], db=False), 0)
        resumed = self.assent("resume", self.thread, db=False)
        self.assert_status(resumed, 0)
        self.assertIn("That is all.", resumed.out)
        self.assertEqual((self.folder() / "report.md").read_text(), REPORT)
        self.assertTrue((self.folder() / "old-invoices").exists())

    def test_edit_and_respond(self):
        edited = json.dumps({"file_path": "report.md", "content": "short, approve\n"})
        self.demo("--answers", f"edit:{edited},respond:they are gone")
        self.assertEqual((self.folder() / "report.md").read_text(), "short, approve\n")
        self.assertTrue((self.folder() / "old-invoices").exists())

    def test_answers_that_cannot_be_read(self):
        done = self.assent("demo", "--answers", "yes", db=False)
        self.assert_status(done, 2)
        self.assertEqual(list((self.root / "tmp").iterdir()), [], "nothing is left of a demo that did not begin")

    def test_too_many_and_too_few(self):
        done = self.demo("--answers", "approve", status=WAITING)
        self.assertIn("shell", done.err)
        self.assertTrue((self.folder() / "report.md").exists())
        shutil.rmtree(self.folder())
        self.demo("--answers", "approve,deny,approve", status=2)

    def test_json(self):
        done = self.demo("--json", "--answers", "approve,deny")
        self.assertEqual(done.err, "")
        self.assertEqual(done.result["result"], "done")
        self.assertEqual([one["outcome"] for one in done.result["calls"]], ["done", "denied", "done"])

    def test_at_a_terminal(self):
        question = "[approve, deny, edit, respond, later, view, ?]"
        with self.screen("demo", env={"PATH": "/usr/bin:/bin"}) as screen:
            shown = screen.expect(question)
            self.assertIn("Total: 449.50", shown)
            screen.expect("> ")
            screen.type("approve\n")
            self.assertIn("rm -r old-invoices", screen.expect(question))
            screen.expect("> ")
            screen.type("deny\n")
            screen.expect("Reason")
            screen.type("\n")
            screen.expect("run finished")
            self.assertEqual(screen.end(), 0)
        self.assertEqual((self.folder() / "report.md").read_text(), REPORT)
        self.assertTrue((self.folder() / "old-invoices").exists())

    def test_no_temporary_folder(self):
        self.assert_fails(["demo"], "tool", "TMPDIR", env={"TMPDIR": str(self.root / "none")})

    def test_without_a_network(self):
        if shutil.which("unshare") is None:
            self.skipTest("needs unshare")
        probe = self.program
        self.program = "/usr/bin/unshare"
        done = self.assent("--net", "--map-root-user", "--user", probe, "demo", "--answers", "approve,deny", db=False)
        if "unshare" in done.err:
            self.skipTest("this system lets nobody take the network away")
        self.assert_status(done, 0)


class FirstSteps(ProgramTest):
    """What docs/start.md tells to type."""

    def typed(self, commands: str):
        env = self.env | {"PATH": f"{Path(self.program).parent}:/usr/bin:/bin"}
        return subprocess.run(["sh", "-c", commands], env=env, cwd=self.root, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, check=False, timeout=60)

    def test_each_step(self):
        page = Path(__file__).resolve().parents[2] / "docs" / "start.md"
        blocks = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
        begin = next(block for block in blocks if "assent run" in block)
        steps = next(block for block in blocks if "assent pending" in block)
        self.assertEqual(self.typed(begin).returncode, WAITING)
        [held] = json.loads(self.typed("assent pending --json").stdout)
        for line in steps.replace(" ID", " " + held["id"]).splitlines():
            done = self.typed(line)
            self.assertEqual((done.returncode, done.stderr.count("assent:")), (0, 0), (line, done))
        self.assertEqual((self.root / "work" / "note.txt").read_text(), "hello\n")


if __name__ == "__main__":
    unittest.main()
