#!/usr/bin/env python3
"""Runs clang-tidy over src/ with the compile commands of the `lint` preset, two files at a time.

    tools/lint-tidy.py [--analyze] [FILE…]      none: every file of src/ that is compiled

With --analyze clang's static analyzer looks at them instead of the checks of .clang-tidy; it is slower.

A file that was clean is not looked at again until its text, a header that it includes, its compile
command, .clang-tidy or clang-tidy itself changes: build/lint-cache keeps a note of each clean run.
LINT_JOBS says how many at a time.
"""

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Optional

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/lint"
CACHE = ROOT / "build/lint-cache"
TIDY = "clang-tidy-19"
# unix.Errno does not see through classes that own a descriptor.
ANALYZER = "--checks=-*,clang-analyzer-*,-clang-analyzer-unix.Errno"


def commands() -> dict[Path, list[str]]:
    """file -> its compile command without the parts that only name the object file."""
    found = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        if Path(words[0]).name == "ccache":
            words = words[1:]
        kept, skip = [], False
        for word in words:
            if skip or word == "-c":
                skip = False
            elif word in {"-o", "-MF", "-MT"}:
                skip = True
            else:
                kept.append(word)
        found[Path(entry["file"])] = kept
    return found


def digest_of(path: Path, seen: dict[Path, str]) -> str:
    """Our own files by their bytes, the system's by size and time."""
    if path not in seen:
        try:
            if path.is_relative_to(ROOT):
                seen[path] = hashlib.sha256(path.read_bytes()).hexdigest()
            else:
                stat = path.stat()
                seen[path] = f"{stat.st_size} {stat.st_mtime_ns}"
        except OSError:
            seen[path] = "gone"
    return seen[path]


class Tidy:
    def __init__(self, analyze: bool) -> None:
        self.options = [ANALYZER] if analyze else []
        version = subprocess.run([TIDY, "--version"], capture_output=True, text=True, check=True).stdout
        self.setting = version + (ROOT / ".clang-tidy").read_text() + " ".join(self.options)
        self.commands = commands()
        self.seen: dict[Path, str] = {}

    def note(self, source: Path) -> Path:
        kind = ".analyzed.json" if self.options else ".json"
        return CACHE / (source.relative_to(ROOT).as_posix().replace("/", "-") + kind)

    def key(self, source: Path, included: list[str]) -> str:
        parts = [self.setting, " ".join(self.commands[source])]
        parts += [f"{name} {digest_of(Path(name), self.seen)}" for name in included]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def is_known_clean(self, source: Path) -> bool:
        try:
            note = json.loads(self.note(source).read_text())
            return note["key"] == self.key(source, note["included"])
        except (OSError, ValueError, KeyError):
            return False

    def included(self, source: Path) -> Optional[list[str]]:
        """All files that `source` includes, itself first; None if it cannot be preprocessed."""
        done = subprocess.run([*self.commands[source], "-M"], cwd=BUILD, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return None
        names = re.split(r"(?<!\\)\s+", done.stdout.partition(":")[2].replace("\\\n", " ").strip())
        return sorted({str((BUILD / name.replace("\\ ", " ")).resolve()) for name in names if name})

    def run(self, source: Path) -> str:
        """What clang-tidy says of `source`; empty when it is clean."""
        if self.is_known_clean(source):
            return ""
        included = self.included(source)
        before = self.key(source, included) if included else None
        done = subprocess.run(
            [TIDY, "-p", str(BUILD), "--quiet", *self.options, str(source)], cwd=ROOT, capture_output=True, text=True, check=False
        )
        said = done.stdout.replace(f"{ROOT}/", "").strip()
        if done.returncode != 0:
            return said or done.stderr.strip() or f"{source}:1: {TIDY} failed"
        if said:
            return said
        if before:
            CACHE.mkdir(parents=True, exist_ok=True)
            self.note(source).write_text(json.dumps({"key": before, "included": included}))
        return ""


def main() -> int:
    analyze = sys.argv[1:2] == ["--analyze"]
    names = sys.argv[2 if analyze else 1 :]
    tidy = Tidy(analyze)
    if names:
        wanted = [Path(name).resolve() for name in names]
    else:
        wanted = sorted(path for path in tidy.commands if path.is_relative_to(ROOT / "src"))
    unknown = [path for path in wanted if path not in tidy.commands]
    for path in unknown:
        print(f"{path}:1: is not compiled by the lint preset")
    with ThreadPoolExecutor(int(os.environ.get("LINT_JOBS", "2"))) as pool:
        said = [text for text in pool.map(tidy.run, (path for path in wanted if path not in unknown)) if text]
    for text in said:
        print(text)
    return 1 if said or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
