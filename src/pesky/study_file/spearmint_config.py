"""A Spearmint config.json, read as its public documentation describes it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from keyword import iskeyword
from pathlib import Path
from typing import Any

from pesky.errors import PeskyError, brief, unknown_name
from pesky.problem.fields import finite, json_in

TYPES = {"FLOAT": "real", "INT": "integer", "ENUM": "choice"}
KINDS = ("OBJECTIVE", "CONSTRAINT")
_KNOWN = ("experiment-name", "variables", "tasks", "resources", "main-file", "likelihood")
_KNOWN += ("max-concurrent", "max-finished-jobs")

LARGEST = 1000
"""Elements of a variable."""


class SpearmintError(PeskyError):
    """A Spearmint config cannot be turned into a study file."""


@dataclass(frozen=True)
class Variable:
    """A variable of so many elements, all of one type and range."""

    name: str
    type: str
    size: int
    low: object
    high: object
    options: tuple[object, ...]


@dataclass(frozen=True)
class Outcome:
    """A task of Spearmint: one number, and how it is measured."""

    name: str
    is_objective: bool
    group: str
    module: str
    cost: float
    is_noiseless: bool
    resources: tuple[str, ...]


@dataclass
class Config:
    """What a config says that pesky has a place for."""

    name: str
    variables: list[Variable]
    outcomes: list[Outcome]
    resources: dict[str, int]
    """How many at once each resource runs."""
    workers: int
    evaluations: int | None
    unused: list[str] = field(default_factory=list)
    """What it has no place for."""

    @property
    def groups(self) -> dict[str, list[Outcome]]:
        """The outcomes that are measured together."""
        return {outcome.group: [o for o in self.outcomes if o.group == outcome.group] for outcome in self.outcomes}


def read_config(path: Path) -> Config:
    """The config of a file; a SpearmintError that says what is wrong if it cannot be read."""
    try:
        given = json_in(path.read_bytes())
        json.dumps(given, ensure_ascii=False).encode()  # halves of surrogate pairs go into no file
    except OSError as error:
        raise SpearmintError(f"{path} cannot be read ({error.strerror}): expected Spearmint's config.json.") from error
    except ValueError as error:
        raise SpearmintError(f"{path} is no JSON ({error}): expected Spearmint's config.json.") from error
    if not isinstance(given, dict) or not isinstance(given.get("variables"), dict) or not given["variables"]:
        raise SpearmintError(f'{path} has no "variables": expected Spearmint\'s config.json.')
    variables = [_variable(name, each) for name, each in given["variables"].items()]
    outcomes = _outcomes(given)
    listed = given.get("resources")
    resources = (
        {name: each for name, each in listed.items() if isinstance(each, dict)} if isinstance(listed, dict) else {}
    )
    ends = [each["max-finished-jobs"] for each in (given, *resources.values()) if "max-finished-jobs" in each]
    unused = [f"{key} = {json.dumps(value)}" for key, value in given.items() if key not in _KNOWN]
    for name, each in resources.items():
        ignored = {key: value for key, value in each.items() if key not in ("max-concurrent", "max-finished-jobs")}
        unused += [f"resources.{name}.{key} = {json.dumps(value)}" for key, value in ignored.items()]
    slots = {name: _count("max-concurrent", each.get("max-concurrent", 1)) for name, each in resources.items()}
    return Config(
        name=str(given.get("experiment-name", path.resolve().parent.name)),
        variables=variables,
        outcomes=outcomes,
        resources=slots,
        workers=_count("max-concurrent", given.get("max-concurrent", 1)),
        evaluations=sum(_count("max-finished-jobs", end) for end in ends) or None,
        unused=unused,
    )


def _variable(name: str, given: object) -> Variable:
    what = f"the variable {name!r}"
    if not isinstance(given, dict):
        raise SpearmintError(f"{what} was {brief(given)}: expected an object with type, size and bounds.")
    kind = str(given.get("type", "")).upper()
    if kind not in TYPES:
        raise SpearmintError(f"{what}: {unknown_name('type', given.get('type'), TYPES)}")
    needed = ["options"] if kind == "ENUM" else ["min", "max"]
    if missing := [key for key in needed if key not in given]:
        raise SpearmintError(f"{what} has no {' and no '.join(map(repr, missing))}: expected them for a {kind}.")
    low, high = given.get("min"), given.get("max")
    if kind == "INT":
        low, high = _whole(low), _whole(high)
    return Variable(
        name,
        TYPES[kind],
        _count(f"{what}: size", given.get("size", 1), LARGEST),
        low,
        high,
        options=_list(f"{what}: options", given.get("options", ())),
    )


def _whole(given: object) -> object:
    """A whole number that JSON wrote with a point; anything else as it is, for the study file's checks to name."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


def _count(what: str, given: object, most: int = 10**6) -> int:
    if not isinstance(given, int) or not 1 <= given <= most:
        raise SpearmintError(f"{what} was {brief(given)}: expected a whole number from 1 to {most:,}.")
    return given


def _list(what: str, given: object) -> tuple[Any, ...]:
    if not isinstance(given, list | tuple):
        raise SpearmintError(f"{what} was {brief(given)}: expected a list.")
    return tuple(given)


def _outcomes(given: Mapping[str, object]) -> list[Outcome]:
    tasks = given.get("tasks") or {"objective": {"type": "OBJECTIVE"}}
    if not isinstance(tasks, dict):
        raise SpearmintError(f'"tasks" was {brief(tasks)}: expected an object with one for each task.')
    outcomes = [_outcome(name, each, given) for name, each in tasks.items()]
    if sum(outcome.is_objective for outcome in outcomes) != 1:
        names = [outcome.name for outcome in outcomes if outcome.is_objective]
        raise SpearmintError(f"the objectives were {names!r}: expected one task of type OBJECTIVE, and constraints.")
    return outcomes


def _outcome(name: str, given: object, top: Mapping[str, object]) -> Outcome:
    if not isinstance(given, dict):
        raise SpearmintError(f"the task {name!r} was {brief(given)}: expected an object with a type.")
    fields = {key.replace("_", "-"): value for key, value in given.items()}
    kind = str(fields.get("type", "OBJECTIVE")).upper()
    if kind not in KINDS:
        raise SpearmintError(f"the task {name!r}: {unknown_name('type', fields.get('type'), KINDS)}")
    file = fields.get("main-file", top.get("main-file", top.get("main_file", "main")))
    module = str(file).removesuffix(".py")
    if not module.isidentifier() or iskeyword(module):
        raise SpearmintError(
            f"the main-file {brief(file)} cannot be imported: expected a Python file beside the config: rename or "
            "move it."
        )
    likelihood = str(fields.get("likelihood", top.get("likelihood", "GAUSSIAN"))).upper()
    on = fields.get("resources", ())
    return Outcome(
        name,
        kind == "OBJECTIVE",
        # what one call of main gives together, unless the config says it
        str(fields.get("group", module)),
        module,
        finite(f"the task {name!r}: cost", fields.get("cost", 1.0)),
        likelihood == "NOISELESS",
        (on,) if isinstance(on, str) else _list(f"the task {name!r}: resources", on),
    )
