"""Results that a storage would not take, kept in a file until it does."""

import json
import logging
import os
import secrets
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pesky.errors import DataError
from pesky.problem import Option
from pesky.problem.fields import brief
from pesky.text import one_line

log = logging.getLogger("pesky")


@dataclass(frozen=True)
class Result:
    """What one attempt brought: the outcomes, or why it failed, or both."""

    study: str
    """The identity of the study that asked."""
    id: int
    attempt: int
    task: str
    params: Mapping[str, Option]
    outcomes: Mapping[str, float]
    error: str | None = None
    seconds: float | None = None
    attributes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Rescued:
    """Where results were written to."""

    path: Path
    count: int

    def __str__(self) -> str:
        what = "1 result that was" if self.count == 1 else f"{self.count} results that were"
        return f"{what} measured and could not be kept: {self.path} has them, for `pesky tell STUDY.toml --untold FILE`"


_KINDS: dict[str, tuple[type, ...]] = {
    "study": (str,),
    "id": (int,),
    "attempt": (int,),
    "task": (str,),
    "params": (dict,),
    "outcomes": (dict,),
    "error": (str, type(None)),
    "seconds": (int, float, type(None)),
    "attributes": (dict,),
}
"""What each field is in JSON; outcomes are numbers."""


def rescue(results: Sequence[Result], storage: Path | None) -> Rescued | None:
    """The file that these results were written to: beside the storage's file, or else wherever one can write.

    None if there are none. Where nothing can be written at all they go to the log, as the lines of that file.
    """
    if not results:
        return None
    lines = [json.dumps(_plain(each)) for each in results]
    stem = "pesky" if storage is None else storage.name
    folders = [Path.cwd() if storage is None else storage.parent, Path.cwd(), Path(tempfile.gettempdir())]
    for folder in folders:
        path = folder / f"{stem}.untold-{secrets.token_hex(4)}.jsonl"
        try:
            _write(path, "".join(f"{line}\n" for line in lines))
        except OSError:
            continue
        return Rescued(path, len(results))
    log.error("no file could be written for results that were measured and not kept, so here they are:")
    for line in lines:
        log.error("%s", line)
    return None


def read_results(path: str | Path) -> list[Result]:
    """The results in a file that `rescue` wrote; a DataError that names the line that is none."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"{path} cannot be read ({error}): expected a file of results that could not be kept."
        ) from error
    results = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            results.append(_read(json.loads(line)))
        except (ValueError, TypeError, RecursionError) as error:
            raise DataError(
                f"{path}, line {number}: expected a result as a JSON object, as pesky writes it "
                f"({one_line(str(error))})."
            ) from error
    return results


def _read(given: dict[str, Any]) -> Result:
    """The result of these fields; a TypeError if one is of another kind than those that we write."""
    result = Result(**given)
    for name, kinds in _KINDS.items():
        value = getattr(result, name)
        values = value.values() if name == "outcomes" and isinstance(value, dict) else ()
        if type(value) not in kinds or any(type(each) not in (int, float, bool) for each in values):
            raise TypeError(f"{name} was {brief(value)}")
    return result


def _plain(result: Result) -> dict[str, object]:
    plain = {"params": dict(result.params), "outcomes": dict(result.outcomes), "attributes": dict(result.attributes)}
    return {**vars(result), **plain}


def _write(path: Path, text: str) -> None:
    """The whole text in a new file, on disk, or no file at all."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        with suppress(OSError):
            path.unlink()
        raise
