"""tools/install-packages with a made-up dpkg-query, apt-get, sudo and id: what it asks for, and what it says."""

import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "tools/install-packages"

LIST = "# words [not] a section\n[build]\ng++   # the compiler\ncmake\n\n[test]\ngtest\ncmake\n"


class InstallPackages(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.home = Path(self.folder.name)
        (self.home / "packages.txt").write_text(LIST)
        self.program("id", "echo 0")
        self.program("apt-get", f'echo "$*" >>{self.home}/asked')

    def program(self, name: str, body: str) -> None:
        path = self.home / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def have(self, *packages: str) -> None:
        cases = "".join(f"*' {package}') echo installed;;\n" for package in packages)
        self.program("dpkg-query", f'case " $*" in\n{cases}*) exit 1;; esac')

    def run_script(self, *sections: str) -> tuple[int, str, list[str]]:
        done = subprocess.run(
            [SCRIPT, *sections],
            env={"PATH": f"{self.home}:/usr/bin:/bin", "ASSENT_PACKAGES": str(self.home / "packages.txt")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        asked = self.home / "asked"
        return done.returncode, done.stderr.strip(), asked.read_text().splitlines() if asked.exists() else []

    def test_nothing_missing_asks_for_nothing(self):
        self.have("g++", "cmake", "gtest")
        self.program("id", "echo 1000")
        self.program("sudo", "exit 1")
        self.assertEqual(self.run_script(), (0, "", []))

    def test_installs_what_is_missing_in_the_given_sections(self):
        self.have("cmake")
        status, said, asked = self.run_script("build")
        self.assertEqual((status, said), (0, "installing g++"))
        self.assertEqual(len(asked), 2)
        self.assertTrue(asked[0].endswith(" update"))
        self.assertTrue(asked[1].endswith(" install -y --no-install-recommends g++"))

    def test_no_section_means_all(self):
        self.have()
        _, _, asked = self.run_script()
        self.assertTrue(asked[1].endswith(" cmake g++ gtest"))

    def test_without_rights_it_says_what_to_run(self):
        self.have("cmake")
        self.program("id", "echo 1000")
        self.program("sudo", "exit 1")
        self.assertEqual(self.run_script(), (1, "install-packages: as root, run: apt-get install g++ gtest", []))

    def test_sudo_without_password_is_used(self):
        self.have("cmake", "gtest")
        self.program("id", "echo 1000")
        self.program("sudo", 'shift; exec "$@"')
        status, _, asked = self.run_script()
        self.assertEqual((status, len(asked)), (0, 2))

    def test_the_first_error_of_apt_get_is_the_message(self):
        self.have("cmake", "gtest")
        self.program("apt-get", "echo reading; echo 'E: Unable to locate package g++' >&2; exit 100")
        status, said, _ = self.run_script()
        self.assertEqual(status, 1)
        self.assertEqual(said.splitlines()[-1], "install-packages: apt-get update failed: Unable to locate package g++")

    def test_unknown_section(self):
        self.have()
        self.assertEqual(self.run_script("builds"), (1, "install-packages: unknown section 'builds'; there are: build test", []))


if __name__ == "__main__":
    unittest.main()
