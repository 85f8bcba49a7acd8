"""Runs a program so that nothing of it is left: a script that ends as the program does, once all it started has ended.

    reaper.py LIFELINE FIRST PROGRAM ARGUMENT...

Linux hands it every process that the program leaves behind, those in sessions of their own too; elsewhere it knows of
the program's process group alone. It imports nothing of pesky and is a process by itself, so that no child of anybody
else is waited for in its place, and a function that lets no other thread run does not keep it.

The pipe LIFELINE is held open by whoever wants the program. Once it is closed, however that came, or written to, the
program's group gets the signal FIRST. What else is there, then and when the program has ended by itself, gets SIGTERM,
and what is left of all that after GRACE seconds gets SIGKILL.
"""

import os
import select
import signal
import sys
import time
from contextlib import suppress

GRACE = 2.0
"""Seconds from the request to end, SIGTERM, to the end, SIGKILL."""
PATIENCE = 10.0
"""Seconds for what was killed to be gone: a process of another user stays, or one that waits for a disk."""
_LOOK = 0.05
_PARENT_DEATH, _SUBREAPER = 1, 36  # of prctl


class Reaper:
    """A program, started, and all that comes of it."""

    def __init__(self, program: list[str]) -> None:
        self._is_heir = os.path.exists("/proc/self/stat") and _prctl(_SUBREAPER, 1)
        self._sent: set[int] = set()
        self._status: int | None = None
        me = os.getpid()
        self._child = os.fork()
        if self._child == 0:
            _become(program, me)
        with suppress(OSError):  # it may have done so itself, and be another program already
            os.setpgid(self._child, self._child)

    def watch(self, lifeline: int, first: int) -> int:
        """The exit status of the program, once nothing of it is left."""
        news, wake = os.pipe()
        for end in (news, wake):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda number, _: self._send(number))
        while self._is_any_left() and self._status is None:
            if lifeline in select.select([lifeline, news], [], [])[0]:
                self._send(first)
                break
            _drain(news)
        else:
            if not self._sent:
                self._send(signal.SIGKILL)
        self._end(news)
        return 1 << 8 if self._status is None else self._status

    def _send(self, number: int) -> None:
        """Send the program's group a signal, each but once: a second one would cut its clean-up short."""
        if number not in self._sent:
            self._sent.add(number)
            with suppress(ProcessLookupError, PermissionError):  # macOS does not permit what concerns the dead
                os.killpg(self._child, number)

    def _end(self, news: int) -> None:
        now = time.monotonic()
        if self._is_any_left():
            for pid in self._heritage():
                if pid != self._child and _group_of(pid) != self._child:
                    _kill(pid, signal.SIGTERM)
        kill_at, leave_at = now + GRACE, now + GRACE + PATIENCE
        while self._is_any_left() and time.monotonic() < leave_at:
            if time.monotonic() >= kill_at:
                self._sent.discard(signal.SIGKILL)
                self._send(signal.SIGKILL)
                for pid in self._heritage():
                    _kill(pid, signal.SIGKILL)
            select.select([news], [], [], _LOOK)
            _drain(news)

    def _is_any_left(self) -> bool:
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
                if ended[0] == self._child:
                    self._status = ended[1]
            return True
        if self._is_heir:
            return False
        try:
            os.killpg(self._child, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def _heritage(self) -> list[int]:
        """The children of this process: the program, and orphans of what it started."""
        return [pid for pid in _processes() if _parent_of(pid) == os.getpid()] if self._is_heir else []


def _become(program: list[str], parent: int) -> None:
    """Be the program, which dies with this script."""
    _prctl(_PARENT_DEATH, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    os.setpgid(0, 0)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and programs would, too
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execv(program[0], program)
    except OSError as error:
        os.write(2, f"{program[0]} cannot be run: {error.strerror}\n".encode(errors="replace"))
    os._exit(127)


def _prctl(*arguments: int) -> bool:
    if sys.platform != "linux":
        return False
    try:
        import ctypes

        return ctypes.CDLL(None).prctl(*map(ctypes.c_ulong, (*arguments, 0, 0, 0))) == 0
    except (ImportError, OSError, AttributeError):
        return False


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _parent_of(pid: int) -> int | None:
    with suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
        return int(file.read().rpartition(b")")[2].split()[1])
    return None


def _group_of(pid: int) -> int | None:
    with suppress(OSError):
        return os.getpgid(pid)
    return None


def _kill(pid: int, number: int) -> None:
    with suppress(OSError):
        os.kill(pid, number)


def _drain(news: int) -> None:
    with suppress(BlockingIOError):
        os.read(news, 4096)


def _leave_as(status: int) -> None:
    """End as the program did."""
    if os.WIFSIGNALED(status):
        import resource

        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError, ValueError):  # SIGKILL has no other action
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))


def _close_all_but(lifeline: int) -> None:
    """Whatever else was for the program is open there alone."""
    for descriptor in map(int, os.listdir("/dev/fd")):
        if descriptor > 2 and descriptor != lifeline:
            with suppress(OSError):
                os.close(descriptor)


if __name__ == "__main__":
    _lifeline, _first = map(int, sys.argv[1:3])
    os.set_inheritable(_lifeline, False)
    _reaper = Reaper(sys.argv[3:])
    _close_all_but(_lifeline)
    _leave_as(_reaper.watch(_lifeline, _first))
