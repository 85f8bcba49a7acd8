"""The leases of a run: what it is measuring stays its own while it lives, and is free again when it does not."""

import hashlib
import os
import secrets
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress

from pesky import host
from pesky.errors import StorageError
from pesky.run.client import AskTell
from pesky.run.retry import within
from pesky.store import Evaluation, State

LONGEST_BEAT_SECONDS = 15.0
"""Seconds between two renewals at most; of a short lease there are four."""


class Leases:
    """The claims of one run, which a thread of its own renews; `held` gives the attempt of each id being measured."""

    def __init__(self, study: AskTell, seconds: float, held: Callable[[], Mapping[int, int]]) -> None:
        self.study, self.seconds, self.held = study, seconds, held
        self.worker = worker_name()
        self._over = threading.Event()
        self._heart = threading.Thread(target=self._beat, daemon=True, name="pesky leases")

    def begin(self) -> None:
        """Renew what is held, until the end."""
        self._heart.start()

    def end(self, seconds: float) -> None:
        """Renew nothing more; what is still running may be asked again at once.

        A storage that does not answer within so many seconds is not waited for: leases run out by themselves.
        """
        self._over.set()
        with suppress(StorageError):
            within(seconds, self._release_all)

    def free_orphans(self) -> None:
        """Let go of what a process of this machine was measuring that has died since."""
        for e in self._running():
            if e.worker is not None and is_dead(e.worker):
                self._release(e, "its process died")

    def _release_all(self) -> None:
        self._heart.join()  # a renewal that is under way would come after the release
        for e in self._running():
            if e.worker == self.worker:
                self._release(e, "interrupted")

    def _running(self) -> list[Evaluation]:
        return [e for e in self.study.evaluations.values() if e.state is State.RUNNING]

    def _release(self, evaluation: Evaluation, why: str) -> None:
        self.study.store.release(self.study.identity, evaluation.id, why, attempt=evaluation.attempts)

    def _beat(self) -> None:
        while not self._over.wait(min(self.seconds / 4, LONGEST_BEAT_SECONDS)):
            if held := self.held():
                with suppress(StorageError):  # tried again at the next beat
                    self.study.store.renew(self.study.identity, held, self.seconds)


def worker_name() -> str:
    """A name for who measures, that no other has, and by which others that can see this process find it dead.

    The number of a process says nothing to those who count other processes: of another machine, or of another
    container, which may well have the same host name. And a number is given to another process some time.
    """
    name = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(2)}"
    place, began = _place(), host.began(os.getpid())
    return name if place is None or began is None else f"{name}:{place}:{began}"


def is_dead(worker: str) -> bool:
    """Whether this is the name of a process that would be seen here if it lived."""
    *_, pid, _, place, began = ["", "", "", *worker.split(":")]
    return place == _place() and pid.isdecimal() and host.began(int(pid)) != began


def _place() -> str | None:
    """A short text that all have who see the same processes, since the machine was started."""
    seen = host.processes()
    return None if seen is None else hashlib.sha256(seen.encode()).hexdigest()[:12]
