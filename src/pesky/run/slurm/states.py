"""How the jobs of Slurm are, as far as it tells."""

import os
import subprocess
import threading
import time
from collections.abc import Collection, Mapping

ACCOUNTING_SECONDS = 60.0
"""Seconds at most between two questions to Slurm of how its jobs are; new ones are asked about more often."""
ANSWER_SECONDS = 60.0
"""Seconds for Slurm to answer."""

LOST = ("CANCELLED", "PREEMPTED", "NODE_FAIL", "BOOT_FAIL", "REVOKED")
"""States in which a job ends for reasons that are not its own; out of memory and out of time are its own."""
GONE = "GONE"
"""Our word for a job that Slurm does not know any more."""
ENDED = ("CANCELLED", "NODE_FAIL", "BOOT_FAIL", "REVOKED")
ENDED += ("COMPLETED", "FAILED", "OUT_OF_MEMORY", "TIMEOUT", "DEADLINE", GONE)
"""States of jobs that are over; one that is preempted may be queued again."""
ALIVE = ("PENDING", "RUNNING", "SUSPENDED", "PREEMPTED", "REQUEUED", "RESIZING", "COMPLETING")
"""States of jobs that are not. submitit takes those that are suspended for dead."""


class JobStates:
    """Knows how the jobs of Slurm are; a Slurm that does not answer keeps nobody waiting."""

    def __init__(self) -> None:
        self.by_id: Mapping[str, str] = {}
        self._asked = self._began = time.monotonic()
        self._asking: threading.Thread | None = None

    def expect_news(self) -> None:
        """Ask more often for a while."""
        self._began = time.monotonic()

    def ask(self, ids: Collection[str]) -> None:
        """Have Slurm asked about these jobs, if it is time."""
        now = time.monotonic()
        is_due = now - self._asked >= min(max((now - self._began) / 2, 2.0), ACCOUNTING_SECONDS)
        if ids and is_due and (self._asking is None or not self._asking.is_alive()):
            self._asked = now
            self._asking = threading.Thread(target=self._ask, args=[ids], name="pesky-accounting", daemon=True)
            self._asking.start()

    def _ask(self, ids: Collection[str]) -> None:
        self.by_id = ask_slurm(ids)


def ask_slurm(ids: Collection[str]) -> dict[str, str]:
    """The states of these jobs, in a word each, as far as Slurm tells.

    Its accounting is asked first, which some clusters have switched off, and its queue about the others.
    """
    if not ids:
        return {}
    accounted = _answer(
        "sacct", "--noheader", "--parsable2", "--allocations", "--format=JobID,State", f"--jobs={','.join(ids)}"
    )
    states = {id_: state for id_, state in _states(accounted or "").items() if state in (*ENDED, *ALIVE)}
    if all(id_ in states for id_ in ids):
        return states
    queued = _answer("squeue", "--noheader", "--states=all", "--format=%i|%T", f"--user={os.getuid()}")
    if queued is None:
        return states
    return {**dict.fromkeys(ids, GONE), **_states(queued), **states}


def _answer(*command: str) -> str | None:
    """What a command prints; None if it fails."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=ANSWER_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None


def _states(lines: str) -> dict[str, str]:
    """The state of each job in lines like `17|CANCELLED by 1000`; a plus is where there is more to say."""
    parted = [line.strip().partition("|") for line in lines.splitlines() if "|" in line]
    return {id_: state.upper().partition(" ")[0].rstrip("+") for id_, _, state in parted}
