"""The mistakes of a study file, each with its key, its line and what to do."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pesky.errors import PeskyError
from pesky.study_file.key_lines import Key


@dataclass(frozen=True)
class Mistake:
    """One thing to mend in a study file."""

    key: str
    """The key it concerns, dotted, like "tasks.train.cost"; empty for the file as a whole."""
    line: int | None
    """Where the key is in the file, or the table that should have it."""
    message: str
    """What was given, what was expected, what to do."""
    column: int | None = None
    """Where in the line, for what is no TOML."""

    def __str__(self) -> str:
        place = "" if self.line is None else f"line {self.line}" + (f", column {self.column}" if self.column else "")
        return ": ".join(part for part in (place, self.key, self.message) if part)


class StudyFileError(PeskyError):
    """A study file cannot be used; `mistakes` are all that were found in it."""

    def __init__(self, path: Path, mistakes: tuple[Mistake, ...]):
        super().__init__(path, mistakes)
        self.path, self.mistakes = path, mistakes

    def __str__(self) -> str:
        if len(self.mistakes) == 1:
            return f"{self.path}: {self.mistakes[0]}"
        return "\n  ".join([f"{self.path} has {len(self.mistakes)} mistakes:", *map(str, self.mistakes)])


@dataclass
class Findings:
    """The mistakes found so far, and the lines to place the next ones by."""

    lines: Mapping[Key, int]
    mistakes: list[tuple[Key, Mistake]] = field(default_factory=list)

    def note(self, key: Key, message: str) -> None:
        """One more mistake; the line is that of the key, or of the nearest table around it."""
        near = next((key[:n] for n in range(len(key), 0, -1) if key[:n] in self.lines), None)
        line = None if near is None else self.lines[near]
        self.mistakes.append((key, Mistake(dotted(key), line, message)))

    def concern(self, *keys: Key) -> bool:
        """Whether a mistake is in one of these, at or below it: what follows from them is then not to be judged."""
        return any(found[: len(key)] == key for key in keys for found, _ in self.mistakes)

    def sorted(self) -> tuple[Mistake, ...]:
        """The mistakes as they come in the file; those without a line last."""
        found = (mistake for _, mistake in self.mistakes)
        return tuple(sorted(found, key=lambda mistake: (mistake.line is None, mistake.line)))


def dotted(key: Key) -> str:
    """The key as TOML would write it, with the place in a list in brackets: `tasks.train.outcomes[0]`."""
    text = ""
    for part in key:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            bare = part if re.fullmatch(r"[\w-]+", part, re.ASCII) else json.dumps(part, ensure_ascii=False)
            text += f".{bare}" if text else bare
    return text
