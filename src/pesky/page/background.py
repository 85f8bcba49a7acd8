"""A process that does what takes seconds, so that the page answers meanwhile: one thing at a time, in order.

It is started with the first of them, gets and answers lines of JSON, and ends with the process that started it, even in
the middle of something and even if that was killed: its standard input ends then.
"""

import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any

from pesky.errors import PeskyError

COMMAND = (sys.executable, "-m", "pesky.page.work")


class Busy(PeskyError):
    """So many are waiting that one more is not taken."""


class Background:
    """A process of its own; `call` from any thread.

    Args:
        given: What the page is of, as `Source.of` takes it.
        most: How many calls may wait.
        command: What is run.
    """

    def __init__(self, given: str, most: int = 4, command: Sequence[str] = COMMAND) -> None:
        self._given, self._command = given, command
        self._places = threading.BoundedSemaphore(most)
        self._turn = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Begin: to import what it needs takes seconds, which are over when somebody asks."""
        with self._turn:
            if self._process is None:
                self._process = self._started()

    def call(self, what: str, **arguments: object) -> Any:
        """What the process answers; a PeskyError with its own words where it could not, or if it died."""
        if not self._places.acquire(blocking=False):
            raise Busy("others are waiting for what takes seconds already: try again in a while.")
        try:
            with self._turn:
                answer = self._answer({"what": what, **arguments})
        finally:
            self._places.release()
        if "error" in answer:
            raise PeskyError(answer["error"])
        return answer["answer"]

    def end(self) -> None:
        """Nothing is left of it; the next call starts another one."""
        process, self._process = self._process, None
        if process is not None:
            _ended(process)

    def _answer(self, request: dict[str, object]) -> dict[str, Any]:
        process = self._process
        if process is None or process.poll() is not None:
            self._process = process = self._started()
        asked, answered = _pipes(process)
        try:
            asked.write(json.dumps(request) + "\n")
            asked.flush()
            line = answered.readline()
        except OSError:
            line = ""
        if not line:
            code = _ended(process)
            return {"error": f"the process that computes it died (exit code {code}): is there enough memory?"}
        return json.loads(line)

    def _started(self) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        # an interrupt of the terminal is the page's to handle: it ends this process, too
        process = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, text=True, process_group=0)
        asked, _ = _pipes(process)
        # on standard input, since everybody sees a command line, and there may be a password in it
        asked.write(json.dumps({"given": self._given, "path": sys.path}) + "\n")
        return process


def _ended(process: "subprocess.Popen[str]") -> int:
    process.kill()
    code = process.wait()
    for pipe in _pipes(process):
        with suppress(OSError):  # what was not read any more
            pipe.close()
    return code


def _pipes(process: "subprocess.Popen[str]") -> tuple[IO[str], IO[str]]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout
