#!/usr/bin/env python3
"""Holds the code to the rooms and arrows of tools/rooms.txt, and to the rules that go with them.

    tools/lint-rooms.py [ROOT]

Each broken rule is one line `file:line: what is wrong`; the exit status is 1 if there is any.
The rules are the functions called `rule_…`; each says in its first line what it holds.
"""

import re
import sys
from pathlib import Path
from typing import Iterator, NamedTuple

# Headers of a library that only one place in src/ may see.
KEPT_IN = {
    "sqlite3.h": "src/store/sqlite/",
    "libpq-fe.h": "src/store/postgres/",
    "curl/": "src/net/out/",
    "prometheus/": "src/watch/",
    "boost/asio": "src/net/",
    "boost/beast": "src/net/",
    "CLI/": "src/cli/",
}

# Public headers that opt in to Boost.
PUBLIC_WITH_BOOST = {"describe.hpp", "json.hpp"}

# Time and randomness come in from outside; these files are that outside. The helper that supervises
# processes is a program of its own and links no room.
TIME_AND_CHANCE = ("src/base/clock.cpp", "src/base/test_point.cpp", "src/exec/helper/")

# Opening and closing a database file by hand drops the locks that SQLite holds on it, and commits
# are lost. Only the file with the side lock, which is no database, may open anything.
SQLITE_MAY_OPEN = {"src/store/sqlite/runners.cpp"}

STANDARD_HEADERS = set(
    """algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes
    climits clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef
    cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem format forward_list
    fstream functional future initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map
    memory memory_resource mutex new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator
    semaphore set shared_mutex source_location span sstream stack stdexcept stop_token streambuf string string_view
    strstream syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility
    valarray variant vector version""".split()
)

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


class Fault(NamedTuple):
    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


class Source:
    """One file: its text, the same text with comments and literals blanked out, and its includes."""

    def __init__(self, root: Path, path: Path):
        self.path = path.relative_to(root).as_posix()
        self.name = path.name
        self.text = path.read_text(encoding="utf-8")
        self.code = without_comments_and_literals(self.text)
        self.includes = [
            (self.text.count("\n", 0, match.start()) + 1, match[1] == '"', match[2])
            for match in INCLUDE.finditer(self.text)
        ]

    def fault(self, line: int, text: str) -> Fault:
        return Fault(self.path, line, text)

    def found(self, pattern: re.Pattern) -> Iterator[tuple[int, re.Match]]:
        """Where `pattern` is found in the code, comments and literals aside."""
        for match in pattern.finditer(self.code):
            yield self.code.count("\n", 0, match.start()) + 1, match


TOKENS = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<tag>[^()\\\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])*'""",
    re.DOTALL,
)


def without_comments_and_literals(text: str) -> str:
    """`text` with comments and literals replaced by spaces; every line keeps its number."""
    return TOKENS.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


class Project:
    def __init__(self, root: Path):
        self.root = root
        self.faults: list[Fault] = []
        self.arrows = self.read_rooms()
        self.rooms = [Source(root, path) for path in self.files("src")]
        self.public = [Source(root, path) for path in self.files("include/assent")]
        self.examples = [Source(root, path) for path in self.files("examples")]

    def files(self, folder: str) -> list[Path]:
        found = (self.root / folder).rglob("*")
        return sorted(path for path in found if path.suffix in {".hpp", ".cpp", ".h", ".c"} and path.is_file())

    def read_rooms(self) -> dict[str, set[str]]:
        """room -> all rooms it may include: the listed ones, what these may include, and itself."""
        listed: dict[str, list[str]] = {}
        name = "tools/rooms.txt"
        for number, line in enumerate((self.root / name).read_text(encoding="utf-8").splitlines(), 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            room, colon, allowed = line.partition(":")
            if not colon or room in listed:
                self.faults.append(Fault(name, number, f"'{line}' is no line of the form `room: rooms`, or comes twice"))
                continue
            for other in allowed.split():
                # Each line may name only rooms above it, so there are no circles.
                if other not in listed:
                    self.faults.append(Fault(name, number, f"room '{other}' is not on a line above"))
            listed[room.strip()] = allowed.split()
        arrows: dict[str, set[str]] = {}
        for room, allowed in listed.items():
            arrows[room] = {room}.union(*(arrows.get(other, set()) for other in allowed))
        return arrows


def room_of(source: Source) -> str:
    return source.path.split("/")[1]


def rule_rooms_include_along_the_arrows(project: Project) -> Iterator[Fault]:
    """A file in src/ROOM includes files of rooms that its room may include, by their path below src/."""
    for source in project.rooms:
        room = room_of(source)
        if source.path.count("/") < 2:
            yield source.fault(1, "is in no room: move it to src/ROOM/")
            continue
        if room not in project.arrows:
            yield source.fault(1, f"room '{room}' is not in tools/rooms.txt")
            continue
        for line, quoted, name in source.includes:
            first = name.split("/")[0]
            if not quoted:
                if first in project.arrows and (project.root / "src" / name).exists():
                    yield source.fault(line, f'write "{name}": <…> is for public headers and libraries')
                continue
            if "/" not in name or first in {".", ".."} or first not in project.arrows:
                yield source.fault(line, f'"{name}" must be named by its path below src/, such as "{room}/{name}"')
            elif first not in project.arrows[room]:
                may = " ".join(sorted(project.arrows[room] - {room})) or "no other room"
                yield source.fault(line, f"{room} may not include {first} (only: {may})")
            elif not (project.root / "src" / name).exists():
                yield source.fault(line, f'"{name}" does not exist')


ROOM_CALL = re.compile(r"assent_room\(\s*(\w+)([^)]*)\)", re.DOTALL)


def rule_cmake_repeats_the_arrows(project: Project) -> Iterator[Fault]:
    """The ROOMS of `assent_room(NAME …)` are rooms that rooms.txt allows, or parts of such rooms."""
    calls = []
    part_of = {room: room for room in project.arrows}
    for path in sorted((project.root / "src").glob("*/**/CMakeLists.txt")):
        text = re.sub(r"#[^\n]*", "", path.read_text(encoding="utf-8"))
        name = path.relative_to(project.root).as_posix()
        for match in ROOM_CALL.finditer(text):
            calls.append((name, name.split("/")[1], text.count("\n", 0, match.start()) + 1, match[2].split()))
            part_of[match[1]] = name.split("/")[1]
    for name, room, line, words in calls:
        section = None
        for word in words:
            if word in {"SOURCES", "ROOMS", "LIBRARIES"}:
                section = word
            elif section == "ROOMS" and part_of.get(word) not in project.arrows.get(room, set()):
                yield Fault(name, line, f"{room} may not use {word}; see tools/rooms.txt")


def rule_public_headers_stand_alone(project: Project) -> Iterator[Fault]:
    """A public header includes standard headers and public headers only; two opt in to Boost."""
    for source in project.public:
        for line, quoted, name in source.includes:
            if quoted:
                yield source.fault(line, f'a public header cannot include "{name}": write <assent/…>')
            elif name.startswith("boost/"):
                if source.name not in PUBLIC_WITH_BOOST:
                    yield source.fault(line, f"only {' and '.join(sorted(PUBLIC_WITH_BOOST))} may include <{name}>")
            elif not name.startswith("assent/") and name not in STANDARD_HEADERS:
                yield source.fault(line, f"a public header cannot include <{name}>")


def rule_public_headers_exist(project: Project) -> Iterator[Fault]:
    """Every <assent/…> that is included exists."""
    for source in project.public + project.rooms + project.examples:
        for line, quoted, name in source.includes:
            if not quoted and name.startswith("assent/") and not (project.root / "include" / name).exists():
                yield source.fault(line, f"<{name}> does not exist")


def rule_examples_are_written_from_outside(project: Project) -> Iterator[Fault]:
    """An example includes nothing of src/."""
    for source in project.examples:
        for line, quoted, name in source.includes:
            if quoted and not (project.root / source.path).parent.joinpath(name).exists():
                yield source.fault(line, f'an example cannot include "{name}": it uses public headers only')


def rule_headers_have_a_guard(project: Project) -> Iterator[Fault]:
    """A header says `#pragma once`."""
    for source in project.public + project.rooms:
        if source.name.endswith((".hpp", ".h")) and "#pragma once" not in source.code:
            yield source.fault(1, "`#pragma once` is missing")


def rule_libraries_are_kept_in_their_room(project: Project) -> Iterator[Fault]:
    """SQLite, libpq, curl, Asio and their like are seen by one place each."""
    for source in project.rooms:
        for line, _, name in source.includes:
            for header, place in KEPT_IN.items():
                if name.startswith(header) and not source.path.startswith(place):
                    yield source.fault(line, f"<{name}> is only for {place}")


# Permit(…), Permit{…}, and `Permit p` begun from a state; not declarations of its constructors.
PERMIT_MADE = re.compile(
    r"(?<!~)(?<!Permit::)(?<!explicit )(?<!class )(?<!struct )\bPermit\s*"
    r"(?:\((?!\s*(?:const\s+)?Permit\b)|\{|\w+\s*(?:\{|\(\s*(?:std::)?(?:move|make_unique)\b))"
)


def rule_permits_are_made_in_one_place(project: Project) -> Iterator[Fault]:
    """`Permit(…)` is written once, in src/gate."""
    made = []
    for source in project.rooms:
        for line, _ in source.found(PERMIT_MADE):
            if not source.path.startswith("src/gate/"):
                yield source.fault(line, "only src/gate makes a Permit")
            else:
                made.append((source, line))
    for source, line in made[1:]:
        first, first_line = made[0]
        yield source.fault(line, f"a Permit is made here and at {first.path}:{first_line}; one place only")


NOT_INSIDE = re.compile(
    r"\b(?:sleep_for|sleep_until|usleep|nanosleep|clock_gettime|gettimeofday|getrandom|random_device|mt19937\w*)\b"
    r"|\b(?:system_clock|steady_clock|high_resolution_clock)::now\b"
    r"|(?<![.\w>:])(?:::|std::)?s?rand\s*\(|(?<![.\w>:])(?:::|std::)?time\s*\(\s*(?:0|NULL|nullptr)\s*\)"
    r"|(?<![.\w>:])(?:::)?sleep\s*\("
)


def rule_time_and_chance_come_from_outside(project: Project) -> Iterator[Fault]:
    """No sleeping, no clock and no random number except through Clock and Random."""
    for source in project.rooms:
        if not source.path.startswith(TIME_AND_CHANCE):
            for line, match in source.found(NOT_INSIDE):
                yield source.fault(line, f"`{match[0].strip()}`: take Clock& or Random& instead")


SHARED_BUFFER = re.compile(r"(?<![.\w>:])(?:::|std::)?(?:strerror|localtime|gmtime|asctime|ctime|strtok|setenv|putenv)\s*\(")


def rule_no_functions_with_shared_state(project: Project) -> Iterator[Fault]:
    """A library in somebody's process calls no function that another thread can disturb."""
    for source in project.rooms:
        for line, match in source.found(SHARED_BUFFER):
            yield source.fault(line, f"`{match[0].strip(' (')}` is not safe with threads; use its _r form or another way")


OPENS = re.compile(r"(?<![.\w>:])(?:::)?(?:open|openat|open64|creat|fopen)\s*\(|\b(?:i|o)?fstream\b")
DECLARED = re.compile(r"[\w>&*\]]\s+$")


def rule_database_files_are_opened_by_sqlite_only(project: Project) -> Iterator[Fault]:
    """Nothing in src/store/sqlite opens a file itself, except the side lock."""
    for source in project.rooms:
        if not source.path.startswith("src/store/sqlite/") or source.path in SQLITE_MAY_OPEN:
            continue
        for line, match in source.found(OPENS):
            before = source.code[: match.start()][-80:]
            if DECLARED.search(before) and not re.search(r"\breturn\s+$", before):
                continue  # a function of this name is declared here
            yield source.fault(line, "closing a database file drops SQLite's locks on it: ask SQLite instead")


def check(root: Path) -> list[Fault]:
    project = Project(root)
    faults = list(project.faults)
    for name, rule in globals().items():
        if name.startswith("rule_"):
            faults.extend(rule(project))
    return sorted(faults)


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    faults = check(root)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
