"""tools/lint-text.py finds each kind of fault."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LINT = Path(__file__).resolve().parents[2] / "tools/lint-text.py"


class LintText(unittest.TestCase):
    def lint(self, files: dict[str, str]) -> tuple[int, list[str]]:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            done = subprocess.run([sys.executable, "-B", LINT, folder], capture_output=True, text=True, check=False)
            self.assertEqual(done.stderr, "")
            return done.returncode, done.stdout.splitlines()

    def test_a_sound_file_passes(self):
        self.assertEqual(self.lint({"src/base/a.cpp": "int a;  // see https://example.com/x\n"}), (0, []))

    def test_long_files(self):
        self.assertEqual(self.lint({"src/base/a.cpp": "int a;\n" * 600}), (0, []))
        self.assertEqual(self.lint({"src/base/a.cpp": "int a;\n" * 601}), (1, ["src/base/a.cpp:600: 601 lines; split it, 600 is the limit"]))
        self.assertEqual(self.lint({"tests/cases/a.json": "1\n" * 900}), (0, []))

    def test_unfinished_work(self):
        mark = "TO" + "DO"
        self.assertEqual(self.lint({"docs/a.md": f"ok\n{mark}: more\n"}), (1, [f"docs/a.md:2: `{mark}`: do it, or open an issue"]))

    def test_paths_of_a_machine(self):
        path = "/wor" + "k/shared/plan.md"
        self.assertEqual(self.lint({"docs/a.md": f"see {path}\n"}), (1, [f"docs/a.md:1: `{path}` is a path of one machine"]))
        self.assertEqual(self.lint({"docs/a.md": "keys in /root/.ssh and src/work/shared\n"}), (0, []))

    def test_addresses(self):
        status, faults = self.lint({"docs/a.md": "get http" + "://mirror.somewhere.org/x\n"})
        self.assertEqual((status, faults), (1, ["docs/a.md:1: address of mirror.somewhere.org: see tools/lint-text.py"]))

    def test_names_of_other_products(self):
        word = subprocess.run([sys.executable, LINT, "--digest", "Some-Gadget"], capture_output=True, text=True, check=True)
        names = {"tools/other-names.txt": "# digests\n" + word.stdout}
        for line in ("SomeGadget", "the somegadget way", "some_gadget()", "import some-gadget-core"):
            with self.subTest(line):
                self.assertEqual(self.lint({**names, "docs/a.md": f"\n{line}\n"}), (1, ["docs/a.md:2: name of another product"]))
        self.assertEqual(self.lint({**names, "docs/a.md": "some gadget\n"}), (0, []))

    def test_spaces_tabs_and_the_last_line(self):
        self.assertEqual(self.lint({"a.md": "x \n"}), (1, ["a.md:1: spaces at the end"]))
        self.assertEqual(self.lint({"src/base/a.cpp": "\tint a;\n"}), (1, ["src/base/a.cpp:1: a tab"]))
        self.assertEqual(self.lint({"a.md": "x"}), (1, ["a.md:1: the last line does not end"]))

    def test_links(self):
        page = {"docs/a.md": "[b](b.md#part) [c](../c.md) [d](https://example.com) [e](#here)\n"}
        self.assertEqual(self.lint({**page, "docs/b.md": "", "c.md": ""}), (0, []))
        self.assertEqual(self.lint({**page, "docs/b.md": ""}), (1, ["docs/a.md:1: ../c.md does not exist"]))

    def test_data_is_left_as_it_is(self):
        self.assertEqual(self.lint({"tests/cases/a.json": '"\t" \n"x"'}), (0, []))


if __name__ == "__main__":
    unittest.main()
