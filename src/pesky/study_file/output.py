"""What processes print, as it comes, in little memory however much it is."""

import codecs
import io
import os
import select
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Self

PIECE = 2**16
"""Bytes that are read at once, as many as a pipe commonly holds."""
LONGEST = 2**16
"""Characters of a line after which it is passed on without its end."""
LEFT = 2**20
"""Bytes that are read at most once the processes have ended: no pipe holds more."""
JOIN_TIMEOUT = 10.0
"""Seconds that are waited for whoever takes the last of it, say a terminal that was stopped."""


class Pipe:
    """The open end of a pipe for child processes to print to, and a thread that passes on every piece, b"" at the end.

    The processes have ended when the context does: what they left in the pipe is read, and nothing is waited for, even
    if one that left its group holds the pipe open.
    """

    def __init__(self, take: Callable[[bytes], None]):
        self._take = take

    def __enter__(self) -> Self:
        with ExitStack() as undo:
            read, self._write = _pipe(undo)
            stop, self._stop = _pipe(undo)
            os.set_blocking(read, False)
            self._thread = threading.Thread(
                target=self._pass_on, args=[read, stop], daemon=True, name=f"pesky {type(self).__name__.lower()}"
            )
            self._thread.start()
            undo.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._write)
        with suppress(BrokenPipeError):  # the thread has read the pipe to its end
            os.write(self._stop, b"stop")
        os.close(self._stop)
        self._thread.join(JOIN_TIMEOUT)

    def fileno(self) -> int:
        """What to give to the processes."""
        return self._write

    def _pass_on(self, read: int, stop: int) -> None:
        try:
            for piece in _pieces(read, stop):
                self._take(piece)
            self._take(b"")
        finally:
            os.close(read)
            os.close(stop)


class Output(Pipe):
    """The open end of a pipe for child processes to print to, and a thread that passes on every line.

    A line of more than `LONGEST` characters comes in parts, as if it had been several.
    """

    def __init__(self, take: Callable[[str], None]):
        super().__init__(_Lines(take))


class Tail:
    """The last `most` of many bytes that come in pieces."""

    def __init__(self, most: int):
        self._most, self._size, self._kept = most, 0, bytearray()

    def __call__(self, piece: bytes) -> None:
        self._size += len(piece)
        self._kept += piece
        if len(self._kept) > 2 * self._most:  # not at every piece, since it moves all that is kept
            del self._kept[: -self._most]

    @property
    def is_cut(self) -> bool:
        """Whether there were more bytes before."""
        return self._size > self._most

    @property
    def text(self) -> str:
        """What is kept, as text."""
        return self._kept[-self._most :].decode(errors="replace")


class _Lines:
    """Takes the bytes of a text in pieces and passes on its lines."""

    def __init__(self, take: Callable[[str], None]):
        self._take = take
        utf8 = codecs.getincrementaldecoder("utf-8")(errors="replace")
        # also a lone carriage return ends a line, as those of a progress bar do
        self._decoder = io.IncrementalNewlineDecoder(utf8, translate=True)
        self._line = io.StringIO()
        self._is_rest = False

    def __call__(self, piece: bytes) -> None:
        begun, *others = self._decoder.decode(piece, final=not piece).split("\n")
        self._line.write(begun)
        for text in others:
            self._pass_on(is_whole=True)
            self._line.write(text)
        if not piece or self._line.tell() >= LONGEST:
            self._pass_on(is_whole=False)

    def _pass_on(self, is_whole: bool) -> None:
        line, self._line = self._line.getvalue(), io.StringIO()
        # an empty line is one, but not the empty rest of a line that was passed on before its end
        if line or (is_whole and not self._is_rest):
            self._take(line)
        self._is_rest = not is_whole


def _pieces(read: int, stop: int) -> Iterator[bytes]:
    """What comes through a pipe, until nobody can write to it; once `stop` can be read, only what is in it already."""
    events, left = select.poll(), LEFT
    events.register(read, select.POLLIN)
    events.register(stop, select.POLLIN)
    while left > 0:
        is_stopped = any(descriptor == stop for descriptor, _ in events.poll())
        try:
            piece = os.read(read, PIECE)
        except BlockingIOError:
            if is_stopped:
                return
            continue
        if not piece:
            return
        yield piece
        left -= len(piece) if is_stopped else 0


def _pipe(undo: ExitStack) -> tuple[int, int]:
    """The two ends of a new pipe, which `undo` closes."""
    ends = os.pipe()
    for end in ends:
        undo.callback(os.close, end)
    return ends
