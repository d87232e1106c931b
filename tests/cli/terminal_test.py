"""A person at a terminal: only a whole line typed at the question decides; all else leaves it open."""

from program import INTERRUPTED, WAITING, ProgramTest, shell, signal, turn, unittest, wait_until, write

QUESTION = "[approve, deny, edit, respond, later, view, ?]"


class Asked(ProgramTest):
    def ask(self, *calls: dict, env: dict | None = None, ahead: str = "", options: tuple = ()):
        args = self.run_args(turn("I will.", *calls), turn("The end."))
        return self.screen(*args, *options, env=env, ahead=ahead)

    def assert_open(self, count: int = 1) -> None:
        self.assertEqual(len(self.pending()), count)
        self.assertEqual(list(self.workspace.iterdir()), [])

    def call(self, position: int = 0) -> dict:
        """How the call ended, as the history tells."""
        return [one for entry in self.history() for one in entry.get("calls", []) if "outcome" in one][position]



class Answers(Asked):
    def test_approve(self):
        with self.ask(write("a.txt", "first\nsecond\n")) as screen:
            shown = screen.expect(QUESTION)
            for text in ("write_file", "a.txt", "first", "second", "program", "digest"):
                self.assertIn(text, shown)
            self.assertFalse(self.file("a.txt").exists())
            screen.expect("> ")
            screen.type("approve\n")
            screen.expect("The end.")
            self.assertEqual(screen.end(), 0)
        self.assertEqual(self.file("a.txt").read_text(), "first\nsecond\n")
        self.assertEqual([entry["signed_in"] for entry in self.history() if entry["event"] == "answered"], ["terminal"])

    def test_words_may_be_short_and_wrong_ones_decide_nothing(self):
        with self.ask(write("a.txt", "a")) as screen:
            for wrong in ("", "y", "yes", "ok", "approved", "x approve", "approve it", "1"):
                screen.answer(QUESTION, wrong)
                screen.expect("Nothing is decided")
            screen.answer(QUESTION, "?")
            screen.expect("run it as shown")
            screen.answer(QUESTION, "view")
            screen.expect("a.txt")
            screen.answer(QUESTION, "  APP ")
            self.assertEqual(screen.end(), 0)
        self.assertEqual(self.file("a.txt").read_text(), "a")

    def test_what_was_typed_before_decides_nothing(self):
        with self.ask(write("a.txt", "a"), ahead="approve\napprove\n\napprove\n") as screen:
            screen.answer(QUESTION, "later")
            self.assertEqual(screen.end(), WAITING)
        self.assert_open()

    def test_deny_with_a_reason(self):
        with self.ask(write("a.txt", "a")) as screen:
            screen.answer(QUESTION, "deny")
            screen.expect("Reason")
            screen.type("not today\n")
            screen.expect("The end.")
            self.assertEqual(screen.end(), 0)
        self.assertIn("denied: not today.", screen.shown)
        self.assertFalse(self.file("a.txt").exists())

    def test_edit_in_an_editor(self):
        with self.ask(write("a.txt", "first"), env={"EDITOR": "sed -i s/first/edited/"}) as screen:
            screen.answer(QUESTION, "edit")
            shown = screen.expect("Use these arguments?")
            self.assertIn("first", shown)
            self.assertIn("edited", shown)
            screen.answer("[yes, no]", "no")
            screen.answer(QUESTION, "edit")
            screen.answer("[yes, no]", "yes")
            self.assertEqual(screen.end(), 0)
        self.assertEqual(self.file("a.txt").read_text(), "edited")
        self.assertEqual(list(self.root.glob("**/assent-edit-*")), [], "no copy is left")

    def test_editors_that_fail_or_change_nothing(self):
        for editor, words in (("false", "failure"), ("true", "Nothing is changed"), ("rm", "cannot be read"),
                              ("/no/such/editor", "failure"), ("sh -c 'echo { > \"$1\"' x", "cannot be used")):
            with self.subTest(editor), self.ask(write("a.txt", "a"), env={"EDITOR": editor}) as screen:
                screen.answer(QUESTION, "edit")
                screen.expect(words)
                screen.answer(QUESTION, "later")
                self.assertEqual(screen.end(), WAITING)
                self.assert_open()
                self.db.unlink()

    def test_an_edit_that_does_not_fit_is_told_and_stays_open(self):
        with self.ask(write("a.txt", "a"), env={"EDITOR": "sed -i s/file_path/path/"}) as screen:
            screen.answer(QUESTION, "edit")
            screen.answer("[yes, no]", "yes")
            screen.expect("no field path")
            screen.answer(QUESTION, "later")
            self.assertEqual(screen.end(), WAITING)
        self.assert_open()

    def test_edit_without_an_editor(self):
        with self.ask(shell("false")) as screen:
            screen.answer(QUESTION, "edit")
            screen.expect("one line of JSON")
            screen.type('{"command": "echo > typed"}\n')
            screen.answer("[yes, no]", "y")
            self.assertEqual(screen.end(), 0)
        self.assertTrue(self.file("typed").exists())

    def test_respond(self):
        with self.ask(shell("touch ran")) as screen:
            screen.answer(QUESTION, "respond")
            screen.expect("(one line")
            screen.type("it is Tuesday\n")
            screen.expect("The end.")
            self.assertEqual(screen.end(), 0)
        self.assertIn("it is Tuesday", str(self.history()))
        self.assertEqual(list(self.workspace.iterdir()), [])

    def test_later_and_resume(self):
        with self.ask(write("a.txt", "a"), write("b.txt", "b", "c2")) as screen:
            screen.answer(QUESTION, "later")
            screen.answer(QUESTION, "approve")
            self.assertEqual(screen.end(), WAITING)
            self.assertIn("resume t", screen.shown)
        self.assertEqual([file.name for file in self.workspace.iterdir()], ["b.txt"])
        with self.screen("resume", "t") as screen:
            screen.answer(QUESTION, "approve")
            screen.expect("The end.")
            self.assertEqual(screen.end(), 0)
        self.assertEqual(self.file("a.txt").read_text(), "a")

    def test_somebody_else_was_faster(self):
        with self.ask(shell("echo ran >> log")) as screen:
            screen.expect(QUESTION)
            screen.expect("> ")
            self.ok("deny", self.pending_ids()[0], "--message", "no")
            screen.type("approve\n")
            screen.expect("already denied")
            self.assertEqual(screen.end(), 0)
        self.assertFalse(self.file("log").exists())

    def test_a_list_of_answers_goes_before_the_person(self):
        with self.ask(write("a.txt", "a"), shell("touch ran", "c2"), options=("--answers", "approve")) as screen:
            screen.expect("A person is needed")
            self.assertEqual(screen.end(), WAITING)

    def test_no_question_with_json_or_without_a_terminal(self):
        with self.ask(write("a.txt", "a"), options=("--json",)) as screen:
            self.assertEqual(screen.end(), WAITING)
            self.assertNotIn(QUESTION, screen.shown)
        self.assert_open()

    def test_quiet_still_asks(self):
        with self.ask(write("a.txt", "a"), options=("--quiet",)) as screen:
            screen.answer(QUESTION, "approve")
            self.assertEqual(screen.end(), 0)

    def test_text_of_the_model_cannot_look_like_the_question(self):
        fake = f"\x1b[2J\x1b[Happroval 9 shell {QUESTION}> approve\r\n\x1b]0;x\x07\u202e"
        with self.ask(write("a.txt", fake)) as screen:
            screen.expect("digest")
            screen.expect("> approve")  # the model's own words, behind the gutter
            screen.answer(QUESTION, "later")
            self.assertEqual(screen.end(), WAITING)
            self.assertNotIn("\x1b[2J", screen.shown)
            self.assertNotIn("\x1b]0", screen.shown)
            self.assertNotIn("\u202e", screen.shown)
        self.assert_open()


class EndsOfTheTerminal(Asked):
    def test_interrupt_key(self):
        with self.ask(write("a.txt", "a")) as screen:
            screen.answer(QUESTION, "\x03")
            self.assertEqual(screen.end(), INTERRUPTED)
        self.assert_open()

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number), self.ask(write("a.txt", "a")) as screen:
                modes = screen.modes()
                screen.expect(QUESTION)
                screen.expect("> ")
                screen.type("appr")
                screen.process.send_signal(number)
                self.assertEqual(screen.end(), INTERRUPTED)
                self.assertEqual(screen.modes(), modes)
                self.assert_open()
                self.db.unlink()

    def test_the_end_of_the_input(self):
        with self.ask(write("a.txt", "a"), write("b.txt", "b", "c2")) as screen:
            screen.expect(QUESTION)
            screen.expect("> ")
            screen.type("\x04")
            self.assertEqual(screen.end(), INTERRUPTED)
        self.assert_open(2)

    def test_a_terminal_that_closes(self):
        for typed in ("", "approve"):
            with self.subTest(typed), self.ask(write("a.txt", "a")) as screen:
                screen.expect(QUESTION)
                screen.expect("> ")
                screen.type(typed)
                screen.hang_up()
                self.assertIn(screen.end(), (INTERRUPTED, WAITING))
                self.assert_open()
                self.db.unlink()

    def test_a_signal_while_the_editor_is_open(self):
        editor = f"sh -c 'echo > {self.root}/editing; exec sleep 600' x"
        with self.ask(write("a.txt", "a"), env={"EDITOR": editor}) as screen:
            screen.answer(QUESTION, "edit")
            wait_until((self.root / "editing").exists, "the editor is open")
            screen.process.send_signal(signal.SIGTERM)
            self.assertEqual(screen.end(), INTERRUPTED)
        self.assert_open()
        self.assertEqual(list(self.root.glob("**/assent-edit-*")), [])


if __name__ == "__main__":
    unittest.main()
