"""The problem that a study file states, each of its mistakes found by the problem's own checks and put to its key."""

from collections.abc import Collection, Mapping
from contextlib import contextmanager
from typing import Any

from pesky.errors import ProblemError, unknown_name
from pesky.problem import Constraint, Outcome, Parameter, Problem, Real, Resource, Task
from pesky.problem.fields import name
from pesky.problem.known import Imported
from pesky.problem.parameters import from_plain
from pesky.study_file.constraints import constraints_of, measured_of
from pesky.study_file.key_lines import Key
from pesky.study_file.mistakes import Findings
from pesky.study_file.tables import PARAMETERS, OutcomeTable, ResourceTable, StudyTable, TaskTable
from pesky.study_file.validate import validated

_TYPES = {"float": "real", "double": "real", "number": "real", "int": "integer"}
_TYPES |= dict.fromkeys(("categorical", "category", "enum", "bool", "boolean"), "choice")


_ANY = Real(-1e300, 1e300)
"""Stands for a parameter that cannot be read: nothing is impossible with it."""


def task_tables(given: dict[str, object] | None, findings: Findings) -> dict[str, TaskTable] | None:
    """The tables of the tasks, of those that can be read; None if everything is measured together."""
    if given is None:
        return None
    tables = {label: validated(TaskTable, each, ("tasks", label), findings) for label, each in given.items()}
    return {label: table for label, table in tables.items() if table is not None}


def problem_of(
    table: StudyTable, tasks: Mapping[str, TaskTable] | None, known: Mapping[str, Imported], findings: Findings
) -> Problem | None:
    """The problem; None, and the reasons among the findings, if it cannot be made."""
    is_misspelled = any(len(key) == 1 and key[0] not in StudyTable.model_fields for key, _ in findings.mistakes)
    objective = _objective(table, findings)
    if not table.parameters and not is_misspelled and not findings.concern(("parameters",)):
        example = 'x = { type = "real", low = 0, high = 1 }'
        findings.note(("parameters",), f"is missing: expected at least one, like {example}.")
    parameters = _parameters(table.parameters, findings)
    called = {*known, *(outcome for task in (tasks or {}).values() for outcome in task.outcomes)}
    _check_names(parameters, {objective, *called}, findings)
    # What is wrong with a parameter is said once, and not again of each constraint on it.
    declared = {label: parameters.get(label, _ANY) for label in table.parameters if label not in called}
    declared = declared or {"any parameter": _ANY}
    constraints = constraints_of(table.constraints, objective, declared, called, findings)
    if objective is None or is_misspelled or findings.concern(("constraints",)):
        return None  # which outcomes there are is not known, and hence not what is wrong with what measures them
    direction = "maximize" if table.minimize is None else "minimize"
    measured = measured_of(objective, constraints, declared, called)
    stated = _Stated(direction, objective, constraints, declared, measured)
    if not _state_known(known, stated, findings):
        return None  # nor is what there is to measure
    _check_noise(table.noise, stated, findings)
    outcomes = _outcomes(table.outcomes, stated, findings)
    measured = _tasks(tasks, stated, findings)
    resources = _resources(table.resources, measured, stated, findings)
    with _mapped((), findings):
        return stated.problem(parameters, tasks=measured, noise=table.noise, resources=resources, outcomes=outcomes)
    return None


class _Stated:
    """The objective, the constraints and what is known, and problems made of them to try one more part at a time."""

    def __init__(
        self,
        direction: str,
        objective: str,
        constraints: list[Constraint],
        parameters: Mapping[str, Parameter],
        measured: list[str],
    ):
        self._given: dict[str, Any] = {direction: objective, "constraints": constraints}
        self._parameters, self._measured = parameters, measured

    def know(self, known: Mapping[str, Imported]) -> None:
        """From here on these outcomes are known; a ProblemError if they cannot be."""
        self.problem(known=known)
        self._given["known"] = known

    def problem(self, parameters: Mapping[str, Parameter] | None = None, **parts) -> Problem:
        given = {**self._given, **parts}
        if measured := [outcome for outcome in self._measured if outcome not in given.get("known", ())]:
            given.setdefault("tasks", {"all": Task(measured)})
        return Problem(parameters or self._parameters, **given)


@contextmanager
def _mapped(key: Key, findings: Findings):
    """What the problem refuses goes to the findings, with the key that it concerns."""
    try:
        yield
    except ProblemError as error:
        if key or not findings.mistakes:  # a problem of parts that are wrong has nothing new to say
            findings.note(key, str(error))


def _objective(table: StudyTable, findings: Findings) -> str | None:
    if findings.concern(("minimize",), ("maximize",)):
        return None
    if table.minimize is not None and table.maximize is not None:
        findings.note(
            ("maximize",), f"was {table.maximize!r}, and minimize was {table.minimize!r}: expected one objective: "
            "leave one out, or state it as a constraint."
        )  # fmt: skip
        return None
    given = table.minimize or table.maximize
    if given is None:
        findings.note(("minimize",), 'is missing: expected the outcome to minimize, or maximize = "..." instead.')
        return None
    with _mapped(("minimize",) if table.minimize else ("maximize",), findings):
        return name("the objective", given)


def _parameters(given: dict[str, object], findings: Findings) -> dict[str, Parameter]:
    parameters = {}
    for label, each in given.items():
        key = ("parameters", label)
        kind = each.get("type") if isinstance(each, dict) else None
        if isinstance(each, dict) and (not isinstance(kind, str) or kind not in PARAMETERS):
            findings.note((*key, "type"), _which_type(kind, each))
        elif validated(PARAMETERS.get(str(kind), PARAMETERS["real"]), each, key, findings) and not findings.concern(
            key
        ):
            with _mapped(key, findings):
                name("its name", label)
                parameters[label] = from_plain(f"the parameter {label!r}", each)
    return parameters


def _which_type(kind: object, given: dict[str, object]) -> str:
    if kind is None:
        meant = "choice" if {"options", "choices"} & given.keys() else "real"
        return f"is missing: expected 'real', 'integer' or 'choice', here probably type = \"{meant}\"."
    meant = _TYPES.get(str(kind).lower())
    if meant is None:
        return unknown_name("type", kind, PARAMETERS)
    options = " with options = [true, false]" if str(kind).startswith("bool") else ""
    return f"was {kind!r}: expected 'real', 'integer' or 'choice': write type = \"{meant}\"{options}."


def _check_names(parameters: Mapping[str, Parameter], outcomes: Collection[str | None], findings: Findings) -> None:
    for label in parameters:
        if label in outcomes:
            findings.note(("parameters", label), f"{label!r} is an outcome as well: expected two names: rename one.")


def _state_known(known: Mapping[str, Imported], stated: _Stated, findings: Findings) -> bool:
    """Whether all of these outcomes can be known; they then are."""
    if any(key == ("known",) for key, _ in findings.mistakes):
        return False  # the table cannot be read at all
    before = len(findings.mistakes)
    for outcome, function in known.items():
        with _mapped(("known", outcome), findings):
            stated.problem(known={outcome: function})
    if len(findings.mistakes) == before:
        with _mapped(("known",), findings):
            stated.know(known)
    return len(findings.mistakes) == before


def _check_noise(given: object, stated: _Stated, findings: Findings) -> None:
    for outcome, deviation in given.items() if isinstance(given, dict) else ():
        with _mapped(("noise", outcome), findings):
            stated.problem(noise={outcome: deviation})
    if not isinstance(given, dict):
        with _mapped(("noise",), findings):
            stated.problem(noise=given)


def _outcomes(given: dict[str, object], stated: _Stated, findings: Findings) -> dict[str, Outcome]:
    outcomes = {}
    for label, each in given.items():
        key = ("outcomes", label)
        table = validated(OutcomeTable, each, key, findings)
        if table is not None:
            with _mapped(key, findings):
                stated.problem(outcomes={label: table.model_dump()})
                outcomes[label] = Outcome(label, table.low, table.high)
    return outcomes


def _tasks(given: Mapping[str, TaskTable] | None, stated: _Stated, findings: Findings) -> dict[str, Task] | None:
    if given is None:
        return None
    tasks, every = {}, ()
    for label, table in given.items():
        with _mapped(("tasks", label, "outcomes"), findings):
            task = Task(**table.model_dump(exclude={"function", "command", "parameters"}))
            # beside a task that measures everything, so that only this one is judged
            every = stated.problem().outcomes
            stated.problem(tasks={f"not {label}": Task(every), label: task})
            tasks[label] = task
        if table.parameters is not None and label in tasks:
            with _mapped(("tasks", label, "parameters"), findings):
                task = Task(**table.model_dump(exclude={"function", "command"}))
                others = [outcome for outcome in every if outcome not in task.outcomes]
                stated.problem(tasks={label: task, **({f"not {label}": Task(others)} if others else {})})
                tasks[label] = task
    if not findings.concern(("tasks",)):
        with _mapped(("tasks",), findings):
            stated.problem(tasks=tasks)
    return tasks


def _resources(
    given: dict[str, object] | None, tasks: Mapping[str, Task] | None, stated: _Stated, findings: Findings
) -> dict[str, Resource] | None:
    if given is None:
        return None
    resources = {}
    known = None if findings.concern(("tasks",)) else stated.problem(tasks=tasks).tasks
    for label, each in given.items():
        key = ("resources", label)
        table = validated(ResourceTable, each, key, findings)
        if table is not None:
            with _mapped((*key, "tasks"), findings):
                resources[label] = resource = Resource(table.tasks, table.slots)
                if known is not None:
                    stated.problem(tasks=known, resources={f"not {label}": Resource(tuple(known)), label: resource})
    if known is not None and not findings.concern(("resources",)):
        with _mapped(("resources",), findings):
            stated.problem(tasks=known, resources=resources)
    return resources
