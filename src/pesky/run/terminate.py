"""A process that is asked to end lets go of what it measures first: machines that are preempted ask so."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class Terminated(KeyboardInterrupt):
    """The process was asked to end by a signal: like Ctrl-C, but nobody is there to wait."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


@contextmanager
def terminable(announced: threading.Event) -> Iterator[None]:
    """Within it, a signal to end raises Terminated, once, in the main thread; `announced` is set then.

    At its end the process exits, as it would have without. A signal for which the program has a handler of its own, or
    which it ignores, is left to it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: FrameType | None) -> None:
        if not announced.is_set():
            announced.set()
            raise Terminated(number)

    ours = [number for number in _SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in ours:
            signal.signal(number, end)
        yield
    except Terminated as asked:
        raise SystemExit(128 + asked.number) from None
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
