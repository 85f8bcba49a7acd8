"""Where CPU time goes: the stacks of Python functions, sampled as the time passes.

A timer of the process interrupts it every millisecond of CPU time. The interrupt waits for a long operation of a
library to end, so each sample counts by the time since the last one, not as one.
"""

import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from time import process_time
from types import FrameType

EVERY = 1e-3
"""CPU seconds between interrupts."""


@dataclass
class Stack:
    """A function, as called from those above it: its seconds, callees included, and the callees."""

    name: str
    seconds: float = 0.0
    callees: dict[str, "Stack"] = field(default_factory=dict)

    def add(self, names: list[str], seconds: float) -> None:
        """Counts the time of one sample, whose callees are these, the outermost first."""
        self.seconds += seconds
        if names:
            callee = self.callees.setdefault(names[0], Stack(names[0]))
            callee.add(names[1:], seconds)


def sample_stacks(work: Callable[[], object], whole: Stack, package: str) -> None:
    """Does the work, and adds the stacks of the functions of one package that it was in."""
    last = process_time()

    def interrupted(_number: int, frame: FrameType | None) -> None:
        nonlocal last
        names: list[str] = []
        while frame is not None:
            module = frame.f_globals.get("__name__", "")
            if module == package or module.startswith(f"{package}."):
                names.append(f"{module.removeprefix(package)}.{frame.f_code.co_name}".lstrip("."))
            frame = frame.f_back
        now = process_time()
        whole.add(names[::-1], now - last)
        last = now

    before = signal.signal(signal.SIGPROF, interrupted)
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
    try:
        work()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
