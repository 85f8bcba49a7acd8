"""Programs that the tests start and kill, and what is left of them."""

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import psutil

T = TypeVar("T")

LONG = 600.0
"""Seconds that nothing here takes, however busy the machine."""
MARK = "PESKY_TESTS_MARK"
"""The environment variable that all descendants of a program inherit from it."""


def until(condition: Callable[[], T], seconds: float = LONG) -> T:
    """What the condition gives once that counts as true."""
    end = time.monotonic() + seconds
    while not (given := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
    return given


class Program:
    """A module of this folder that runs in a process of its own: it loads, says "ready", and waits for a line."""

    def __init__(self, module: str, folder: Path, *arguments: object, prefix: tuple[str, ...] = ()) -> None:
        self.mark = uuid.uuid4().hex
        self.out, self.err = folder / f"{self.mark}.out", folder / f"{self.mark}.err"
        tests = str(Path(__file__).parent.parent)
        path = os.pathsep.join(filter(None, [tests, os.environ.get("PYTHONPATH")]))
        with self.out.open("w") as out, self.err.open("w") as err:
            self.process = subprocess.Popen(
                [*prefix, sys.executable, "-m", f"survival.{module}", *map(str, arguments)],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=err,
                env={**os.environ, MARK: self.mark, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
                text=True,
            )

    def await_ready(self) -> None:
        """Nothing, once it has loaded."""
        until(lambda: self.is_over() or "ready\n" in self.out.read_text())
        assert not self.is_over(), self.err.read_text()

    def go(self) -> None:
        """Let it begin what it is here for."""
        self.await_ready()
        self.say("go")

    def say(self, line: str) -> None:
        """A line on its standard input; nothing if it has ended."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(f"{line}\n")
            self.process.stdin.flush()

    def is_over(self) -> bool:
        """Whether it has ended; if so, nothing is left of the process but files."""
        return self.process.poll() is not None

    def kill(self, is_buried: bool = True) -> None:
        """Kill it; a process that is not buried keeps its number, as those of a careless parent do."""
        self.process.kill()
        if is_buried:
            self.process.wait()
        else:
            until(lambda: not _is_alive(psutil.Process(self.process.pid)))

    def family(self) -> list[psutil.Process]:
        """The process and all its descendants that live, whoever is their parent now."""
        return [process for process in psutil.process_iter() if self._is_mine(process)]

    def _is_mine(self, process: psutil.Process) -> bool:
        try:
            return process.environ().get(MARK) == self.mark and _is_alive(process)
        except psutil.Error:
            return False

    def result(self) -> str:
        """What it printed after "ready", once it has ended well."""
        until(self.is_over)
        assert self.process.returncode == 0, self.err.read_text()
        return self.out.read_text().removeprefix("ready\n")


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return False


class Nursery(Program):
    """The program `nursery`: forks off runs in milliseconds, since all is loaded already."""

    def __init__(self, folder: Path, *prefix: str) -> None:
        super().__init__("nursery", folder, prefix=prefix)
        self.await_ready()

    def spawn(self, **given: object) -> int:
        """The process of a new run."""
        before = self.out.read_text()
        self.say(json.dumps(given))
        until(lambda: self.is_over() or self.out.read_text()[len(before) :].endswith("\n"))
        assert not self.is_over(), self.err.read_text()
        return int(self.out.read_text()[len(before) :])

    def lives(self, pid: int) -> bool:
        """Whether that run is still there."""
        try:
            return _is_alive(psutil.Process(pid))
        except psutil.NoSuchProcess:
            return False
