#!/usr/bin/env python3
"""The program against local services: program_test.py PROGRAM [unittest options].

Every way to fail ends with a clear error and loses nothing, and the key is nowhere but in the request.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from local_service import Call, Hold, LocalService, Status

PROGRAM = os.path.abspath(sys.argv.pop(1))
KEY = "sk-program-0123456789abcdef"
APIS = ("anthropic", "openai")
VARIABLE = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}


def closed_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class ProgramTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.workspace = self.folder / "workspace"
        self.workspace.mkdir()
        self.outputs = ""

    def environment(self, **more):
        usual = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "RES_OPTIONS": "attempts:1 timeout:1"}
        for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                usual[name] = os.environ[name]
        usual.update({name: KEY for name in VARIABLE.values()})
        usual.update(more)
        return {name: value for name, value in usual.items() if value is not None}

    def assent(self, *arguments, env=None):
        done = subprocess.run(
            [PROGRAM, "--db", f"sqlite:{self.folder}/test.db", *arguments],
            env=env or self.environment(), capture_output=True, text=True, timeout=60, cwd=self.folder,
            stdin=subprocess.DEVNULL,
        )
        self.outputs += done.stdout + done.stderr
        return done

    def run_agent(self, service_or_url, api="anthropic", *more, thread="t", env=None, prompt="go"):
        url = service_or_url if isinstance(service_or_url, str) else service_or_url.url
        return self.assent(
            "run", "--model", f"{api}:m", "--base-url", url, "--workspace", str(self.workspace), "--thread", thread,
            *more, prompt, env=env,
        )

    def assert_failed(self, done, text, status=1):
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(text, done.stderr)
        self.assert_key_nowhere()

    def assert_key_nowhere(self):
        self.assertNotIn(KEY, self.outputs)
        for path in self.folder.rglob("*"):
            if path.is_file():
                self.assertNotIn(KEY.encode(), path.read_bytes(), path)

    def test_a_gated_call_from_prompt_to_end(self):
        for api in APIS:
            call = Call("write_file", '{"file_path": "%s.txt", "content": "hello"}' % api)
            with self.subTest(api), LocalService(api, [[call], "All done."], key=KEY) as service:
                done = self.run_agent(service, api, thread=api)
                self.assertEqual(done.returncode, 10, done.stderr)
                self.assertFalse((self.workspace / f"{api}.txt").exists())
                identifier = done.stderr.split("needs a person")[0].split()[-2]
                self.assertEqual(self.assent("approve", identifier).returncode, 0)
                # The thread knows its model and the address of the service.
                done = self.assent("resume", api)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("All done.", done.stdout)
                self.assertEqual((self.workspace / f"{api}.txt").read_text(), "hello")
                self.assertEqual(service.faults, [])
        self.assert_key_nowhere()

    def test_the_key_reaches_no_tool(self):
        look = "env; tr '\\0' '\\n' </proc/$PPID/environ; for p in /proc/[0-9]*; do tr '\\0' '\\n' <$p/environ; done 2>&1; true"
        for api in APIS:
            with self.subTest(api), LocalService(api, [[Call("shell", json.dumps({"command": look}))], "ok"]) as service:
                done = self.run_agent(service, api, "--allow", "shell", thread=api)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("PATH=", service.requests[1][1])
                self.assertNotIn(KEY, service.requests[1][1])
                self.assertEqual(service.faults, [])
        # Nor when the model is a script.
        script = self.folder / "script.json"
        turn = {"calls": [{"name": "shell", "arguments": {"command": look + "; env >seen.txt"}}]}
        script.write_text(json.dumps({"turns": [turn, {"text": "ok"}]}))
        done = self.assent(
            "--json", "run", "--model", f"script:{script}", "--workspace", str(self.workspace), "--allow", "shell", "go"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("PATH=", done.stdout)
        self.assert_key_nowhere()

    def test_one_megabyte_of_arguments(self):
        content = "é" * 500_000
        for api in APIS:
            arguments = json.dumps({"file_path": "big.txt", "content": content}, ensure_ascii=False)
            with self.subTest(api), LocalService(api, [[Call("write_file", arguments)], "ok"]) as service:
                done = self.run_agent(service, api, "--allow", "write_file", thread=api)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual((self.workspace / "big.txt").read_text(), content)
                (self.workspace / "big.txt").unlink()
                self.assertEqual(service.faults, [])

    def test_no_key(self):
        with LocalService("anthropic", []) as service:
            done = self.run_agent(service, env=self.environment(ANTHROPIC_API_KEY=None))
            self.assert_failed(done, "needs a key; set ANTHROPIC_API_KEY in the environment", status=2)
            done = self.assent("run", "--model", "openai:m", "go", env=self.environment(OPENAI_API_KEY=""))
            self.assert_failed(done, "needs a key; set OPENAI_API_KEY in the environment", status=2)
            self.assertEqual(service.requests, [])
        with LocalService("openai", ["ok"]) as service:
            done = self.run_agent(service, "openai", env=self.environment(OPENAI_API_KEY=None))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIsNone(service.requests[0][0].get("authorization"))

    def test_wrong_key_then_the_right_one(self):
        for api in APIS:
            with self.subTest(api), LocalService(api, ["ok"], key=KEY) as service:
                wrong = KEY.replace("program", "mistake")
                done = self.run_agent(service, api, thread=api, env=self.environment(**{VARIABLE[api]: wrong}))
                self.assert_failed(done, f"does not accept the key (HTTP 401); check {VARIABLE[api]}")
                self.assertNotIn(wrong, self.outputs)
                done = self.assent("resume", api)
                self.assertEqual((done.returncode, done.stdout), (0, "ok\n"))

    def test_refusals_lose_nothing(self):
        rows = [
            (Status(404, "model: m", "not_found_error"), "does not know {api}:m (HTTP 404): model: m"),
            (Status(403, "not yours", "permission_error"), "does not allow this (HTTP 403): not yours"),
            (Status(400, "prompt is too long: 3 > 2"), "the conversation is too long for {api}:m"),
            (Status(413, "too large", "request_too_large"), "the conversation is too long for {api}:m"),
            (Status(429, "spent", "insufficient_quota"), "may spend is spent (HTTP 429): spent"),
            (Status(200, html=True), "answers with text/html instead of JSON; check the address"),
            (Status(400, f"your key {KEY} is odd"), "refuses the request (HTTP 400): your key [key] is odd"),
        ]
        for api in APIS:
            for number, (status, text) in enumerate(rows):
                with self.subTest(api, text=text), LocalService(api, [status, "ok"]) as service:
                    thread = f"{api}{number}"
                    self.assert_failed(self.run_agent(service, api, thread=thread), text.format(api=api))
                    done = self.assent("resume", thread)
                    self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)
                    self.assertEqual(service.faults, [])

    def test_too_long_after_an_approval(self):
        for api in APIS:
            call = Call("write_file", '{"file_path": "a.txt", "content": "%s"}' % api)
            answers = [[call], Status(400, "maximum context length is 5 tokens"), "ok"]
            with self.subTest(api), LocalService(api, answers) as service:
                done = self.run_agent(service, api, thread=api)
                identifier = done.stderr.split("needs a person")[0].split()[-2]
                self.assent("approve", identifier)
                self.assert_failed(self.assent("resume", api), "the conversation is too long")
                self.assertEqual((self.workspace / "a.txt").read_text(), api)
                (self.workspace / "a.txt").write_text("written since")
                self.assertEqual(self.assent("resume", api).stdout, "ok\n")
                self.assertEqual((self.workspace / "a.txt").read_text(), "written since")

    def test_a_busy_service_is_asked_again(self):
        busy = Status(529, "busy", "overloaded_error", headers={"retry-after-ms": "1"})
        for api in APIS:
            with self.subTest(api), LocalService(api, [busy, busy, "ok"]) as service:
                done = self.run_agent(service, api, thread=api)
                self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)
                self.assertEqual(len(service.requests), 3)

    def test_errors_in_json(self):
        with LocalService("openai", [Status(404, "no such model", "not_found_error")]) as service:
            done = self.run_agent(service, "openai", "--json")
            self.assertEqual(done.returncode, 1)
            last = json.loads(done.stdout.splitlines()[-1])
            self.assertEqual(last["error"]["kind"], "model", last)

    def test_nobody_listens(self):
        self.assert_failed(
            self.run_agent(f"http://127.0.0.1:{closed_port()}"), "check that the service runs there (asked 3 times)"
        )

    def test_a_name_that_does_not_exist(self):
        self.assert_failed(self.run_agent("https://nothing.invalid/v1"), "nothing.invalid")

    def test_a_proxy_that_refuses(self):
        proxy = f"http://127.0.0.1:{closed_port()}"
        done = self.run_agent("https://service.test/v1", env=self.environment(HTTPS_PROXY=proxy))
        self.assert_failed(done, "the proxy refuses connections; check HTTPS_PROXY and NO_PROXY in the environment")

    def test_tls(self):
        certificate, key = self.folder / "cert.pem", self.folder / "key.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
             "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
            check=True, capture_output=True,
        )
        with LocalService("anthropic", ["ok", "ok"], certificate=(certificate, key)) as service:
            done = self.run_agent(service)
            self.assert_failed(done, f"no trusted TLS connection to {service.host}")
            self.assertEqual(service.requests, [])
            done = self.assent("resume", "t", env=self.environment(SSL_CERT_FILE=str(certificate)))
            self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)
            # The right authority, another name.
            other = service.url.replace("127.0.0.1", "localhost")
            done = self.run_agent(other, thread="u", env=self.environment(SSL_CERT_FILE=str(certificate)))
            self.assert_failed(done, "no trusted TLS connection to localhost")

    def test_addresses_that_are_refused(self):
        done = self.run_agent("http://me:geheim@127.0.0.1:1")
        self.assert_failed(done, "holds a user or a password", status=2)
        self.assertNotIn("geheim", self.outputs)
        self.assert_failed(self.run_agent("http://127.0.0.1/v1?key=geheim"), "leave out what follows ? or #", status=2)
        self.assert_failed(self.run_agent("127.0.0.1:8080"), "begins with http:// or https://", status=2)
        done = self.assent("run", "--model", "script:x.json", "--base-url", "http://127.0.0.1", "go")
        self.assert_failed(done, "--base-url is for --model anthropic:ID and openai:ID", status=2)
        self.assert_failed(self.assent("run", "--model", "gpt", "go"), "--model takes anthropic:ID, openai:ID", status=2)

    def test_the_other_service_does_not_get_the_address(self):
        with LocalService("anthropic", ["ok"]) as first, LocalService("openai", ["fine"]) as second:
            self.assertEqual(self.run_agent(first).returncode, 0)
            proxy = f"http://127.0.0.1:{closed_port()}"  # so that nothing leaves this machine
            done = self.assent(
                "run", "--thread", "t", "--model", "openai:m", "more", env=self.environment(HTTPS_PROXY=proxy)
            )
            self.assert_failed(done, "the proxy refuses connections")
            self.assertEqual(len(first.requests), 1)
            done = self.assent("resume", "t", "--base-url", second.url)
            self.assertEqual((done.returncode, done.stdout), (0, "fine\n"), done.stderr)

    def test_an_interrupt_ends_the_wait(self):
        with LocalService("anthropic", [Hold(), "ok"]) as service:
            process = subprocess.Popen(
                [PROGRAM, "--db", f"sqlite:{self.folder}/test.db", "run", "--model", "anthropic:m", "--base-url",
                 service.url, "--workspace", str(self.workspace), "--thread", "t", "go"],
                env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                stdin=subprocess.DEVNULL,
            )
            while not service.requests:
                if process.poll() is not None:
                    self.fail(process.communicate()[1])
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=10)
            self.assertEqual(process.returncode, 130, errors)
            self.assertEqual(self.assent("resume", "t").stdout, "ok\n")

    def test_the_demo_with_a_model(self):
        with LocalService("openai", ["I would rather not."]) as service:
            done = self.assent("demo", "--model", "openai:m", "--base-url", service.url)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("The model proposed no call that needs a person", done.stderr)
        call = Call("write_file", '{"file_path": "report.md", "content": "All is well."}')
        with LocalService("anthropic", [[Call("read_file", '{"file_path": "orders.csv"}')], [call], "Done."]) as service:
            done = self.assent("demo", "--model", "anthropic:m", "--base-url", service.url, "--answers", "approve")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("proposed no call", done.stderr)
            self.assertIn("All is well.", done.stderr)
            self.assertEqual(service.faults, [])


if __name__ == "__main__":
    unittest.main()
