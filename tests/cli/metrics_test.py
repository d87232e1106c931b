"""`work --metrics`: what an operator's collector reads from the real program."""

from work import *

SECRET = "argument-that-nobody-else-reads"


class MetricsTest(WorkTest):
    def measured(self, *options) -> tuple[Running, int]:
        """A worker, and the port of its metrics."""
        worker = self.start("work", "--metrics", "127.0.0.1:0", *options)
        told = self.line(worker, "metrics")
        return worker, int(re.search(r"http://127\.0\.0\.1:(\d+)/metrics", told)[1])

    def get(self, port: int, path: str = "/metrics") -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def scrape(self, port: int) -> dict[str, float]:
        status, text = self.get(port)
        self.assertEqual(status, 200)
        self.assertNotIn(SECRET, text)
        samples = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
        self.assertEqual(len({name for name, _ in samples}), len(samples), "each once")
        return {name: float(value) for name, value in samples}

    def end(self, worker: Running) -> None:
        worker.signal(signal.SIGTERM)
        self.assert_status(worker.end(), 0)

    def test_a_question_an_answer_and_a_call_are_counted(self):
        worker, port = self.measured("--at-once", "3")
        before = self.scrape(port)
        self.assertEqual(before["assent_store_up"], 1)
        self.assertEqual(before["assent_approvals_open"], 0)
        self.assertEqual(before["assent_threads_running_max"], 3)
        self.assertEqual(before['assent_runs_ended_total{result="done"}'], 0)
        self.assertEqual(before['assent_calls_ended_total{outcome="done"}'], 0)
        [first, second] = self.waiting(shell(f"echo {SECRET} >>done", "a"), shell("echo two >>done", "b"))
        wait_until(lambda: self.scrape(port)["assent_approvals_open"] == 2, "both are seen as open")
        self.ok("approve", first)
        self.ok("deny", second, "--message", SECRET)
        wait_until(lambda: self.scrape(port)['assent_runs_ended_total{result="done"}'] == 1, "the thread is done")
        wait_until(lambda: self.scrape(port)["assent_approvals_open"] == 0, "nothing is open")
        after = self.scrape(port)
        self.assertEqual(after['assent_approvals_answered_total{decision="approve"}'], 1)
        self.assertEqual(after['assent_approvals_answered_total{decision="deny"}'], 1)
        self.assertEqual(after["assent_approvals_wait_seconds_count"], 2)
        self.assertGreater(after["assent_approvals_wait_seconds_sum"], 0)
        self.assertEqual(after["assent_calls_started_total"], 1)
        self.assertEqual(after['assent_calls_ended_total{outcome="done"}'], 1)
        self.assertEqual(after['assent_calls_ended_total{outcome="denied"}'], 1)
        self.assertEqual(after["assent_model_turns_total"], 1)
        self.assertEqual(after["assent_threads_running"], 0)
        self.assertGreaterEqual(after["assent_runs_started_total"], 1)
        self.assertGreaterEqual(after['assent_store_appends_total{status="done"}'], 3)
        self.assertEqual(after["assent_outcomes_doubtful_total"], 0)
        self.end(worker)

    def test_what_is_asked_while_it_works_is_counted_and_how_old_it_is(self):
        args = self.run_args(turn("One.", shell("echo one >>done")), turn("Two.", shell(f"echo {SECRET}", "b")),
                             turn("That is all."))
        self.assert_status(self.assent(*args), WAITING)
        worker, port = self.measured()
        [asked] = self.pending_ids()
        self.ok("approve", asked)
        wait_until(lambda: self.scrape(port)['assent_approvals_asked_total{kind="approve"}'] == 1, "the next is asked")
        wait_until(lambda: self.scrape(port)["assent_approvals_oldest_seconds"] > 0, "it grows older")
        wait_until(lambda: self.scrape(port)["assent_threads_running"] == 0, "the thread waits")
        self.assertGreaterEqual(self.scrape(port)['assent_runs_ended_total{result="waiting"}'], 1)
        self.end(worker)

    def test_a_call_whose_process_died_is_doubtful(self):
        [asked] = self.waiting(shell("touch started; sleep 100"))
        self.ok("approve", asked)
        doomed = self.start("work", "--lease", "1")
        wait_until(self.file("started").exists, "the command runs")
        doomed.signal(signal.SIGKILL)
        doomed.process.wait()
        worker, port = self.measured("--lease", "1")
        wait_until(lambda: self.scrape(port)["assent_outcomes_doubtful_total"] == 1, "the start is in doubt")
        wait_until(lambda: self.scrape(port)['assent_approvals_asked_total{kind="unknown"}'] == 1, "a person is asked")
        [unknown] = self.pending_ids()
        self.ok("resolve", unknown, "--fail", SECRET)
        wait_until(lambda: self.scrape(port)['assent_outcomes_resolved_total{resolution="fail"}'] == 1, "it is resolved")
        self.assertEqual(self.scrape(port)['assent_calls_ended_total{outcome="failed"}'], 1)
        self.end(worker)

    def test_the_version_is_a_label(self):
        worker, port = self.measured()
        version = self.ok("--version").out.split()[1]
        self.assertEqual(self.scrape(port)[f'assent_build_info{{version="{version}"}}'], 1)
        self.assertGreater(self.scrape(port)["assent_start_time_seconds"], 1e9)
        self.end(worker)

    def test_nothing_else_is_served_and_nobody_keeps_it_from_ending(self):
        worker, port = self.measured()
        for path in ("/", "/../../etc/passwd", "/metrics/..", "/%2e%2e/etc/passwd"):
            self.assertEqual(self.get(port, path)[0], 404, path)
        with socket.create_connection(("127.0.0.1", port)) as silent, \
                socket.create_connection(("127.0.0.1", port)) as half:
            half.sendall(b"GET /metrics HTTP/1.1\r\n")
            self.end(worker)
            silent.close()

    def test_an_address_is_of_this_machine_alone_if_not_said(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            self.assert_fails(["work", "--metrics", f"127.0.0.1:{port}"], "usage", "nobody can listen on")
        worker = self.start("work", "--metrics", ":0")
        self.assertIn("http://127.0.0.1:", self.line(worker, "metrics"))
        self.end(worker)
        for wrong in ("9464", "127.0.0.1:65536", "127.0.0.1:1s", "127.0.0.1:1,2", "somewhere:1"):
            self.assert_fails(["work", "--metrics", wrong], "usage", "an address to listen on is")


if __name__ == "__main__":
    unittest.main()
