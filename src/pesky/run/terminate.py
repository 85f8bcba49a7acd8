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


class Asked:
    """What signals have asked for, and who heard: what their handlers raise while an object is collected is lost."""

    def __init__(self) -> None:
        self.to_end: int | None = None
        """The signal that asked to end."""
        self.interrupts, self.heard = 0, 0
        """How often Ctrl-C came, and how often somebody has heard of it."""

    def again(self) -> None:
        """Nothing, unless something was asked that nobody heard."""
        if self.to_end is not None:
            raise Terminated(self.to_end)
        if self.interrupts > self.heard:
            raise KeyboardInterrupt


@contextmanager
def terminable(announced: threading.Event) -> Iterator[Asked]:
    """Within it, a signal to end raises Terminated, once, in the main thread; `announced` is set then.

    At its end the process exits, as it would have without. A signal for which the program has a handler of its own, or
    which it ignores, is left to it; Ctrl-C is a KeyboardInterrupt as ever, and counted.
    """
    asked = Asked()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def end(number: int, _: FrameType | None) -> None:
        if not announced.is_set():
            asked.to_end = number
            announced.set()
            raise Terminated(number)

    def interrupt(number: int, frame: FrameType | None) -> None:
        asked.interrupts += 1
        signal.default_int_handler(number, frame)

    usual = dict.fromkeys(_SIGNALS, signal.SIG_DFL) | {signal.SIGINT: signal.default_int_handler}
    ours = {number: before for number, before in usual.items() if signal.getsignal(number) is before}
    try:
        for number in ours:
            signal.signal(number, interrupt if number == signal.SIGINT else end)
        yield asked
    except Terminated as ended:
        raise SystemExit(128 + ended.number) from None
    finally:
        for number, before in ours.items():
            signal.signal(number, before)
