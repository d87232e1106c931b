#!/usr/bin/env python3
"""Compiles each public header alone, as C++20, with both compilers.

    tools/lint-headers.py [ROOT]
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

COMPILERS = ["g++", "clang++-19"]
FLAGS = ["-std=c++20", "-fsyntax-only", "-pedantic-errors", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror"]


def compile_alone(root: Path, compiler: str, header: str) -> str:
    """What `compiler` says of a file that includes `header` twice and nothing else; empty: all is well."""
    program = f"#include <{header}>\n#include <{header}>\nint main() {{}}\n"
    command = [compiler, *FLAGS, "-I", str(root / "include"), "-x", "c++", "-"]
    done = subprocess.run(command, input=program, capture_output=True, text=True, check=False)
    said = done.stderr.replace(f"{root}/", "").strip()
    return f"include/{header}:1: {compiler} does not compile it alone as C++20\n{said}" if done.returncode else ""


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent).resolve()
    headers = sorted(path.relative_to(root / "include").as_posix() for path in (root / "include").rglob("*.hpp"))
    jobs = [(root, compiler, header) for header in headers for compiler in COMPILERS]
    with ThreadPoolExecutor(2) as pool:
        said = [text for text in pool.map(lambda job: compile_alone(*job), jobs) if text]
    for text in said:
        print(text)
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
