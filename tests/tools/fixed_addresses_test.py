"""tools/fixed-addresses with a made-up kernel and setarch: when addresses are fixed, and what it says."""

import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "tools/fixed-addresses"
FIXED = '[ "$1" = -R ] && shift && exec env ADDRESSES=fixed "$@"'


class FixedAddresses(unittest.TestCase):
    def run_script(self, bits: str, setarch: str) -> tuple[int, str, str]:
        """`bits`: what the body of `cat` does; `setarch`: that of `setarch`."""
        with tempfile.TemporaryDirectory() as folder:
            for name, body in (("cat", bits), ("setarch", setarch)):
                path = Path(folder) / name
                path.write_text(f"#!/bin/sh\n{body}\n")
                path.chmod(0o755)
            done = subprocess.run(
                [SCRIPT, "sh", "-c", "echo ${ADDRESSES:-drawn}; exit 3"],
                env={"PATH": f"{folder}:/usr/bin:/bin"},
                capture_output=True,
                text=True,
                check=False,
            )
        return done.returncode, done.stdout.strip(), done.stderr.strip()

    def test_a_kernel_with_few_bits_needs_nothing(self):
        self.assertEqual(self.run_script("echo 28", "exit 1"), (3, "drawn", ""))

    def test_a_kernel_with_more_gets_fixed_addresses(self):
        self.assertEqual(self.run_script("echo 32", FIXED), (3, "fixed", ""))

    def test_who_cannot_ask_the_kernel_gets_fixed_addresses_where_that_is_allowed(self):
        self.assertEqual(self.run_script("exit 1", FIXED), (3, "fixed", ""))
        self.assertEqual(self.run_script("exit 1", "exit 1"), (3, "drawn", ""))

    def test_says_what_to_do_when_nothing_helps(self):
        status, out, said = self.run_script("echo 32", "exit 1")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("sysctl vm.mmap_rnd_bits=28", said)


if __name__ == "__main__":
    unittest.main()
