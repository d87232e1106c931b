"""What the tests of `work` share: a worker that is looked at while it works."""

import http.client
import re
import socket

from program import *


class WorkTest(ProgramTest):
    def line(self, running: Running, words: str) -> str:
        """The first line on standard error with these words, read as it comes. What follows is left to `end`."""
        for line in iter(running.process.stderr.readline, ""):
            if words in line:
                return line
        raise AssertionError(f"it ended without a line with {words!r}")

    def state_of(self, thread: str) -> str:
        return next(one["state"] for one in self.ok("--json", "threads").json if one["id"] == thread)


__all__ = ["DEADLINE", "ProgramTest", "Running", "WAITING", "WorkTest", "http", "json", "os", "re", "shell", "signal",
           "socket", "turn", "unittest", "wait_until", "write"]
