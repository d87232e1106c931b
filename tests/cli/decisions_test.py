"""resume --decisions: a list for everything that is open, or decisions by id."""

from program import WAITING, ProgramTest, json, unittest, write

APPROVE = {"type": "approve"}


def edit(path: str) -> dict:
    return {"type": "edit", "edited_action": {"name": "write_file", "args": {"file_path": path, "content": "edited"}}}


class Decisions(ProgramTest):
    def setUp(self):
        super().setUp()
        self.ids = self.waiting(write("a.txt", "a", "call_1"), write("b.txt", "b", "call_2"))

    def resume(self, decisions: object, status: int = 0):
        done = self.assent("resume", "t", "--decisions", json.dumps(decisions), "--json")
        self.assert_status(done, status)
        return done

    def refused(self, decisions: object, words: str, kind: str = "refused") -> None:
        self.assert_fails(["resume", "t", "--decisions", json.dumps(decisions)], kind, words)

    def files(self) -> list[str]:
        return sorted(file.name for file in self.workspace.iterdir())

    def test_a_list_in_the_order_of_the_calls(self):
        calls = self.resume({"decisions": [{"type": "reject", "message": "not a"}, edit("c.txt")]}).result["calls"]
        self.assertEqual([call["outcome"] for call in calls], ["denied", "done"])
        self.assertIn("not a", calls[0]["result"])
        self.assertEqual(self.files(), ["c.txt"])

    def test_of_a_list_all_count_or_none(self):
        before = self.events()
        self.refused({"decisions": [APPROVE, {"type": "nope"}]}, "the decision nope is not allowed")
        self.refused({"decisions": [APPROVE]}, "decisions (1) does not match the number of calls that wait (2)")
        self.refused({"decisions": [edit("c.txt"), {"type": "edit"}]}, "edited_action")
        self.refused({"type": "approve"}, "the answer has no decisions")
        self.refused([APPROVE], "an answer must be an object")
        self.assertEqual((self.events(), self.pending_ids(), self.files()), (before, self.ids, []))
        self.resume({"decisions": [APPROVE, APPROVE]})
        self.assertEqual(self.files(), ["a.txt", "b.txt"])

    def test_decisions_by_id_count_each_for_itself(self):
        done = self.resume({self.ids[1]: APPROVE, self.ids[0]: {"type": "nope"}}, 1)
        self.assertEqual(done.result["error"]["kind"], "refused")
        self.assertEqual((self.files(), self.pending_ids()), (["b.txt"], [self.ids[0]]))
        self.resume({self.ids[0]: edit("c.txt")})
        self.assertEqual(self.files(), ["b.txt", "c.txt"])

    def test_an_edit_that_does_not_fit_is_told(self):
        bad = {"type": "edit", "edited_action": {"name": "write_file", "args": {"path": "a"}}}
        told = "tool write_file has no field path (nearest: file_path); it takes file_path, content"
        self.refused({self.ids[0]: bad}, told)
        bad["edited_action"]["name"] = "no_such_tool"
        self.refused({self.ids[0]: bad}, "no tool called no_such_tool")
        self.assertEqual(self.pending_ids(), self.ids)

    def test_one_that_waits_on(self):
        self.resume({self.ids[0]: APPROVE}, WAITING)
        self.assertEqual((self.files(), self.pending_ids()), (["a.txt"], [self.ids[1]]))
        self.refused({"no such id": APPROVE}, "no such id", "not_found")

    def test_people_are_told_what_counted(self):
        done = self.assent("resume", "t", "--decisions", json.dumps({"decisions": [APPROVE, {"type": "deny"}]}))
        self.assert_status(done, 0)
        self.assertIn(f"• {self.ids[0]} approved\n", done.err)
        self.assertIn(f"• {self.ids[1]} denied\n", done.err)


if __name__ == "__main__":
    unittest.main()
