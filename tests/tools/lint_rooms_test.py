"""tools/lint-rooms.py finds each kind of broken rule in a small tree, and nothing in a sound one."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LINT = Path(__file__).resolve().parents[2] / "tools/lint-rooms.py"

ROOMS = """# a comment
base:
policy: base
journal: base
gate: policy journal
store: journal
cli: base policy journal gate store
"""

SOUND = {
    "tools/rooms.txt": ROOMS,
    "include/assent/verdict.hpp": "#pragma once\n#include <string>\n",
    "include/assent/guard.hpp": "#pragma once\n#include <assent/verdict.hpp>\n",
    "include/assent/describe.hpp": "#pragma once\n#include <boost/describe.hpp>\n",
    "src/base/text.hpp": "#pragma once\n#include <assent/verdict.hpp>\n#include <sys/stat.h>\n",
    "src/policy/rules.hpp": '#pragma once\n#include "base/text.hpp"\n',
    "src/gate/gate.cpp": '#include "policy/rules.hpp"\n#include "base/text.hpp"\nauto p = Permit(std::move(state));\n',
    "src/store/sqlite/file.cpp": "#include <sqlite3.h>\nResult<File> open(Path path) { return db.open(path); }\n",
    "src/store/sqlite/runners.cpp": "int lock() { return open(path, O_RDWR); }\n",
    "src/base/clock.cpp": "auto now = clock_gettime(id, &at);\n",
    "src/gate/CMakeLists.txt": "assent_room(gate\n  SOURCES gate.cpp\n  ROOMS policy journal\n  LIBRARIES Threads::Threads)\n",
    "examples/first.cpp": "#include <assent/guard.hpp>\n",
}


class LintRooms(unittest.TestCase):
    def lint(self, changes: dict[str, str]) -> tuple[int, str]:
        """Status and output for the sound tree with `changes` laid over it."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**SOUND, **changes}.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            done = subprocess.run([sys.executable, "-B", LINT, folder], capture_output=True, text=True, check=False)
            self.assertEqual(done.stderr, "")
            return done.returncode, done.stdout

    def expect_fault(self, changes: dict[str, str], fault: str) -> None:
        status, output = self.lint(changes)
        self.assertIn(fault, output.splitlines())
        self.assertEqual(status, 1)

    def expect_sound(self, changes: dict[str, str]) -> None:
        self.assertEqual(self.lint(changes), (0, ""))

    def test_a_sound_tree_passes(self):
        self.expect_sound({})

    def test_an_arrow_that_is_not_drawn_is_found(self):
        self.expect_fault(
            {"src/policy/rules.cpp": '#include "policy/rules.hpp"\n\n#include "gate/gate.hpp"\n', "src/gate/gate.hpp": "#pragma once\n"},
            "src/policy/rules.cpp:3: policy may not include gate (only: base)",
        )

    def test_a_room_may_include_what_its_rooms_may_include(self):
        self.expect_sound({"src/cli/main.cpp": '#include "base/text.hpp"\n#include "policy/rules.hpp"\n'})

    def test_rooms_beside_each_other_do_not_meet(self):
        self.expect_fault(
            {"src/store/memory/store.cpp": '#include "policy/rules.hpp"\n'},
            "src/store/memory/store.cpp:1: store may not include policy (only: base journal)",
        )

    def test_a_commented_include_is_no_include_of_code(self):
        self.expect_sound({"src/policy/note.cpp": '// #include "gate/gate.hpp" would be wrong\n'})

    def test_a_header_is_named_from_src(self):
        self.expect_fault(
            {"src/policy/rules.cpp": '#include "rules.hpp"\n'},
            'src/policy/rules.cpp:1: "rules.hpp" must be named by its path below src/, such as "policy/rules.hpp"',
        )
        self.expect_fault(
            {"src/policy/rules.cpp": '#include "../base/text.hpp"\n'},
            'src/policy/rules.cpp:1: "../base/text.hpp" must be named by its path below src/, such as "policy/../base/text.hpp"',
        )

    def test_angle_brackets_do_not_hide_an_arrow(self):
        self.expect_fault(
            {"src/base/text.cpp": "#include <policy/rules.hpp>\n"},
            'src/base/text.cpp:1: write "policy/rules.hpp": <…> is for public headers and libraries',
        )

    def test_headers_that_do_not_exist(self):
        self.expect_fault({"src/base/a.cpp": '#include "base/b.hpp"\n'}, 'src/base/a.cpp:1: "base/b.hpp" does not exist')
        self.expect_fault({"src/base/a.cpp": "#include <assent/b.hpp>\n"}, "src/base/a.cpp:1: <assent/b.hpp> does not exist")

    def test_every_file_is_in_a_listed_room(self):
        self.expect_fault({"src/util/a.cpp": "\n"}, "src/util/a.cpp:1: room 'util' is not in tools/rooms.txt")
        self.expect_fault({"src/a.cpp": "\n"}, "src/a.cpp:1: is in no room: move it to src/ROOM/")

    def test_rooms_are_listed_from_the_ground_up(self):
        self.expect_fault({"tools/rooms.txt": ROOMS.replace("policy: base", "policy: base gate")}, "tools/rooms.txt:3: room 'gate' is not on a line above")

    def test_cmake_repeats_the_arrows(self):
        self.expect_fault(
            {"src/policy/CMakeLists.txt": "# assent_room(x)\nassent_room(policy\n  SOURCES a.cpp\n  ROOMS base store)\n"},
            "src/policy/CMakeLists.txt:2: policy may not use store; see tools/rooms.txt",
        )

    def test_a_room_may_have_parts(self):
        parts = {"src/base/CMakeLists.txt": "assent_room(base SOURCES a.cpp)\nassent_room(numbers SOURCES b.cpp ROOMS base)\n"}
        self.expect_sound({**parts, "src/policy/CMakeLists.txt": "assent_room(policy SOURCES a.cpp ROOMS base numbers)\n"})
        self.expect_fault(
            {"src/base/CMakeLists.txt": "assent_room(base SOURCES a.cpp ROOMS gate)\n"},
            "src/base/CMakeLists.txt:1: base may not use gate; see tools/rooms.txt",
        )

    def test_public_headers_include_public_headers(self):
        for name in ("<boost/json.hpp>", "<sqlite3.h>", "<unistd.h>", '"base/text.hpp"', '"verdict.hpp"'):
            with self.subTest(name):
                status, output = self.lint({"include/assent/guard.hpp": f"#pragma once\n#include {name}\n"})
                self.assertEqual(status, 1)
                self.assertIn("include/assent/guard.hpp:2: ", output)

    def test_examples_stand_outside(self):
        self.expect_fault(
            {"examples/first.cpp": '#include "base/text.hpp"\n'},
            'examples/first.cpp:1: an example cannot include "base/text.hpp": it uses public headers only',
        )

    def test_headers_have_a_guard(self):
        self.expect_fault({"src/base/a.hpp": "// #pragma once\n"}, "src/base/a.hpp:1: `#pragma once` is missing")

    def test_libraries_stay_in_their_room(self):
        self.expect_fault({"src/gate/sql.cpp": "#include <sqlite3.h>\n"}, "src/gate/sql.cpp:1: <sqlite3.h> is only for src/store/sqlite/")
        self.expect_fault({"src/cli/net.cpp": "#include <boost/asio/ip/tcp.hpp>\n"}, "src/cli/net.cpp:1: <boost/asio/ip/tcp.hpp> is only for src/net/")

    def test_permits_are_made_once_and_by_the_gate(self):
        for made in ("return Permit(std::move(s));", "Permit{std::move(s)};", "Permit p(std::move(s));", "assent::Permit(make());"):
            with self.subTest(made):
                self.expect_fault({"src/cli/a.cpp": f"\n{made}\n"}, "src/cli/a.cpp:2: only src/gate makes a Permit")
        self.expect_fault(
            {"src/gate/z.cpp": "auto p = Permit(std::move(state));\n"},
            "src/gate/z.cpp:1: a Permit is made here and at src/gate/gate.cpp:3; one place only",
        )

    def test_permits_may_be_declared_and_passed(self):
        self.expect_sound(
            {
                "src/store/a.cpp": "Permit::Permit(Permit&&) noexcept = default;\nPermit::~Permit() = default;\n"
                "Outcome start(Permit&& permit);\nPermit next(int number);\nstruct Permit {};\n"
                'auto text = "Permit(x)"; // Permit(x)\n'
            }
        )

    def test_time_and_chance_come_from_outside(self):
        for call in (
            "std::this_thread::sleep_for(1s);",
            "auto t = std::chrono::system_clock::now();",
            "auto t = std::chrono::steady_clock::now();",
            "std::random_device seed;",
            "int x = rand();",
            "usleep(3);",
            "::clock_gettime(0, &at);",
        ):
            with self.subTest(call):
                status, output = self.lint({"src/policy/a.cpp": f"\n{call}\n"})
                self.assertEqual(status, 1)
                self.assertIn("src/policy/a.cpp:2: ", output)
        self.expect_sound({"src/policy/a.cpp": "auto t = system_clock().now(); // not sleep_for\nint operand(int x);\n"})

    def test_functions_with_shared_state(self):
        self.expect_fault({"src/base/a.cpp": "puts(strerror(errno));\n"}, "src/base/a.cpp:1: `strerror` is not safe with threads; use its _r form or another way")

    def test_database_files_are_opened_by_sqlite_only(self):
        fault = "src/store/sqlite/a.cpp:2: closing a database file drops SQLite's locks on it: ask SQLite instead"
        for call in ("int fd = open(path, 0);", "return ::open(path, 0);", "std::ifstream in(path);", "if (fopen(p, m)) {}"):
            with self.subTest(call):
                self.expect_fault({"src/store/sqlite/a.cpp": f"\n{call}\n"}, fault)


if __name__ == "__main__":
    unittest.main()
