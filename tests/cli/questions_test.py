"""Calls that are questions: ask_user and confirm, shown and answered with the program; the answer is the result."""

from program import WAITING, ProgramTest, call, json, turn, unittest

QUESTIONS = {"questions": [
    {"key": "color", "prompt": "Which color?", "options": [{"label": "Red", "value": "red"}, {"label": "blue"}]},
    {"key": "sizes", "prompt": "Which sizes?", "options": [{"label": "s"}, {"label": "m"}], "multi_select": True,
     "required": False}]}
ONE = {"questions": [{"key": "name", "prompt": "Your name?"}]}
CONFIRM = {"prompt": "Deploy?", "details": {"to": "live"}}


class Questions(ProgramTest):
    def ask(self, tool: str, arguments: dict) -> str:
        return self.waiting(call(tool, arguments))[0]

    def result(self) -> dict:
        return self.ok("resume", "t", "--json").result["calls"][0]

    def test_questions_are_shown_with_what_can_be_answered(self):
        asked = self.ask("ask_user", QUESTIONS)
        one = self.pending()[0]
        self.assertEqual((one["kind"], one["tool"], one["question_id"]), ("ask", "ask_user", "call_1"))
        self.assertEqual(one["allowed_decisions"], ["respond", "deny"])
        self.assertEqual(one["payload"], {"kind": "ask", **QUESTIONS})
        shown = self.ok("show", asked).out
        for text in ("Question " + asked, "color: Which color?", "one of:", "- red: Red", "sizes: Which sizes?",
                     "(may be left out)", "any of:", "You may answer: respond, deny"):
            self.assertIn(text, shown)

    def test_answers_by_key_are_the_result(self):
        asked = self.ask("ask_user", QUESTIONS)
        answers = json.dumps({"color": "red", "sizes": ["m"]})
        self.assertEqual(self.ok("respond", asked, "--args", answers, "--json").json["state"], "answered")
        done = self.result()
        self.assertEqual((done["outcome"], done["not_run"]), ("answered", True))
        self.assertEqual(json.loads(done["result"].removeprefix("User answers:\n")), json.loads(answers))

    def test_answers_that_do_not_fit_are_refused(self):
        asked = self.ask("ask_user", QUESTIONS)
        self.assert_fails(["respond", asked, "--args", '{"color": "green"}'], "refused", "must be one of: red, blue")
        self.assert_fails(["respond", asked, "--args", '{"colour": "red"}'], "refused", "no question is called colour")
        self.assert_fails(["respond", asked, "--message", "red"], "refused", "give answers by key: color, sizes")
        self.assert_fails(["approve", asked], "refused", "does not take approve")
        self.assert_fails(["respond", asked], "usage", "respond needs either")
        self.assert_fails(["respond", asked, "--message", "a", "--args", "{}"], "usage", "respond needs either")
        self.assertEqual(self.pending_ids(), [asked])

    def test_one_free_text_and_a_refusal_to_answer(self):
        self.ok("respond", self.ask("ask_user", ONE), "--message", "Ada")
        self.assertIn('"name": "Ada"', self.result()["result"])
        asked = self.waiting(call("ask_user", ONE), thread="u")[0]
        self.ok("deny", asked, "--message", "not my business")
        done = self.ok("resume", "u", "--json").result["calls"][0]
        self.assertEqual((done["outcome"], done["result"]), ("denied", "cancelled by user: not my business"))

    def test_a_text_for_a_call_takes_no_answers(self):
        asked = self.waiting(call("write_file", {"file_path": "a.txt", "content": "a"}))[0]
        self.assert_fails(["respond", asked, "--args", "{}"], "refused", "asks no questions")

    def test_yes_and_no(self):
        for word, thread in (("approve", "yes"), ("deny", "no")):
            asked = self.waiting(call("confirm", CONFIRM), thread=thread)[0]
            one = self.pending()[0]
            self.assertEqual((one["kind"], one["description"], one["details"]), ("confirm", "Deploy?", {"to": "live"}))
            shown = self.ok("show", asked).out
            self.assertIn("Deploy?", shown)
            self.assertIn("approve, which is yes, or deny, which is no", shown)
            self.ok(word, asked)
            done = self.ok("resume", thread, "--json").result["calls"][0]
            self.assertEqual((done["outcome"], done["result"]), ("answered", thread))

    def test_a_person_at_a_terminal_is_asked_each_question(self):
        args = self.run_args(turn("I will.", call("ask_user", QUESTIONS)), turn("The end."))
        with self.screen(*args) as screen:
            screen.answer("[respond, deny, later, view, ?]", "respond")
            screen.expect("Which color?")
            screen.type("Red\n")
            screen.expect("Which sizes? (several apart by commas)")
            screen.type("s, m\n")
            screen.expect("The end.")
            self.assertEqual(screen.end(), 0)
        answered = [entry for entry in self.history() if entry["event"] == "answered"][0]
        self.assertEqual(json.loads(answered["arguments"]), {"color": "red", "sizes": ["s", "m"]})

    def test_answers_beforehand(self):
        done = self.assent(*self.run_args(turn("I will.", call("confirm", CONFIRM, "a"), call("ask_user", ONE, "b")),
                                          turn("The end.")), "--answers", "approve,respond:Ada", "--json")
        self.assert_status(done, 0)
        self.assertEqual([one["outcome"] for one in done.result["calls"]], ["answered", "answered"])

    def test_it_is_said_how_to_answer(self):
        done = self.assent(*self.run_args(turn("I will.", call("ask_user", ONE)), turn("The end.")))
        self.assert_status(done, WAITING)
        self.assertIn("--args JSON (or --message TEXT for one free text)", done.err)


if __name__ == "__main__":
    unittest.main()
