"""One machine and its processes, told apart from others: which boot, which processes, and a clock that never jumps."""

import os
import time
from functools import cache
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")


@cache
def boot() -> str | None:
    """What all processes of this machine share until it is started anew, and no others; None where nobody knows."""
    return _join(_read(_BOOT), _link("time"))  # containers may have a clock of their own


@cache
def processes() -> str | None:
    """What all processes share that see one another's numbers; None where nobody knows."""
    return _join(boot(), _link("pid"))


def steady() -> float:
    """Seconds of a clock that nobody can set, and that goes on while the machine sleeps, where there is one."""
    clocks = [getattr(time, name, None) for name in ("CLOCK_BOOTTIME", "CLOCK_MONOTONIC")]
    clock = next((each for each in clocks if each is not None), None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


def began(pid: int) -> str | None:
    """When the process of this number was started, in the kernel's own unit; None if there is none that lives."""
    try:
        # the name, in parentheses, may have anything in it
        state, *rest = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except (OSError, ValueError):
        return None
    return None if state in "ZX" else rest[18]


def _read(path: Path) -> str | None:
    try:
        return path.read_text().strip() or None
    except OSError:
        return None


def _link(kind: str) -> str | None:
    try:
        return os.readlink(f"/proc/self/ns/{kind}")
    except OSError:
        return None


def _join(*parts: str | None) -> str | None:
    known = [part for part in parts if part is not None]
    return " ".join(known) if len(known) == len(parts) else None
