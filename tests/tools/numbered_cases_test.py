"""tools/numbered-cases over a made-up repository and a made-up ctest: it finds each kind of fault."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "tools/numbered-cases"
TESTS = ["Stores/Rules.Ask/Memory  # GetParam() = 4-byte object <00-00>", "Rules.Deny", "cli.answers"]


class NumberedCases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name in ("tools", "tests/cases", "tests/cli"):
            (self.root / name).mkdir(parents=True)
        shutil.copy(SCRIPT, self.root / "tools")
        (self.root / "tests/cases/some.json").write_text('[{"name": "one", "source": "A07, A08"}]')
        (self.root / "tests/cli/answers_test.py").write_text("class Answers:\n    def test_approve(self):\n")
        self.list_tests(TESTS)

    def list_tests(self, names: list[str]) -> None:
        path = self.root / "ctest"
        lines = "".join(f"  Test #{number}: {name}\n" for number, name in enumerate(names, 1))
        path.write_text(f"#!/bin/sh\ncat <<'END'\n{lines}\nEND\n")
        path.chmod(0o755)

    def run_script(self, cases: list[dict], *options: str, **others) -> tuple[int, list[str]]:
        families: dict[str, int] = {}
        for case in cases:
            family = case["number"].rstrip("0123456789abc").removesuffix("-")
            families[family] = families.get(family, 0) + 1
        data = {"families": families, "undescribed": [], "pending": [], "cases": cases} | others
        (self.root / "tests/numbered.json").write_text(json.dumps(data))
        done = subprocess.run(
            [self.root / "tools/numbered-cases", "build", *options],
            env={**os.environ, "PATH": f"{self.root}:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, (done.stdout + done.stderr).splitlines()

    def faults(self, cases: list[dict], **others) -> list[str]:
        status, lines = self.run_script(cases, **others)
        self.assertEqual(status, 1 if len(lines) > 1 else 0)
        self.assertTrue(lines[-1].startswith("numbered cases: "), lines)
        return lines[:-1]

    def test_each_way_to_show_a_case(self):
        for name in ("Rules.Ask", "Rules.Deny", "cli.answers", "cli.answers#test_approve", "some.json#one", "some.json#A08"):
            self.assertEqual(self.faults([{"number": "NT-1a", "tests": [name]}]), [], name)

    def test_what_is_not_there(self):
        for name in ("Rules.Asks", "Rules", "cli.answer", "cli.answers#test_deny", "some.json#A0", "other.json#one"):
            self.assertEqual(self.faults([{"number": "G-N1", "tests": [name]}]), [f"G-N1: there is no {name}"])

    def test_pending_tests_need_not_be_there_but_to_be_named(self):
        case = {"number": "A01", "tests": ["Later.Comes"]}
        status, lines = self.run_script([case], pending=["Later.Comes"])
        self.assertEqual(status, 0)
        self.assertTrue(lines[0].endswith("; pending: 1 tests, 0 of them there by now, 1 cases with no other"), lines)
        self.assertEqual(
            self.faults([case], pending=["Later.Comes", "Later.Went"]), ["pending: no case names Later.Went"]
        )

    def test_a_case_has_tests_or_a_reason(self):
        fault = ["A01 needs tests or a reason, and nothing else"]
        shown = [{"number": f"A0{i}", "tests": ["Rules.Deny"]} for i in (2, 3, 4)]
        self.assertEqual(self.faults([{"number": "A01"}, *shown]), fault)
        self.assertEqual(self.faults([{"number": "A01", "tests": []}, *shown]), fault)
        self.assertEqual(self.faults([{"number": "A01", "tests": ["Rules.Deny"], "reason": "web page"}, *shown]), fault)
        self.assertEqual(self.faults([{"number": "A01", "tests": ["Rules.Deny"], "note": "x"}, *shown]), fault)
        self.assertEqual(self.faults([{"number": "A01", "reason": "web page"}, *shown]), [])

    def test_the_list_of_reasons_is_closed_and_few_have_one(self):
        cases = [{"number": f"A{i:02}", "tests": ["Rules.Deny"]} for i in range(13)]
        reasons = [{"number": f"B{i:02}", "reason": "web page"} for i in range(7)]
        self.assertEqual(self.faults(cases + reasons), [])
        self.assertEqual(
            self.faults(cases[1:] + reasons), ["7 of 19 cases have a reason and no test; at most 35 % may"]
        )
        reasons[0]["reason"] = "too hard"
        self.assertEqual(
            self.faults(cases + reasons),
            ["B00: 'too hard' is no reason; there are: Python only, async only, live provider, web page, engine internals replaced"],
        )

    def test_each_number_once_and_none_lost(self):
        case = {"number": "C01", "tests": ["Rules.Deny"]}
        self.assertEqual(self.faults([case, case]), ["C01 stands there 2 times"])
        self.assertEqual(self.faults([case], undescribed=["C01"]), ["C01 stands there 2 times"])
        self.assertEqual(self.faults([case], families={"C": 2}), ["family C has 1 cases, not 2"])

    def test_the_table(self):
        cases = [{"number": "E01", "tests": ["Rules.Deny", "some.json#one"]}, {"number": "E02", "tests": ["Rules.Ask"]}]
        status, lines = self.run_script(cases, "--table")
        self.assertEqual(status, 0)
        self.assertEqual(lines[2:4], ["| E01 | `Rules.Deny`, `some.json#one` |", "| E02 | `Rules.Ask` |"])

    def test_a_build_folder_that_says_nothing(self):
        self.list_tests([])
        self.assertEqual(
            self.run_script([]), (1, ["numbered-cases: ctest lists no tests in build; give a build folder"])
        )
        self.list_tests([*TESTS, "gate_test_NOT_BUILT"])
        self.assertEqual(self.run_script([]), (1, ["numbered-cases: gate_test is not built; build all tests first"]))


if __name__ == "__main__":
    unittest.main()
