"""What the program is asked to do while it is killed, a person who answers it, and what must hold at the end.

A person here does what people do after a crash: look, say again what they are not sure about, go on.
"""

from folder import THREAD, Folder, Wrong, need


def shell(call, line=None):
    return {"id": call, "name": "shell", "arguments": {"command": f'echo {line or call} >> "@/effects.txt"'}}


END = {"text": "That is all."}
READ = {"id": "read", "name": "read_file", "arguments": {"file_path": "orders.txt"}}
REPORT = {"id": "report", "name": "write_file", "arguments": {"file_path": "report.md", "content": "# Orders\n"}}
# Run twice, it would show twice.
COUNT = {
    "id": "count",
    "name": "edit_file",
    "arguments": {"file_path": "counter.txt", "old_string": "0", "new_string": "0+1"},
}


class Scenario:
    """Turns of the model, what a person does in order, and how often each call must have its effect."""

    def __init__(self, name, turns, phases, effects, answers=None, crashes=None):
        self.name = name
        self.turns = turns
        self.phases = phases
        self.effects = effects
        self.answers = answers or {}  # default: approve
        self.crashes = crashes or {}  # number of the process: point at which it always dies


MAIN = Scenario(
    "main",
    [
        {"text": "First I read.", "calls": [READ]},
        {"text": "A report.", "calls": [REPORT]},
        {"text": "A command.", "calls": [shell("one")]},
        {"text": "Two commands.", "calls": [shell("yes"), shell("no")]},
        {"text": "One to change.", "calls": [shell("edited")]},
        {"text": "Two at once.", "calls": [shell("left"), shell("right")]},
        {"text": "A change, and a question.", "calls": [COUNT, shell("asked")]},
        END,
    ],
    [("prompt", []), ("until", "done")],
    {"report": 1, "one": 1, "yes": 1, "no": 0, "edited": 1, "left": 1, "right": 1, "count": 1, "asked": 0},
    answers={
        "no": ["deny", "--message", "not this one"],
        "edited": ["edit", "--set", 'command="echo changed >> \\"@/effects.txt\\""'],
        "asked": ["respond", "--message", "I did it myself"],
    },
)
# A run that reaches a limit, an abort, and a second prompt.
STOPS = Scenario(
    "stops",
    [
        {"text": "First I read.", "calls": [READ]},
        {"text": "A command.", "calls": [shell("never")]},
        {"text": "Another.", "calls": [shell("later")]},
        END,
    ],
    [
        ("prompt", ["--max-turns", "1"]),
        ("until", "failed"),
        ("resume", ["--max-turns", "50"]),
        ("until", "waiting"),
        ("abort", []),
        ("prompt", []),
        ("until", "done"),
    ],
    {"never": 0, "later": 1},
    answers={"never": None},
)


def doubt(name, point, call):
    """A run that dies while a tool is started, and what is done about it."""
    return Scenario(
        name,
        [{"text": "One call.", "calls": [call]}, END],
        [("prompt", []), ("until", "done")],
        {call["id"]: 1},
        crashes={2: f"{point}:1"},
    )


RETRIED = doubt("retried", "tool:start", shell("one"))
# File tools keep no receipts: a person has to look.
RESOLVED = doubt("resolved", "tool:end", COUNT)
# The shell's helper does: nobody is asked.
PROVED = doubt("proved", "tool:end", shell("one"))
ALL = [MAIN, STOPS, RETRIED, RESOLVED, PROVED]


def attempts(events):
    """Every start as (attempt, call's place)."""
    return [
        (start["attempt"], place(start))
        for event in events
        if event["event"] == "claimed"
        for start in event["starts"]
    ]


def place(event):
    return (event["call"]["turn"], event["call"]["position"])


def in_flight(events):
    ended = {event["attempt"] for event in events if event["event"] in ("finished", "doubted", "released")}
    return {attempt for attempt, _ in attempts(events)} - ended


class Person:
    """Goes through a scenario. `launch(number, arguments)` runs one process of the program and may kill it."""

    def __init__(self, scenario, folder: Folder, launch):
        self.scenario = scenario
        self.folder = folder
        self.launch = launch
        self.processes = 0
        self.result = {}
        self.told = []  # (place, decision) of every answer that was told to be recorded
        self.lost_in_flight = set()  # attempts whose runner was killed
        self.counted = 0  # answers of killed processes that counted nevertheless
        self.unknown = 0  # unknown outcomes that were asked about
        self.proved = 0  # outcomes of killed runners that a receipt proved
        self.effects_seen = {}
        self.deaths = []  # how many attempts were in flight at each runner's death

    def go(self):
        for kind, value in self.scenario.phases:
            if kind == "prompt":
                self.result = self.prompt(value)
            elif kind == "resume":
                self.result = self.resume(value)
            elif kind == "until":
                self.until(value)
            else:
                self.abort()
        self.check()

    def process(self, *arguments):
        number = self.processes
        self.processes += 1
        return self.launch(number, list(arguments))

    def runner_died(self):
        flight = in_flight(self.folder.journal())
        self.lost_in_flight |= flight
        self.deaths.append(len(flight))

    def runner_ended(self, ended):
        need(ended.json.get("result"), f"{ended}")
        need(ended.error_kind() != "leased", f"nobody else runs the thread: {ended}")
        return ended.json

    def prompts(self):
        return sum(event["event"] == "user_message" for event in self.folder.journal())

    def prompt(self, options):
        before = self.prompts()
        arguments = ["run", "--thread", THREAD, *(self.folder.model() if before == 0 else []), *options, "go on"]
        ended = self.process(*arguments)
        while ended.killed:
            self.runner_died()
            if self.prompts() > before:
                return self.resume(options)
            if before == 0:
                need(self.folder.run(["resume", THREAD]).error_kind() == "unknown_thread", "half a thread was made")
            ended = self.process(*arguments)
        return self.runner_ended(ended)

    def resume(self, options=()):
        while (ended := self.process("resume", THREAD, *options)).killed:
            self.runner_died()
        return self.runner_ended(ended)

    def until(self, result):
        while self.result["result"] != result or self.result_has_unknown():
            need(self.result["result"] == "waiting", f"the run ended as {self.result}")
            self.decide(self.result["interrupts"])
            self.result = self.resume()

    def result_has_unknown(self):
        return any(approval["kind"] == "unknown" for approval in self.result["interrupts"])

    def decide(self, approvals):
        for approval in approvals:
            if approval["kind"] == "unknown":
                self.resolve(approval)
            elif arguments := self.answer_to(approval):
                self.answer(approval, arguments)

    def answer_to(self, approval):
        """The arguments of the process that answers, or nothing for a question that is left open."""
        answer = self.scenario.answers.get(approval["tool_call_id"], ["approve"])
        if answer is None:
            return None
        verb, *options = [part.replace("@", str(self.folder.workspace)) for part in answer]
        return [verb, approval["id"], *options]

    def answer(self, approval, arguments):
        ended = self.process(*arguments)
        again = ended.killed
        while ended.killed:
            counts = self.answers_in_journal(approval) == 1
            self.counted += counts
            ended = self.process(*arguments)
            need(ended.killed or ended.json.get("already") == counts, f"already, after a kill: {counts}: {ended}")
        self.recorded(approval, arguments, ended)
        if again:
            other = "deny" if arguments[0] == "approve" else "approve"
            refused = self.folder.run([other, approval["id"]])
            error = refused.json.get("error", {})
            need(error.get("kind") == "conflict" and error.get("decision") == arguments[0], f"two answers: {refused}")

    def recorded(self, approval, arguments, ended):
        need(ended.status == 0, f"{ended}")
        need(ended.json["decision"] == arguments[0], f"told another decision: {ended}")
        self.told.append((approval["turn"], approval["position"], arguments[0]))

    def answers_in_journal(self, approval):
        wanted = (approval["turn"], approval["position"])
        return sum(event["event"] == "answered" and place(event) == wanted for event in self.folder.journal())

    def resolve(self, approval):
        """Says how an unknown call ended, as somebody who looks at what is there."""
        self.unknown += 1
        self.folder.wait_until_tools_are_gone()
        happened = self.effects()[approval["tool_call_id"]] > 0
        how = ["--done", "I saw it"] if happened else ["--retry"]
        while (ended := self.process("resolve", approval["id"], *how)).killed:
            pass
        need(ended.status == 0 and ended.json["state"] == "resolved", f"{ended}")

    def abort(self):
        killed = False
        while (ended := self.process("abort", THREAD, "--reason", "enough")).killed:
            killed = True
        had = ended.status == 1 and ended.error_kind() == "conflict"
        need(ended.status == 0 or (killed and had), f"{ended}")

    def effects(self):
        """How often each call's effect is there."""
        there = self.folder.workspace / "effects.txt"
        lines = there.read_text(encoding="utf-8").split("\n")[:-1] if there.exists() else []
        counter = (self.folder.workspace / "counter.txt").read_text(encoding="utf-8")
        other = {
            "report": int((self.folder.workspace / "report.md").exists()),
            "count": counter.count("+1"),
            "edited": lines.count("changed") + 100 * lines.count("edited"),
        }
        return {call: other.get(call, lines.count(call)) for call in self.scenario.effects}

    def check(self):
        need(self.folder.run(["history", THREAD]).status == 0, "the history does not hold")
        self.effects_seen = self.effects()
        need(self.effects_seen == self.scenario.effects, f"effects {self.effects_seen}, not {self.scenario.effects}")
        events = self.folder.journal()
        calls = {}
        for event in events:
            if event["event"] == "model_turn":
                calls |= {(event["turn"], i): call for i, call in enumerate(event["calls"])}
        self.check_answers(events, calls)
        self.check_starts(events, calls)
        self.check_at_rest()

    def check_answers(self, events, calls):
        asked = [event for event in events if event["event"] == "asked" and event["kind"] == "approve"]
        answered = [event for event in events if event["event"] == "answered"]
        need(len(asked) == len({place(event) for event in asked}), "a question was asked twice")
        wanted = {}
        for event in asked:
            verb = self.scenario.answers.get(calls[place(event)]["id"], ["approve"])
            if verb is not None:
                wanted[event["number"]] = verb[0]
        need(len(answered) == len(wanted), f"{len(wanted)} questions, {len(answered)} answers")
        need({event["number"]: event["decision"] for event in answered} == wanted, "an answer is not as it was given")
        stored = {(*place(event), event["decision"]) for event in answered}
        need(set(self.told) <= stored, "an answer that was told as recorded is not there")

    def check_starts(self, events, calls):
        started = attempts(events)
        doubted = {event["attempt"]: event for event in events if event["event"] == "doubted"}
        finished = {event["attempt"]: event["outcome"] for event in events if event["event"] == "finished"}
        need(sum(event["event"] == "finished" for event in events) == len(finished), "an outcome is there twice")
        need(not set(doubted) & set(finished), "a finished call was doubted")
        released = {event["attempt"] for event in events if event["event"] == "released"}
        need({attempt for attempt, _ in started} == set(doubted) | set(finished) | released, "a start has no end")
        self.check_lost(events, calls, doubted, finished, released)
        need(set(finished.values()) <= {"done"}, f"a call did not end as done: {finished}")
        for call, facts in calls.items():
            starts = [attempt for attempt, where in started if where == call and attempt not in released]
            again = [doubted[attempt]["may_run_again"] for attempt in starts if attempt in doubted]
            need(all(again) if facts["tool"] == "read_file" else not any(again), f"{facts['id']} may run again")
            retries = sum(
                event["event"] == "resolved" and event["how"] == "retry" and place(event) == call for event in events
            )
            resolved = sum(event["event"] == "resolved" and place(event) == call for event in events)
            questions = sum(
                event["event"] == "asked" and event["kind"] == "unknown" and place(event) == call for event in events
            )
            expected = self.scenario.effects.get(facts["id"], 1)
            if expected == 0:
                need(not starts, f"{facts['id']} was started")
            elif facts["tool"] != "read_file":
                need(len(starts) == 1 + retries, f"{facts['id']} was started {len(starts)} times, {retries} retries")
                need(questions == len(again) == resolved, f"{facts['id']} was doubted {again}, asked {questions} times")

    def check_lost(self, events, calls, doubted, finished, released):
        """What became of the calls whose runner was killed: only a shell's can be known."""
        lost = self.lost_in_flight
        need(set(doubted) <= lost, f"doubted {set(doubted)}, in flight {lost}")
        known = lost - set(doubted)
        tools = {attempt: calls[where]["tool"] for attempt, where in attempts(events)}
        need(all(tools[attempt] == "shell" for attempt in known), f"of {tools}, {known} are known")
        self.proved = len(known & set(finished))
        need(known <= set(finished) | released, "an attempt is lost")
        # One of a start that was given back goes by its age, if who gave it back was killed just then.
        left = {path.name for path in self.folder.db.parent.glob("assent.db-receipts/*")}
        need(left <= released, f"receipts are left over: {left - released}")

    def check_at_rest(self):
        connection = self.folder.database()
        try:
            need(connection.execute("SELECT count(*) FROM approval").fetchone()[0] == 0, "a question is left open")
            need(connection.execute("SELECT status, runner FROM thread").fetchall() == [(1, None)], "not at rest")
        finally:
            connection.close()


def go_through(scenario, program, launch_with, look=None, person_of=Person, folder_of=Folder):
    """A fresh folder, one person. `launch_with(folder)` makes the launcher, `look(person)` sees the end."""
    folder = folder_of(program, scenario.turns)
    person = person_of(scenario, folder, launch_with(folder))
    try:
        person.go()
        if look:
            look(person)
    except Wrong as wrong:
        raise Wrong(f"{scenario.name}: {wrong} (folder {folder.root} is kept)") from wrong
    folder.remove()
    return person
