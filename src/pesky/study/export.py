"""A study's evaluations for other programs: JSON, CSV, a pandas frame."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pesky.errors import DataError, PeskyError
from pesky.extras import to_install
from pesky.problem import Problem
from pesky.store import Evaluation

if TYPE_CHECKING:
    import pandas

FIELDS = (
    *("state", "cause", "gain", "price", "seconds", "attempts", "crashes", "losses", "worker"),
    *("asked", "began", "ended", "error"),
)
TIMES = ("asked", "began", "ended")
"""Those of them that are times: as ISO 8601 in UTC, to the millisecond."""
OURS = "pesky:"
"""How every column begins that is neither a parameter nor an outcome, nor an attribute."""
ATTRIBUTE = "attribute:"
"""How a column begins that is an attribute."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""How a text begins that a spreadsheet may take for a formula and run."""


def to_json(name: str, problem: Problem, evaluations: Iterable[Evaluation]) -> str:
    """The study as JSON text."""
    each = [as_dict(e) for e in evaluations]
    return json.dumps({"name": name, "problem": problem.to_dict(), "evaluations": each}, indent=1)


def as_dict(e: Evaluation) -> dict[str, object]:
    """The evaluation as plain data."""
    plain = {"id": e.id, "task": e.task, "params": dict(e.params), "outcomes": dict(e.outcomes)}
    fields = _fields(e)
    more = {"why": None if e.why is None else dict(e.why), "attributes": dict(e.attributes)}
    history = [{**vars(each), "began": iso(each.began), "ended": iso(each.ended)} for each in e.history]
    corrections = [vars(correction) for correction in e.corrections]
    return {**plain, **fields, **more, "is_excluded": e.is_excluded, "history": history, "corrections": corrections}


def iso(when: float | None) -> str | None:
    """The time, in seconds since 1970, as ISO 8601 in UTC."""
    if when is None:
        return None
    try:
        return datetime.fromtimestamp(when, UTC).isoformat(timespec="milliseconds")
    except (OverflowError, ValueError, OSError):  # a storage may say anything
        return repr(when)


def _fields(e: Evaluation) -> dict[str, object]:
    """What is ours to say of an evaluation."""
    fields = {field: iso(getattr(e, field)) if field in TIMES else getattr(e, field) for field in FIELDS}
    return {**fields, "state": e.state.value}


def table(problem: Problem, evaluations: Iterable[Evaluation]) -> list[dict[str, object]]:
    """One flat record per evaluation.

    A column per parameter and per outcome, called as they are; what is ours begins with "pesky:" and attributes with
    "attribute:". A parameter or an outcome that is called like one of these, or like another, says which it is.
    """
    each = list(evaluations)
    noted = dict.fromkeys(name for e in each for name in e.attributes if not name.startswith(OURS))
    ours = {OURS + field for field in ("id", "task", "is_mistake", "is_excluded", *FIELDS)}
    named = Counter([*problem.parameters, *problem.outcomes, *ours, *(ATTRIBUTE + name for name in noted)])

    def column(kind: str, name: str) -> str:
        return name if named[name] == 1 else f"{kind} {name}"

    params = {name: column("parameter", name) for name in problem.parameters}
    outcomes = {name: column("outcome", name) for name in problem.outcomes}

    def record(e: Evaluation) -> dict[str, object]:
        values = {column: e.params[name] for name, column in params.items()}
        told = {column: e.outcomes.get(name) for name, column in outcomes.items()}
        more = {"is_mistake": e.is_mistake, "is_excluded": e.is_excluded}
        fields = {OURS + field: value for field, value in {**_fields(e), **more}.items()}
        extra = {ATTRIBUTE + name: e.attributes.get(name) for name in noted}
        return {OURS + "id": e.id, OURS + "task": e.task, **values, **told, **fields, **extra}

    return [record(e) for e in each]


def to_csv(problem: Problem, evaluations: Iterable[Evaluation], path: str | None = None) -> str:
    """The table as CSV text, written to `path` if given.

    A text that a spreadsheet would take for a formula, since it begins with =, +, -, @, a tab or an end of line, has a
    single quote ' before it, also in the header. Numbers are as they are.
    """
    rows = table(problem, evaluations)
    text = "".join(map(_line, [rows[0] if rows else [OURS + "id", OURS + "task"], *(row.values() for row in rows)]))
    if path is not None:
        try:
            # a text of the storage may be none that can be written: it is no reason to keep back the others
            Path(path).write_text(text, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise DataError(
                f"{path} cannot be written ({error.strerror}): give a file in a folder that exists."
            ) from error
    return text


def _line(values: Iterable[object]) -> str:
    """A line of CSV."""
    text = io.StringIO(newline="")
    # of the ends of lines in texts the writer puts only those between quotes that it ends lines with itself
    csv.writer(text, lineterminator="\r\n").writerow(map(_cell, values))
    return text.getvalue().removesuffix("\r\n") + "\n"


def _cell(value: object) -> object:
    """The value as no spreadsheet takes it for a formula; a list or an object as JSON."""
    value = json.dumps(value) if isinstance(value, list | dict) else value
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def to_frame(problem: Problem, evaluations: Iterable[Evaluation]) -> "pandas.DataFrame":
    """The table as a pandas frame, by id; times are times."""
    try:
        import pandas
    except ImportError as error:
        raise PeskyError(f"a frame needs pandas, which is not installed: {to_install('pandas')}.") from error
    rows = table(problem, evaluations)
    frame = pandas.DataFrame.from_records(rows, index=OURS + "id" if rows else None)
    for name in TIMES if rows else ():
        frame[OURS + name] = pandas.to_datetime(frame[OURS + name], format="ISO8601", utc=True, errors="coerce")
    return frame
