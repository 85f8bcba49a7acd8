"""The problem: one frozen representation, which is also what is stored."""

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pesky.errors import ProblemError, unknown_name
from pesky.problem.constraint import Constraint
from pesky.problem.fields import Named, build, finite, listed, name, named
from pesky.problem.parameters import Parameter, from_plain, to_plain
from pesky.problem.task import Task


@dataclass(frozen=True, init=False)
class Problem:
    """What to optimize, over which parameters, under which constraints, and what can be measured.

    `minimize` or `maximize` names the objective, one outcome. Without `tasks` every outcome is measured
    together. `noise` is the standard deviation of a measurement in the outcome's own units: one number for
    all outcomes or one for each; 0 says there is none, None (the default) that it is to be inferred.
    """

    parameters: Mapping[str, Parameter]
    minimize: str | None
    maximize: str | None
    constraints: tuple[Constraint, ...]
    tasks: Mapping[str, Task]
    noise: Mapping[str, float | None]

    def __init__(
        self,
        parameters: Mapping[str, Parameter],
        minimize: str | None = None,
        maximize: str | None = None,
        constraints: Iterable[str | Constraint] = (),
        tasks: Mapping[str, Task | Sequence[str]] | None = None,
        noise: float | Mapping[str, float | None] | None = None,
    ):
        if (minimize is None) == (maximize is None):
            raise ProblemError(
                f"minimize was {minimize!r} and maximize was {maximize!r}: expected the objective's name "
                "in one of them."
            )
        name("the objective", maximize if minimize is None else minimize)
        object.__setattr__(self, "parameters", _parameters(parameters))
        object.__setattr__(self, "minimize", minimize)
        object.__setattr__(self, "maximize", maximize)
        object.__setattr__(self, "constraints", _constraints(constraints))
        object.__setattr__(self, "tasks", _tasks(tasks, self.outcomes))
        object.__setattr__(self, "noise", _noise(noise, self.outcomes))

    @property
    def objective(self) -> str:
        """The outcome to minimize or maximize."""
        return str(self.maximize if self.minimize is None else self.minimize)

    @property
    def sign(self) -> int:
        """+1 when the objective is minimized, -1 when it is maximized."""
        return -1 if self.minimize is None else 1

    @property
    def rows(self) -> tuple[str, ...]:
        """The outcome behind each row: the objective, then each constraint's (one may appear twice)."""
        return (self.objective, *(constraint.outcome for constraint in self.constraints))

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Everything that is measured: the objective first, no repeats."""
        return tuple(dict.fromkeys(self.rows))

    @property
    def confidences(self) -> tuple[float, ...]:
        """The probability with which each constraint must hold."""
        return tuple(constraint.confidence for constraint in self.constraints)

    def to_dict(self) -> dict[str, object]:
        """The problem as plain data, from which `from_dict` makes an equal one."""
        return {
            "parameters": {key: to_plain(parameter) for key, parameter in self.parameters.items()},
            "maximize" if self.minimize is None else "minimize": self.objective,
            "constraints": [dataclasses.asdict(constraint) for constraint in self.constraints],
            "tasks": {key: {"outcomes": list(task.outcomes), "cost": task.cost} for key, task in self.tasks.items()},
            "noise": dict(self.noise),
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, object]) -> "Problem":
        """The problem that was written as plain data."""
        return build("the problem", cls, given)

    def to_json(self) -> str:
        """The problem as JSON text, from which `from_json` makes an equal one."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> "Problem":
        """The problem that was written as JSON text."""
        try:
            given = json.loads(text)
        except json.JSONDecodeError as error:
            raise ProblemError(f"the problem is not JSON ({error}): expected what `to_json` wrote.") from error
        return cls.from_dict(given)


def _parameters(given: object) -> Named[Parameter]:
    each = named("parameters", given)
    if not each:
        raise ProblemError("parameters was empty: expected at least one, like {'x': Real(0, 1)}.")
    return Named(
        {
            key: value if isinstance(value, Parameter) else from_plain(f"the parameter {key!r}", value)
            for key, value in each.items()
        }
    )


def _constraints(given: object) -> tuple[Constraint, ...]:
    constraints = tuple(_constraint(each) for each in listed("constraints", given))
    texts = [str(constraint) for constraint in constraints]
    for constraint, text in zip(constraints, texts, strict=True):
        if texts.count(text) > 1:
            raise ProblemError(f"the constraint {text!r} was given twice: leave one out.")
        for other in constraints:
            if (constraint.outcome, constraint.sense, other.sense) == (other.outcome, ">=", "<=") and (
                constraint.threshold > other.threshold
            ):
                raise ProblemError(f"{text!r} and '{other}' contradict each other: no value satisfies both.")
    return constraints


def _constraint(given: object) -> Constraint:
    if isinstance(given, Constraint):
        return given
    return Constraint.parse(given) if isinstance(given, str) else build("a constraint", Constraint, given)


def _tasks(given: object, outcomes: tuple[str, ...]) -> Named[Task]:
    if given is None:
        return Named({"all": Task(outcomes)})
    tasks = {key: _task(key, each) for key, each in named("tasks", given).items()}
    for key, task in tasks.items():
        for outcome in task.outcomes:
            if outcome not in outcomes:
                raise ProblemError(f"the task {key!r}: {unknown_name('outcome', outcome, outcomes)}")
    for outcome in outcomes:
        if not any(outcome in task.outcomes for task in tasks.values()):
            raise ProblemError(
                f"no task measures the outcome {outcome!r}: "
                + (f"add it to one of {', '.join(map(repr, tasks))}." if tasks else "name a task that does.")
            )
    return Named(tasks)


def _task(key: str, given: object) -> Task:
    if isinstance(given, Task):
        return given
    what = f"the task {key!r}"
    return build(what, Task, given if isinstance(given, Mapping) else {"outcomes": listed(what, given)})


def _noise(given: object, outcomes: tuple[str, ...]) -> Named[float | None]:
    each = named("noise", given) if isinstance(given, Mapping) else dict.fromkeys(outcomes, given)
    for outcome in each:
        if outcome not in outcomes:
            raise ProblemError(f"noise: {unknown_name('outcome', outcome, outcomes)}")
    return Named({outcome: _deviation(outcome, each.get(outcome)) for outcome in outcomes})


def _deviation(outcome: str, given: object) -> float | None:
    if given is None:
        return None
    deviation = finite(f"the noise of {outcome!r}", given)
    if deviation < 0:
        raise ProblemError(f"the noise of {outcome!r} was {given!r}: expected a standard deviation, 0 or above.")
    return deviation
