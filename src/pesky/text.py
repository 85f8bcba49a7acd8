"""Texts that others wrote, made harmless: what a terminal, a database or a reader should never be given as it is."""

import re
import sys
from collections.abc import Iterable
from typing import Any

ERROR = 2000
"""Characters of an error that are kept: its beginning and its end."""
NAME = 200
"""Characters of a name that are kept."""

# Colors, cursor movements, window titles: what terminals obey, whole, so that no digits of it are left over.
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\^-~])")
# Controls but for tab and newline, halves of surrogate pairs, and what turns the direction of writing around.
_HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
# Colors, bold and the like alone, of as many digits as any of them need.
_COLOR = re.compile(r"(\x1b\[[0-9;]{0,40}m)")
_GAP = " [...] "


def harmless(text: str, most: int = ERROR) -> str:
    """The text without what a terminal would obey or a database refuse, and no longer than so many characters.

    The same text comes back when it is given again: what was made harmless is.
    """
    # of a text of megabytes only what can be kept is looked at
    head, tail = (text, "") if len(text) <= 4 * most else (text[: 2 * most], text[-2 * most :])
    head, tail = _clean(head), _clean(tail)
    if not tail and len(head) <= most:
        return head
    if most <= 2 * len(_GAP):
        return head[:most]
    half = most // 2
    return head[: most - half - len(_GAP)] + _GAP + (tail or head)[-half:]


def one_line(text: str, most: int = NAME) -> str:
    """The same on one line."""
    return " ".join(harmless(text, most).split())


def visible(text: str) -> str:
    """The whole text without what a terminal would obey, however long it is."""
    return _clean(text)


def colored(text: str) -> str:
    """The text with its colors, but without all else that a terminal would obey."""
    return "".join(part if _COLOR.fullmatch(part) else _clean(part) for part in _COLOR.split(text))


def escaped(text: str) -> str:
    """The text with what a terminal would obey as escapes, which readers of JSON take for the same characters."""
    return _HARMFUL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class Guarded:
    """A text stream that passes on everything but what a terminal would obey; of that, colors alone."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write the text, and return how many characters it has."""
        self._stream.write(colored(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write all of these."""
        for line in lines:
            self.write(line)

    @property
    def unguarded(self) -> Any:
        """The stream itself, for what writes orders of its own around texts that it has made harmless."""
        return self._stream


def guard_terminal() -> None:
    """Guard the standard streams of this process, through which whatever it prints leaves: tracebacks, too."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, Guarded):
            setattr(sys, name, Guarded(stream))


def _clean(text: str) -> str:
    text = _SEQUENCE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _HARMFUL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
