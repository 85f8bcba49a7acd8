"""The line of every key of a TOML text: `tomllib` tells no lines, so this scans what it has found to be valid."""

import re
import tomllib
from typing import NamedTuple

Key = tuple[str | int, ...]
"""Names of tables and keys, and places in lists."""

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'{3}.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\''  # texts
    r"|(?P<blank>[ \t\r]+|#[^\n]*)|\n|[\[\]{},=.]|[^\s\[\]{},=.#\"']+",
    re.DOTALL,
)


def key_lines(text: str) -> dict[Key, int]:
    """The line, from 1, at which each key, table and item of a list begins in a valid TOML text."""
    scan = _Scan(text)
    table: Key = ()
    while scan.next.text:
        if scan.next.text == "\n":
            scan.take()
        elif scan.next.text == "[":
            table = scan.header()
        else:
            scan.pair(table)
    return scan.lines


class _Token(NamedTuple):
    text: str
    line: int


class _Scan:
    """A walk over the tokens that notes where keys begin."""

    def __init__(self, text: str):
        self.lines: dict[Key, int] = {}
        self._tokens: list[_Token] = []
        line = 1
        for match in _TOKEN.finditer(text):
            if match["blank"] is None:
                self._tokens.append(_Token(match[0], line))
            line += match[0].count("\n")
        self._tokens.append(_Token("", line))
        self._at = 0

    @property
    def next(self) -> _Token:
        return self._tokens[self._at]

    def take(self) -> _Token:
        token = self.next
        self._at += 1
        return token

    def header(self) -> Key:
        """The table that a line like [tasks.train] opens."""
        line, marks = self.next.line, 0
        while self.next.text == "[":
            self.take()
            marks += 1
        table = self._names()
        if marks == 2:  # one more table in a list of tables
            count = sum(key[:-1] == table and isinstance(key[-1], int) for key in self.lines if key)
            self._note((), table, line)
            table = (*table, count)
        self._note((), table, line)
        while self.next.text == "]":
            self.take()
        return table

    def pair(self, table: Key) -> None:
        """A key and its value."""
        line = self.next.line
        names = self._names()
        self._note(table, names, line)
        self.take()  # =
        self._value((*table, *names))

    def _names(self) -> Key:
        names = [_plain(self.take().text)]
        while self.next.text == ".":
            self.take()
            names.append(_plain(self.take().text))
        return tuple(names)

    def _note(self, table: Key, names: Key, line: int) -> None:
        for n in range(1, len(names) + 1):
            self.lines.setdefault((*table, *names[:n]), line)
        self.lines[*table, *names] = line

    def _value(self, key: Key) -> None:
        opening = self.take().text
        if opening in ("[", "{"):
            index = 0
            while self.next.text not in ("]", "}"):
                if self.next.text in ("\n", ","):
                    self.take()
                elif opening == "{":
                    self.pair(key)
                else:
                    self.lines[*key, index] = self.next.line
                    self._value((*key, index))
                    index += 1
            self.take()
        else:
            while self.next.text not in ("", "\n", ",", "]", "}"):
                self.take()


def _plain(name: str) -> str:
    """A key without its quotes."""
    return tomllib.loads(f"name = {name}")["name"] if name[0] in "\"'" else name
