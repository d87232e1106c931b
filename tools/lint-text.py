#!/usr/bin/env python3
"""Holds every text file of the repository to a few rules that no compiler knows.

    tools/lint-text.py [ROOT]           one line `file:line: what is wrong` each; exit status 1 if any
    tools/lint-text.py --digest NAME    the line for tools/other-names.txt

The rules:
  * code in src, include and tests has at most 600 lines a file;
  * no comment that marks unfinished work: what is not done is an issue;
  * no names of other products (known by digest, so that they are not written here either), but in
    bench/peers, which measures them, and in what came of it;
  * no paths of somebody's machine, and no addresses but the ones that readers are sent to;
  * a link of a Markdown page to another file leads somewhere;
  * no spaces at the end of a line, no tabs in code, and a line end at the end of each file.
"""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

LINES_MAX = 600
CODE = {".cpp", ".hpp", ".h", ".c", ".py", ".ts"}
# Data that tests read: other people's words, kept byte for byte.
DATA = ("tests/cases/", "tests/fuzz/corpus/", "tests/golden/")
# What is measured beside Assent has to be named.
PEERS = ("bench/peers/", "bench/results/")

UNDONE = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX)\b")
MACHINE = re.compile(r"(?<![\w.])/(?:work/(?:main|shared)|tmp/wt|root/(?!\.))[\w/.-]*|(?<![\w.])/work/\.[\w/.-]*")
ADDRESS = re.compile(r"\b(?:https?|ftp)://([A-Za-z0-9.-]+)")
# example.*, names that end in .test or .invalid, this machine, and where readers are sent.
ADDRESS_FINE = re.compile(
    r"(?:.*\.)?example(?:\.(?:com|org|net))?|.*\.(?:test|invalid|localhost)|localhost|127\.0\.0\.1|x|"
    r"www\.apache\.org|keepachangelog\.com|semver\.org|json-schema\.org|api\.anthropic\.com|api\.openai\.com|"
    r"www\.rfc-editor\.org|www\.sqlite\.org|json\.schemastore\.org"
)
LINK = re.compile(r"\]\(([^)\s#:]+)(?:#[^)\s]*)?\)")
WORDS = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*")


def digest(word: str) -> str:
    return hashlib.sha256(word.encode()).hexdigest()[:20]


def other_names(root: Path) -> set[str]:
    path = root / "tools/other-names.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


def words_of(line: str) -> set[str]:
    """The words of a line in small letters, also joined over one `-`, `_` or `.`."""
    words = set()
    for chain in WORDS.findall(line.lower()):
        parts = re.split(r"[-_.]", chain)
        words.update(parts, (first + second for first, second in zip(parts, parts[1:])))
    return words


def tracked(root: Path) -> list[str]:
    """The files that are, or could be, in a commit."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        names = listed.stdout.decode().split("\0")
    else:
        names = [path.relative_to(root).as_posix() for path in root.rglob("*")]
        names = [name for name in names if not name.startswith((".git/", "build/"))]
    return sorted(name for name in names if name and (root / name).is_file() and not (root / name).is_symlink())


def faults_of(root: Path, name: str, names: set[str], known: dict[str, bool]) -> list[str]:
    raw = (root / name).read_bytes()
    if b"\0" in raw[:8000]:
        return []
    text = raw.decode("utf-8", errors="replace")
    faults = []
    lines = text.split("\n")
    is_data = name.startswith(DATA)
    is_code = Path(name).suffix in CODE
    if is_code and not is_data and name.startswith(("src/", "include/", "tests/")) and len(lines) - 1 > LINES_MAX:
        faults.append(f"{name}:{LINES_MAX}: {len(lines) - 1} lines; split it, {LINES_MAX} is the limit")
    if text and not text.endswith("\n") and not is_data:
        faults.append(f"{name}:{len(lines)}: the last line does not end")
    for number, line in enumerate(lines, 1):
        for word in words_of(line):
            if word not in known:
                known[word] = digest(word) in names
            if known[word] and not name.startswith(PEERS):
                faults.append(f"{name}:{number}: name of another product")
        if is_data:
            continue
        if line != line.rstrip():
            faults.append(f"{name}:{number}: spaces at the end")
        if is_code and "\t" in line:
            faults.append(f"{name}:{number}: a tab")
        if match := UNDONE.search(line):
            faults.append(f"{name}:{number}: `{match[0]}`: do it, or open an issue")
        if match := MACHINE.search(line):
            faults.append(f"{name}:{number}: `{match[0]}` is a path of one machine")
        if name.endswith(".md"):
            for match in LINK.finditer(line):
                if not (root / name).parent.joinpath(match[1]).exists():
                    faults.append(f"{name}:{number}: {match[1]} does not exist")
        if not name.startswith("tests/"):
            for match in ADDRESS.finditer(line):
                if not ADDRESS_FINE.fullmatch(match[1].lower()):
                    faults.append(f"{name}:{number}: address of {match[1]}: see tools/lint-text.py")
    return faults


def main() -> int:
    if sys.argv[1:2] == ["--digest"] and len(sys.argv) == 3:
        print(digest(re.sub(r"[^a-z0-9]", "", sys.argv[2].lower())))
        return 0
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    names = other_names(root)
    known: dict[str, bool] = {}
    faults = [fault for name in tracked(root) for fault in faults_of(root, name, names, known)]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
