"""One child process as its parent sees it: started, asked, and ended with everything that it started."""

import math
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from multiprocessing.connection import Pipe
from typing import IO, Any

from pesky.run.reaped import Reaped

Output = int | IO[Any] | None
"""Where children print: a file or subprocess.DEVNULL; None is this process's standard error."""

TERMINATE_SECONDS = 2.0
"""Seconds from the request to end, SIGTERM, to the end, SIGKILL."""
EXIT_SECONDS = 10.0
"""Seconds for a child that was told to stop to do what it has registered for its exit."""
POLL_SECONDS = 1.0
"""Seconds between looks at whether a silent child lives: what it forked may hold its end of the connection open."""
MOST = 2**26
"""Bytes of an answer to `measure` that are read: `call` keeps reports much shorter."""
SLOTS = 16
"""Functions that a child remembers; one that differs at every call must not fill its memory."""

_SCRIPT = os.path.join(os.path.dirname(__file__), "child.py")


class Process:
    """A child process and the functions that it knows; one thread talks to it, and any may signal it."""

    def __init__(self, output: Output) -> None:
        self._connection, theirs = Pipe()
        self._is_buried = False
        self._slots: dict[bytes, int] = {}
        self._calls = 0
        try:
            self._program = Reaped(
                # -P: the directory of the script is not for imports
                [sys.executable, "-P", _SCRIPT, str(theirs.fileno())],
                signal.SIGKILL,
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=2 if output is None else output,
                stderr=2 if output is None else output,
                start_new_session=True,
            )
        except BaseException:
            self._connection.close()
            raise
        finally:
            theirs.close()
        self.process = self._program.process

    def answer(self, code: bytes, kind: str, arguments: bytes, timeout: float | None) -> tuple[Any, ...] | None:
        """What the child answers to a call of the pickled function: see `child`, or None if it takes too long.

        An EOFError if the child dies.
        """
        slot = self._slots.get(code)
        if slot is None:
            # of more functions than there are slots, the one that came first is forgotten
            slot = self._slots.pop(next(iter(self._slots))) if len(self._slots) == SLOTS else len(self._slots)
            answer = self._ask(("load", slot, code, sys.path, sys.argv), None)
            if answer != ("loaded",):
                return answer
            self._slots[code] = slot
        return self._ask((kind, slot, arguments), timeout)

    def _ask(self, message: tuple[Any, ...], timeout: float | None) -> tuple[Any, ...] | None:
        until = math.inf if timeout is None else time.monotonic() + timeout
        self._calls += 1
        try:
            self._connection.send((self._calls, message))
            while True:
                if not self._connection.poll(max(0.0, min(POLL_SECONDS, until - time.monotonic()))):
                    if time.monotonic() >= until:
                        return None
                    if self.process.poll() is not None and not self._connection.poll():
                        raise EOFError
                    continue
                number, answer = pickle.loads(self._connection.recv_bytes(None if message[0] == "call" else MOST))
                if number == self._calls:  # whatever else holds this connection answers something else
                    return answer
        except OSError as error:
            if not self._connection.readable:  # the length comes first, and was too much
                self.bury(0)
                return "report", None, f"the answer was longer than {MOST} bytes: expected less", 0.0
            raise EOFError from error

    @property
    def has_ended(self) -> bool:
        """Whether the child is dead: its connection ends before `Reaped` has its status."""
        if self.process.poll() is not None:
            return True
        with socket.socket(fileno=os.dup(self._connection.fileno())) as connection, suppress(BlockingIOError):
            return not connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        return False

    def kill(self) -> None:
        """Have the child and all that it started killed, from any thread."""
        self._program.end()

    def stop(self) -> None:
        """End the child as any program ends, or by force if it takes its time."""
        with suppress(OSError):
            self._connection.send((0, ("stop",)))
        self.bury(EXIT_SECONDS)

    def end(self) -> None:
        """End the child and all that it started, first kindly."""
        self.process.terminate()
        self.bury(TERMINATE_SECONDS)

    def bury(self, seconds: float) -> int:
        """The exit status of a child that ends by itself, or by force after so many seconds; nothing of it is left."""
        if not self._is_buried:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(seconds)
            self._program.bury()
            self._is_buried = True
            self._connection.close()
        return self.process.returncode
