"""Arithmetic of parameters, written as text: parsed here, by a grammar of our own, and never executed as code.

    sum     = product { ("+" | "-") product }
    product = signed { ("*" | "/") signed }
    signed  = { "+" | "-" } power
    power   = (number | name | "(" sum ")") [ "**" signed ]

A text may come from a storage, and so from anybody: its length and its depth are limited, and no pattern goes back.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pesky.errors import ProblemError

LONGEST = 1000
"""Characters of an expression."""
DEEPEST = 30
"""Parentheses, signs and powers within one another."""

_NUMBER = r"(?>\d[\d_]*+(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?+(?![\w.])"
_TOKEN = rf"(?P<number>{_NUMBER})|(?P<name>[^\W\d][\w.]*)|(?P<sign>\*\*|[-+*/()])"
_BLANK = re.compile(r"\s*")
_OPERATIONS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "**": "power"}
"""What numpy calls each sign."""

Step = float | str | tuple[str]
"""A number, the name of a parameter in a tuple of one, or what is done to the last two values, or the last one."""


@dataclass(frozen=True)
class Expression:
    """The value of an arithmetic expression as a function of the parameters, of numbers or of arrays alike."""

    text: str
    names: frozenset[str]
    """The names in it."""
    steps: tuple[Step, ...]
    """Reverse Polish: each operation follows what it is done to."""

    def __str__(self) -> str:
        return self.text

    def __call__(self, params: Mapping[str, Any]) -> Any:
        """The value at these parameters; infinite or not a number where arithmetic has none."""
        import numpy as np  # takes a tenth of a second, and commands that only tell a result need none of it

        stack: list[Any] = []
        with np.errstate(all="ignore"):
            for step in self.steps:
                if isinstance(step, tuple):
                    stack.append(np.asarray(params[step[0]], dtype=np.float64))
                elif not isinstance(step, str):
                    stack.append(np.float64(step))
                elif step == "negate":
                    stack.append(np.negative(stack.pop()))
                else:
                    last = stack.pop()
                    stack.append(getattr(np, _OPERATIONS[step])(stack.pop(), last))
        return stack.pop()


def parsed(text: str, names: Collection[str] = ()) -> Expression | None:
    """The expression that a text is, of these or any other names; None if it is no arithmetic at all.

    `names` are needed for those that are more than a word, like "learning rate". A ProblemError if it is too long or
    too deep.
    """
    check_length(text)
    if (tokens := _tokens(text, names)) is None:
        return None
    parser = _Parser(tokens)
    try:
        parser.sum(0)
    except _NoArithmetic:
        return None
    if parser.tokens:
        return None
    found = frozenset(step[0] for step in parser.steps if isinstance(step, tuple))
    return Expression(text.strip(), found, tuple(parser.steps))


def check_length(text: str) -> None:
    """Nothing, or a ProblemError for a text that is too long to be parsed."""
    if len(text) > LONGEST:
        raise ProblemError(f"the expression {text[:40]!r}... is longer than {LONGEST} characters: {_REMEDY}")


_REMEDY = "write it as a function, known={'name': ...}, and constrain that."


class _NoArithmetic(Exception):
    """A text that follows another grammar, or none."""


def _tokens(text: str, names: Collection[str]) -> list[tuple[str, str]] | None:
    """The words of a text, last first, each with its kind; None where something in it is none."""
    own = sorted((name for name in names if re.match(r"[^\W\d]", name)), key=len, reverse=True)
    known = rf"(?P<known>(?:{'|'.join(map(re.escape, own))})(?!\w))|" if own else ""
    pattern, at, tokens = re.compile(known + _TOKEN), 0, []
    while (at := _end(_BLANK.match(text, at))) < len(text):
        if (match := pattern.match(text, at)) is None:
            return None
        kind = str(match.lastgroup)
        tokens.append(("name" if kind == "known" else kind, match[0]))
        at = match.end()
    return tokens[::-1] or None


def _end(match: re.Match[str] | None) -> int:
    assert match is not None
    return match.end()


class _Parser:
    """Goes through tokens, last first, and writes the steps; one method for each line of the grammar."""

    def __init__(self, tokens: list[tuple[str, str]]):
        self.tokens, self.steps = tokens, list[Step]()

    def sum(self, depth: int) -> None:
        self._chain(("+", "-"), self.product, depth)

    def product(self, depth: int) -> None:
        self._chain(("*", "/"), self.signed, depth)

    def signed(self, depth: int) -> None:
        if (sign := self._take("+", "-")) is None:
            return self.power(depth)
        self.signed(self._deeper(depth))
        if sign == "-":
            self.steps.append("negate")
        return None

    def power(self, depth: int) -> None:
        if self._take("(") is not None:
            self.sum(self._deeper(depth))
            if self._take(")") is None:
                raise _NoArithmetic
        else:
            kind, word = self.tokens.pop() if self.tokens else ("", "")
            if kind not in ("number", "name"):
                raise _NoArithmetic
            self.steps.append(float(word) if kind == "number" else (word,))
        if self._take("**") is not None:
            self.signed(self._deeper(depth))
            self.steps.append("**")

    def _chain(self, signs: tuple[str, ...], part: Callable[[int], None], depth: int) -> None:
        part(depth)
        while (sign := self._take(*signs)) is not None:
            part(depth)
            self.steps.append(sign)

    def _take(self, *signs: str) -> str | None:
        """The next token, if it is one of these signs."""
        is_next = bool(self.tokens) and self.tokens[-1][0] == "sign" and self.tokens[-1][1] in signs
        return self.tokens.pop()[1] if is_next else None

    def _deeper(self, depth: int) -> int:
        if depth >= DEEPEST:
            raise ProblemError(f"an expression has more than {DEEPEST} levels of parentheses and signs: {_REMEDY}")
        return depth + 1
