"""A call as it is run in a job, on a node of the cluster."""

import os
import secrets
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

from pesky.errors import PeskyError
from pesky.extras import to_install

NOTICE_SECONDS = 180.0
"""Seconds before its time is up at which a job is told so at the earliest: submitit asks for 90, and Slurm adds 60."""


class MarkedCall:
    """The function as it is run in a job, whose result has a mark; one that is preempted leaves, whatever it catches.

    submitit has the job queued again and exits. `measure` would take that exit for one of the user's function.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.mark = function, secrets.token_hex(8)

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[str, Any]:
        number = getattr(signal, "SIG" + os.environ.get("SUBMITIT_PREEMPT_SIGNAL", "USR2"))
        handler = signal.getsignal(number)
        if callable(handler):
            signal.signal(number, partial(_leave, handler))
        return self.mark, self.function(*args, **kwargs)


def _leave(handler: Callable[[int, FrameType | None], Any], number: int, frame: FrameType | None) -> None:
    try:
        handler(number, frame)
    except SystemExit as leaving:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(leaving.code & 0xFF if isinstance(leaving.code, int) else 1)
    except (OSError, subprocess.SubprocessError):  # it cannot be queued again: it goes on for as long as it may
        traceback.print_exc()
    except import_submitit().core.utils.UncompletedJobError:
        # For submitit, the time of a job that is preempted is up if it was given ten minutes, or has used most of them.
        if float(os.environ.get("SLURM_JOB_END_TIME", 0)) - time.time() < NOTICE_SECONDS:
            raise
        traceback.print_exc()


def import_submitit() -> Any:
    """The module, which is imported where it is needed alone; a PeskyError if it is not installed."""
    try:
        import submitit
    except ImportError as error:
        raise PeskyError(f"submitit is not installed, which starts the jobs: {to_install('slurm')}.") from error
    return submitit
