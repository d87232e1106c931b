"""Every C++ block of a guide stands in a program of examples/, which is compiled and run as a test."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```cpp\n(.*?)^```", re.MULTILINE | re.DOTALL)


def code_lines(text: str) -> list[str]:
    """Without indentation and empty lines, which a page may set otherwise."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def stands_in(block: list[str], program: list[str]) -> bool:
    return any(program[at : at + len(block)] == block for at in range(len(program) - len(block) + 1))


class Guides(unittest.TestCase):
    def test_their_code_is_that_of_the_examples(self):
        programs = [code_lines(path.read_text(encoding="utf-8")) for path in (ROOT / "examples").glob("*.cpp")]
        checked = 0
        for page in sorted((ROOT / "docs/guides").glob("*.md")):
            for block in BLOCK.findall(page.read_text(encoding="utf-8")):
                with self.subTest(page=page.name, block=block):
                    self.assertTrue(any(stands_in(code_lines(block), program) for program in programs))
                checked += 1
        self.assertGreater(checked, 0)


if __name__ == "__main__":
    unittest.main()
