"""The leases of a run: what it is measuring stays its own while it lives, and is free again when it does not."""

import os
import secrets
import socket
import threading
from collections.abc import Collection
from contextlib import suppress
from typing import TYPE_CHECKING

from pesky.errors import StorageError
from pesky.store import Evaluation, State

if TYPE_CHECKING:
    from pesky.study.study import Study


class Leases:
    """The claims of one run, which a thread of its own renews; `held` are the ids of what it is measuring."""

    def __init__(self, study: "Study", seconds: float, held: Collection[int]) -> None:
        self.study, self.seconds, self.held = study, seconds, held
        self.worker = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(2)}"
        self._over = threading.Event()
        self._heart = threading.Thread(target=self._beat, daemon=True, name="pesky leases")

    def begin(self) -> None:
        """Renew what is held, until the end."""
        self._heart.start()

    def end(self) -> None:
        """Renew nothing more; what is still running may be asked again at once."""
        self._over.set()
        with suppress(StorageError):  # leases run out by themselves
            for e in self._running():
                if e.worker == self.worker:
                    self._release(e, "interrupted")

    def join(self) -> None:
        """Wait for a renewal that is under way."""
        self._heart.join()

    def free_orphans(self) -> None:
        """Let go of what a process of this machine was measuring that has died since."""
        host = socket.gethostname()
        for e in self._running():
            owner = (e.worker or "").split(":")
            if len(owner) == 3 and owner[0] == host and not _is_alive(owner[1]):
                self._release(e, "its process died")

    def _running(self) -> list[Evaluation]:
        return [e for e in self.study.evaluations.values() if e.state is State.RUNNING]

    def _release(self, evaluation: Evaluation, why: str) -> None:
        self.study.store.release(self.study.name, evaluation.id, why, attempt=evaluation.attempts)

    def _beat(self) -> None:
        while not self._over.wait(min(self.seconds / 4, 15.0)):
            if ids := list(self.held):
                with suppress(StorageError):  # tried again at the next beat
                    self.study.store.renew(self.study.name, ids, self.worker, self.seconds)


def _is_alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except (ValueError, PermissionError):
        return True
    return True
