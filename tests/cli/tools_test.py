"""The tools as an agent uses them through the program: places, environment, results, and who is asked."""

from program import WAITING, ProgramTest, call, json, lives, os, shell, turn, unittest, write

SECRETS = {"ANTHROPIC_API_KEY": "sk-secret-1", "OPENAI_API_KEY": "sk-secret-2", "AWS_SECRET_ACCESS_KEY": "sk-secret-3",
           "GITHUB_TOKEN": "sk-secret-4", "PGPASSWORD": "sk-secret-5", "MY_OWN": "sk-secret-6",
           "LD_PRELOAD": "", "BASH_ENV": "/sk-secret-7", "ENV": "/sk-secret-8"}


class Used(ProgramTest):
    def use(self, *calls: dict, options: tuple = ("--allow", "*"), **settings) -> list[dict]:
        """Runs these calls in one turn on a thread of their own; how they ended, in order."""
        self.threads = getattr(self, "threads", 0) + 1
        numbered = [one | {"id": f"c{i}"} for i, one in enumerate(calls)]
        args = self.run_args(turn("", *numbered), turn("end"), thread=f"t{self.threads}")
        done = self.assent(*args, *options, "--json", **settings)
        self.assert_status(done, 0)
        return sorted(done.result["calls"], key=lambda one: one["position"])

    def told(self, one: dict, **settings) -> str:
        return self.use(one, **settings)[0]["result"]

    def refused(self, one: dict) -> str:
        [ended] = self.use(one)
        self.assertTrue(ended["is_error"], ended)
        return ended["result"]


class Files(Used):
    def test_a_leading_slash_means_the_workspace(self):
        self.use(write("/a/b.txt", "one"))
        self.assertEqual(self.file("a/b.txt").read_text(), "one")
        self.use(write("a/b.txt", "two"))
        self.assertEqual(self.file("a/b.txt").read_text(), "two")
        for path in ("/a/b.txt", "a/b.txt", "./a//b.txt", "//a/./b.txt"):
            self.assertIn("two", self.told(call("read_file", {"file_path": path})))
        self.assertEqual(self.told(call("ls", {"path": "/"})), self.told(call("ls", {})))
        self.assertIn("b.txt", self.told(call("ls", {"path": "/a"})))
        self.use(call("edit_file", {"file_path": "/a/b.txt", "old_string": "two", "new_string": "three"}))
        self.assertEqual(self.file("a/b.txt").read_text(), "three")

    def test_files_are_found_and_deleted(self):
        for path in ("a.txt", "src/b.txt", "src/.env", "old/deep/c.txt"):
            self.file(path).parent.mkdir(parents=True, exist_ok=True)
            self.file(path).write_text(f"text of {path}\n")
        self.assertEqual(self.told(call("glob", {"pattern": "*.txt"})), "/a.txt\n/old/deep/c.txt\n/src/b.txt\n")
        self.assertEqual(self.told(call("glob", {"pattern": "*", "path": "src"})), "src/b.txt\n")
        self.assertEqual(self.told(call("grep", {"pattern": "text of src"})), "/src/.env\n/src/b.txt\n")
        self.assertEqual(self.told(call("grep", {"pattern": "of", "glob": "a.*", "output_mode": "content"})),
                         "/a.txt:\n  1: text of a.txt\n")
        self.assertEqual(self.told(call("delete_file", {"file_path": "old"})), "Deleted old")
        self.assertFalse(self.file("old").exists())
        self.assertEqual(self.refused(call("delete_file", {"file_path": "old"})), "Error: File 'old' not found")

    def test_ways_out_are_refused(self):
        outside = self.root / "secret.txt"
        outside.write_text("secret")
        self.file("inner").mkdir()
        self.file("link").symlink_to(outside)
        self.file("folder").symlink_to(self.root)
        self.file("relative").symlink_to("../secret.txt")
        self.file("root").symlink_to("/")
        for path in ("../secret.txt", "/../secret.txt", "inner/../../secret.txt", "link", "folder/secret.txt", "relative",
                     f"root{outside}"):
            for one in (call("read_file", {"file_path": path}), write(path, "evil"),
                        call("edit_file", {"file_path": path, "old_string": "secret", "new_string": "evil"}),
                        call("grep", {"pattern": "secret", "path": path})):
                with self.subTest(path, tool=one["name"]):
                    self.assertNotIn("secret\n", self.refused(one))
        for path in ("..", "/..", "folder", "root"):
            self.assertNotIn("secret.txt", self.refused(call("ls", {"path": path})).replace(path, ""))
        self.assertEqual(outside.read_text(), "secret")
        self.assertTrue(self.file("link").is_symlink())
        self.assertIn("not found", self.refused(call("read_file", {"file_path": str(outside)})),
                      "an absolute path is one of the workspace")

    def test_what_is_no_file(self):
        self.file("folder").mkdir()
        os.mkfifo(self.file("fifo"))
        for path in ("folder", "fifo", "none", "", "a\0b"):
            with self.subTest(path):
                self.refused(call("read_file", {"file_path": path}))

    def test_a_file_that_is_no_text(self):
        self.file("b.bin").write_bytes(bytes(range(256)))
        self.assertIn("AAECAwQF", self.told(call("read_file", {"file_path": "b.bin"})))

    def test_names_of_files(self):
        for name in ("a b", "é例😀.txt", "-rf", "~", "$HOME", "a;b", "new\nline", ".hidden"):
            with self.subTest(name):
                self.use(write(name, "x"))
                self.assertEqual(self.file(name).read_text(), "x")


class Shell(Used):
    def test_no_secret_reaches_it(self):
        told = self.told(shell("env; cat /proc/self/environ | tr '\\0' '\\n'; cat /proc/$PPID/environ"), env=SECRETS)
        self.assertNotIn("sk-secret", told)
        self.assertIn("PATH=", told)

    def test_no_secret_reaches_an_approved_one(self):
        args = self.run_args(turn("", shell("env > env.txt")), turn("end"))
        self.assert_status(self.assent(*args, env=SECRETS), WAITING)
        self.ok("approve", self.pending_ids()[0], env=SECRETS)
        self.ok("resume", "t", env=SECRETS)
        self.assertNotIn("sk-secret", self.file("env.txt").read_text())

    def test_it_has_no_input_and_no_terminal(self):
        self.assertIn("[end]", self.told(shell("cat; echo '[end]'"), stdin=None))
        terminal = "test -t 0 || test -t 1 || test -t 2 || (exec 3</dev/tty) || echo none"
        args = self.run_args(turn("", shell(terminal)), turn("end"), thread="terminal")
        with self.screen(*args, "--allow", "shell") as screen:
            screen.expect("none")
            self.assertEqual(screen.end(), 0)

    def test_what_it_inherits(self):
        told = self.told(shell("grep -E '^Sig(Ign|Blk)' /proc/self/status; ls /proc/self/fd | wc -l; umask; pwd"))
        self.assertRegex(told, r"SigBlk:\s0000000000000000")
        self.assertRegex(told, r"SigIgn:\s0000000[01][08]0000000", "but two of the C library")
        self.assertIn(str(self.workspace), told)
        handles = int(next(line for line in told.splitlines() if line.isdigit()))
        self.assertLessEqual(handles, 4, "no file of the program is open in it")

    def test_its_result(self):
        self.assertEqual(self.told(shell("echo out; echo err >&2")), "stdout:\nout\nstderr:\nerr\nexit status: 0")
        [failed] = self.use(shell("exit 3"))
        self.assertEqual((failed["outcome"], failed["is_error"]), ("failed", True))
        self.assertIn("exit status: 3", failed["result"])
        self.assertIn("signal", self.told(shell("kill -9 $$")).lower())
        self.assertIn("(no output)", self.told(shell("true")))
        self.assertIn("syntax", self.told(shell("if")).lower())
        self.assertIn("exit status: 127", self.told(shell("no-such-command")))

    def test_much_output_is_cut_and_says_so(self):
        told = self.told(shell("head -c 3000000 /dev/zero | tr '\\0' x; echo tail"))
        self.assertLess(len(told), 1_500_000)
        self.assertIn("cut", told)

    def test_output_that_is_no_utf8(self):
        args = self.run_args(turn("", shell("printf '\\377\\376\\033[31mx'")), turn("end"))
        done = self.assent(*args, "--allow", "*", "--json")
        self.assert_status(done, 0)
        done.out.encode()  # valid
        args = self.run_args(turn("", shell("printf '\\033[31mred\\033]0;title\\a'")), turn("end"), thread="b")
        self.assertNotIn("\x1b", self.assent(*args, "--allow", "*").err)

    def test_what_it_leaves_behind_ends(self):
        self.use(shell("sleep 600 > /dev/null 2>&1 & echo $! > pid"))
        pid = int(self.file("pid").read_text())
        self.assertFalse(lives(pid))


class Asking(Used):
    READ = (call("ls", {}), call("glob", {"pattern": "*"}), call("grep", {"pattern": "r"}),
            call("read_file", {"file_path": "r.txt"}))
    WRITE = (write("w.txt", "w"), call("edit_file", {"file_path": "r.txt", "old_string": "r", "new_string": "s"}),
             call("delete_file", {"file_path": "none.txt"}), shell("true"))

    def verdicts(self, *options: str) -> dict[str, str]:
        found = {}
        for one in (*self.READ, *self.WRITE):
            said = self.ok("judge", one["name"], json.dumps(one["arguments"]), "--workspace", self.workspace,
                           *options).out
            found[one["name"]] = said.strip()
        return found

    def test_reading_runs_and_writing_asks(self):
        self.file("r.txt").write_text("r")
        self.assertEqual([one["outcome"] for one in self.use(*self.READ, options=())], ["done"] * 4)
        args = self.run_args(turn("", *[one | {"id": f"w{i}"} for i, one in enumerate(self.WRITE)]), thread="w")
        self.assert_status(self.assent(*args), WAITING)
        self.assertEqual(len(self.pending()), 4)

    def test_the_lists(self):
        asks = {"ls": "allow", "glob": "allow", "grep": "allow", "read_file": "allow", "write_file": "ask",
                "edit_file": "ask", "delete_file": "ask", "shell": "ask"}
        self.assertEqual(self.verdicts(), asks)
        self.assertEqual(self.verdicts("--ask", "ls,read_file"), asks | {"ls": "ask", "read_file": "ask"})
        self.assertEqual(self.verdicts("--allow", "write_file", "--allow", "shell"),
                         asks | {"write_file": "allow", "shell": "allow"})
        self.assertEqual(self.verdicts("--deny", "shell"), asks | {"shell": "deny"})
        self.assertEqual(set(self.verdicts("--ask", "*").values()), {"ask"})
        self.assertEqual(set(self.verdicts("--allow", "*").values()), {"allow"})
        self.assertEqual(set(self.verdicts("--deny", "*").values()), {"deny"})

    def test_the_strictest_wins(self):
        self.assertEqual(set(self.verdicts("--deny", "*", "--allow", "*", "--ask", "*").values()), {"deny"})
        self.assertEqual(set(self.verdicts("--allow", "*", "--ask", "*").values()), {"ask"})
        self.assertEqual(self.verdicts("--allow", "*", "--deny", "shell", "--ask", "ls"),
                         {"ls": "ask", "glob": "allow", "grep": "allow", "read_file": "allow", "write_file": "allow",
                          "edit_file": "allow", "delete_file": "allow", "shell": "deny"})
        self.assertEqual(self.verdicts("--allow", "shell", "--deny", "*")["shell"], "deny")

    def test_what_is_denied_asks_nobody(self):
        [denied] = self.use(shell("touch ran"), options=("--deny", "shell", "--allow", "*"))
        self.assertEqual((denied["outcome"], denied["denied_by"], denied["not_run"]), ("denied", "guard program", True))
        self.assertIn("The call of `shell` was denied", denied["result"])
        self.assertFalse(self.file("ran").exists())

    def test_lists_are_kept_with_the_thread(self):
        args = self.run_args(turn("", write("a", "b")), turn("", shell("touch ran")), turn("end"))
        self.assert_status(self.assent(*args, "--deny", "shell"), WAITING)
        self.ok("approve", self.pending_ids()[0])
        self.ok("resume", "t")
        self.assertFalse(self.file("ran").exists())

    def test_lists_that_change_at_resume(self):
        # Denied now: no approval under the old lists runs.
        self.assert_status(self.assent(*self.run_args(turn("", shell("touch ran")), turn("end"))), WAITING)
        self.ok("approve", self.pending_ids()[0])
        self.ok("resume", "t", "--deny", "shell")
        self.assertFalse(self.file("ran").exists())
        # Allowed now: the person is still asked.
        [held] = self.waiting(shell("touch ran"), thread="b")
        self.assert_status(self.assent("resume", "b", "--allow", "shell"), WAITING)
        self.assertFalse(self.file("ran").exists())
        self.ok("deny", held)
        self.ok("resume", "b")
        self.assertFalse(self.file("ran").exists())


if __name__ == "__main__":
    unittest.main()
