"""The problem: one frozen representation, which is also what is stored."""

import dataclasses
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pesky.errors import ProblemError, brief, unknown_name
from pesky.markup import facts
from pesky.problem.constraint import Constraint
from pesky.problem.dependences import check_dependences
from pesky.problem.expression import Expression
from pesky.problem.fields import FrozenDict, build, finite, json_in, listed, name, named
from pesky.problem.known import KnownFunction, from_paths, known_functions, to_paths, without_expressions
from pesky.problem.outcome import Outcome, declared_outcomes
from pesky.problem.parameter_constraints import check_names, constraint_of, expressions_of
from pesky.problem.parameters import Choice, Option, Parameter, from_plain, in_words, to_plain
from pesky.problem.possible import check_possible, check_ranges
from pesky.problem.task import Resource, Task

SUCCEEDS = "{} succeeds"
"""The outcome, yes or no, that a task has of its own where its failures are learnt."""
MOST_OPTIONS = 2000
"""Of all choices together: a recommendation then takes 60 seconds and 1.5 GB, of 1,000 options 8 seconds and 0.8 GB."""
FAILURES_IN_WORDS = {"record": "", "learn": " (failures are learnt)", "random": " (failures are learnt, and random)"}


@dataclass(frozen=True, init=False)
class Problem:
    """What to optimize, over which parameters, under which constraints, and what can be measured on what.

    `minimize` or `maximize` names the objective, one outcome. Without `tasks` every outcome is measured together.
    `resources` say what runs where; without them every task runs anywhere. `noise` is the standard deviation of a
    measurement in the outcome's own units: one number for all outcomes or one for each; 0 says there is none, None
    (the default) that it is to be inferred. `known` are outcomes that need no measuring: a function
    of the parameters (a dict, as functions that measure get it) gives each of them exactly, and at no cost; it may be
    named by its import path, "module:function". Constraints on parameters, like "x + z <= 1", are known as they are.
    `outcomes` declare ranges that values never leave: [Outcome("error", low=0, high=1)].
    """

    parameters: Mapping[str, Parameter]
    minimize: str | None
    maximize: str | None
    constraints: tuple[Constraint, ...]
    tasks: Mapping[str, Task]
    noise: Mapping[str, float | None]
    resources: Mapping[str, Resource]
    # Functions are stored by name at best, and are not equal again; which outcomes are known, the tasks show as well.
    known: Mapping[str, KnownFunction] = field(compare=False)
    ranges: Mapping[str, Outcome]
    """What was declared of outcomes."""

    def __init__(
        self,
        parameters: Mapping[str, Parameter],
        minimize: str | None = None,
        maximize: str | None = None,
        constraints: Iterable[str | Constraint] = (),
        tasks: Mapping[str, Task | Sequence[str]] | None = None,
        noise: float | Mapping[str, float | None] | None = None,
        resources: Mapping[str, Resource | Sequence[str]] | None = None,
        known: Mapping[str, KnownFunction | str] | None = None,
        outcomes: Iterable[Outcome] | Mapping[str, Outcome | Mapping[str, float]] | None = None,
        *,
        ranges: Mapping[str, Outcome] | None = None,  # the field that `outcomes` makes, so that `replace` finds it
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
        object.__setattr__(self, "constraints", _constraints(constraints, self.objective, self.parameters))
        known = without_expressions(known)
        expressions = expressions_of(self.constraints, self.parameters, _stated(self.objective, tasks, known))
        others = tuple(outcome for outcome in self._named if outcome not in expressions)
        if not isinstance(parameters, _Stored):
            check_names(others, self.parameters)
        functions = known_functions(known, others, self.yes_no)
        object.__setattr__(self, "known", FrozenDict({**expressions, **functions}))
        if not isinstance(parameters, _Stored):
            check_possible({each: expressions[each.outcome] for each in self.parameter_constraints}, self.parameters)
        object.__setattr__(self, "tasks", _tasks(tasks, self.outcomes, self.known))
        check_dependences(self.tasks, self.parameters)
        object.__setattr__(self, "noise", _noise(noise, self.outcomes, self.yes_no, self.known))
        object.__setattr__(self, "resources", _resources(resources, self.tasks))
        declared = ranges if outcomes is None else outcomes
        object.__setattr__(self, "ranges", declared_outcomes(declared, self.outcomes, self.yes_no, self.known))
        # `replace` gives `ranges`: what a limit beyond them would change may be asked
        if not isinstance(parameters, _Stored) and ranges is None:
            check_ranges(self.constraints, self.ranges)

    @property
    def objective(self) -> str:
        """The outcome to minimize or maximize."""
        return str(self.maximize if self.minimize is None else self.minimize)

    @property
    def sign(self) -> int:
        """+1 when the objective is minimized, -1 when it is maximized."""
        return -1 if self.minimize is None else 1

    @cached_property
    def conditions(self) -> tuple[Constraint, ...]:
        """All that must hold: the constraints, and the success of every task whose failures are learnt."""
        learnt = [SUCCEEDS.format(key) for key, task in self.tasks.items() if task.learns_success]
        return (*self.constraints, *(Constraint(outcome, "is", True) for outcome in learnt))

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """The outcome behind each row: the objective, then those of all conditions, each of them once."""
        return tuple(dict.fromkeys((self.objective, *(condition.outcome for condition in self.conditions))))

    @cached_property
    def outcomes(self) -> tuple[str, ...]:
        """Everything that a user measures: the objective first, no repeats, nothing that is known."""
        return tuple(outcome for outcome in self._named if outcome not in self.known)

    @property
    def _named(self) -> tuple[str, ...]:
        """The objective and the outcome of each constraint, measured or known."""
        return tuple(dict.fromkeys((self.objective, *(constraint.outcome for constraint in self.constraints))))

    @property
    def grounds(self) -> tuple[str, ...]:
        """The outcomes of which a recommendation needs a value: the objective, or any one where that is known."""
        return self.outcomes if self.objective in self.known else (self.objective,)

    @cached_property
    def yes_no(self) -> frozenset[str]:
        """The outcomes that are measured as a yes or a no."""
        return frozenset(constraint.outcome for constraint in self.constraints if constraint.is_yes_no)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The outcomes behind rows that are numbers, not a yes or a no."""
        return frozenset(self.rows) - {condition.outcome for condition in self.conditions if condition.is_yes_no}

    @property
    def parameter_constraints(self) -> tuple[Constraint, ...]:
        """The constraints on parameters: no question breaks them."""
        return tuple(each for each in self.constraints if isinstance(self.known.get(each.outcome), Expression))

    @cached_property
    def confidences(self) -> tuple[float, ...]:
        """The probability with which each condition must hold."""
        return tuple(condition.confidence for condition in self.conditions)

    @cached_property
    def declared_exact(self) -> frozenset[str]:
        """The outcomes that are the same at every measurement of a point, as the problem says.

        Success is one of them, unless failures are random.
        """
        successes = {SUCCEEDS.format(key) for key, task in self.tasks.items() if task.failures == "learn"}
        return frozenset({name for name, noise in self.noise.items() if noise == 0} | successes)

    def is_exact(self, task: str) -> bool:
        """Whether measuring a task again at the same point tells nothing: its numbers are declared to have no noise.

        A yes or no need not be declared: a task of nothing else is as exact as the numbers of the whole problem.
        """
        numbers = [outcome for outcome in self.outcomes if outcome not in self.yes_no]
        own = [outcome for outcome in numbers if outcome in self.tasks[task].outcomes] or numbers
        return bool(own) and all(self.noise[outcome] == 0 for outcome in own)

    def informs(self, task: str) -> tuple[str, ...]:
        """The outcomes that running a task tells of: those that it measures, and its success where that is learnt."""
        declared = self.tasks[task]
        return (*declared.outcomes, SUCCEEDS.format(task)) if declared.learns_success else declared.outcomes

    def depends_on(self, outcome: str) -> tuple[str, ...]:
        """The parameters that an outcome depends on, or a task's success: all, unless a task that tells of it says."""
        informing = (task for key, task in self.tasks.items() if outcome in self.informs(key))
        return next((task.parameters for task in informing if task.parameters is not None), tuple(self.parameters))

    def place_of(self, task: str, params: Mapping[str, Option]) -> tuple[Option, ...]:
        """The values of the parameters that a task depends on: the same question has the same ones."""
        return tuple(params[name] for name in self.tasks[task].parameters or self.parameters)

    def difference(self, other: "Problem") -> list[str]:
        """What the other problem asks differently, a line each; none where data of one are data of the other.

        Costs, time-outs and resources say how to measure, not what, and may differ.
        """
        mine, others = _identity(self), _identity(other)
        lines = []
        for old, new in _moved(self, other):
            was, now = mine["constraint"].pop(str(old)), others["constraint"].pop(str(new))
            lines.append(f"constraint {old} became {new}" + (f", {was} became {now}" if was != now else ""))
        for part in mine:
            for key in dict.fromkeys((*mine[part], *others[part])):
                if mine[part].get(key) != others[part].get(key):
                    shown = (
                        {key: in_words(each) for key, each in problem.parameters.items()} for problem in (self, other)
                    )
                    was, now = shown if part == "parameter" else (mine[part], others[part])
                    lines.append(change(part, key, was.get(key), now.get(key)))
        return lines

    def in_words(self) -> dict[str, list[str]]:
        """What is asked, by what is said of it: a line for each parameter, constraint, task and resource."""
        exact = self.parameter_constraints
        return {
            "minimize" if self.maximize is None else "maximize": [self.objective],
            "subject to": [
                str(each) if each in exact else f"{each}, with a confidence of {each.confidence:g}"
                for each in self.constraints
            ],
            "over": [f"{key}: {in_words(parameter)}" for key, parameter in self.parameters.items()],
            "measured by": [
                f"{key}: {', '.join(task.outcomes)}, {task.cost_in_words}" + FAILURES_IN_WORDS[task.failures]
                for key, task in self.tasks.items()
            ],
            "on": [f"{key}: {', '.join(each.tasks)}, {each.slots} at once" for key, each in self.resources.items()],
            "known": [key for key in self.known if key not in {each.outcome for each in exact}],
            "noise": [
                f"{key}: {'to be inferred' if each is None else f'{each:g}'}" for key, each in self.noise.items()
            ],
            "ranges": [f"{key}: {each}" for key, each in self.ranges.items()],
        }

    def _repr_html_(self) -> str:
        return facts(self.in_words())

    def knowing(self, known: Mapping[str, KnownFunction | str]) -> "Problem":
        """The same problem with these functions for outcomes that are known, as after it was read from a storage."""
        for outcome in known:
            if outcome not in without_expressions(self.known):
                raise ProblemError(f"known: {unknown_name('known outcome', outcome, self.known)}")
        given = {**self.to_dict(), "known": {**self.known, **known}, "parameters": _Stored(self.parameters)}
        return build("the problem", Problem, given)

    def to_dict(self) -> dict[str, object]:
        """The problem as plain data, from which `from_dict` makes an equal one; of known functions, their paths."""
        plain: dict[str, object] = {
            "parameters": {key: to_plain(parameter) for key, parameter in self.parameters.items()},
            "maximize" if self.minimize is None else "minimize": self.objective,
            "constraints": [dataclasses.asdict(constraint) for constraint in self.constraints],
            "tasks": {key: _plain(task) for key, task in self.tasks.items()},
            "noise": dict(self.noise),
            "resources": {key: _plain(resource) for key, resource in self.resources.items()},
        }
        # Only where there are some, so that studies stored by older versions have the same text.
        if self.ranges:
            plain["outcomes"] = {key: outcome.to_plain() for key, outcome in self.ranges.items()}
        return {**plain, "known": paths} if (paths := to_paths(self.known)) else plain

    @classmethod
    def from_dict(cls, given: Mapping[str, object]) -> "Problem":
        """The problem that was written as plain data, by whomever: functions of known outcomes are given again."""
        if isinstance(given, Mapping) and "known" in given:
            given = {**given, "known": from_paths(given["known"])}
        if isinstance(given, Mapping) and isinstance(parameters := given.get("parameters"), Mapping):
            given = {**given, "parameters": _Stored(parameters)}
        return build("the problem", cls, given)

    def to_json(self) -> str:
        """The problem as JSON text, from which `from_json` makes an equal one."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> "Problem":
        """The problem that was written as JSON text."""
        try:
            given = json_in(text)
        except ValueError as error:
            raise ProblemError(f"the problem is not JSON ({error}): expected what `to_json` wrote.") from error
        return cls.from_dict(given)  # pyright: ignore[reportArgumentType]


class _Stored(dict[str, object]):
    """Parameters that were written by any version: earlier ones let an outcome have the name of one."""


def _stated(objective: str, tasks: object, known: object) -> set[str]:
    """What is an outcome because it is called one, whatever it looks like."""
    stated = {objective, *(known if isinstance(known, Mapping) else ())}
    for task in tasks.values() if isinstance(tasks, Mapping) else ():
        outcomes = task.get("outcomes") if isinstance(task, Mapping) else getattr(task, "outcomes", task)
        stated.update(each for each in (outcomes if isinstance(outcomes, Collection) else ()) if isinstance(each, str))
    return stated


def _parameters(given: object) -> FrozenDict[Parameter]:
    each = named("parameters", given)
    if not each:
        raise ProblemError("parameters was empty: expected at least one, like {'x': Real(0, 1)}.")
    parameters = {
        key: value if isinstance(value, Parameter) else from_plain(f"the parameter {key!r}", value)
        for key, value in each.items()
    }
    count = sum(len(parameter.options) for parameter in parameters.values() if isinstance(parameter, Choice))
    if count > MOST_OPTIONS:
        raise ProblemError(
            f"the choices have {count:,} options: expected at most {MOST_OPTIONS:,} in all, since each of them is a "
            "dimension of the model: leave out options, or describe them by numbers, as Real or Integer parameters."
        )
    return FrozenDict(parameters)


def _identity(problem: Problem) -> dict[str, dict[str, object]]:
    """The parts of a problem that its data depend on."""
    goal = f"minimize {problem.minimize}" if problem.maximize is None else f"maximize {problem.maximize}"
    return {
        "parameter": {key: to_plain(parameter) for key, parameter in problem.parameters.items()},
        "objective": {"": goal},
        "constraint": {str(constraint): f"confidence {constraint.confidence:g}" for constraint in problem.constraints},
        "task": {
            key: f"{', '.join(task.outcomes)} (failures: {task.failures})"
            + ("" if task.parameters is None else f" by {', '.join(task.parameters)} alone")
            for key, task in problem.tasks.items()
        },
        "declared noise of": {key: f"{each:g}" for key, each in problem.noise.items() if each is not None},
        "range of": {key: str(outcome) for key, outcome in problem.ranges.items()},
        "known outcome": dict.fromkeys(to_paths(problem.known), ""),
    }


def _moved(before: Problem, after: Problem) -> list[tuple[Constraint, Constraint]]:
    """The limits that are elsewhere now: the only ones of an outcome in their direction, before and after."""
    found = []
    for old in before.constraints:
        olds, news = (
            [each for each in problem.constraints if (each.outcome, each.sense) == (old.outcome, old.sense)]
            for problem in (before, after)
        )
        if len(olds) == len(news) == 1 and str(old) != str(news[0]):
            found.append((old, news[0]))
    return found


def _plain(declared: Task | Resource) -> dict[str, object]:
    """Its fields, with lists for tuples, as JSON has them."""
    fields = dataclasses.asdict(declared)
    if fields.get("parameters", ()) is None:  # so that studies stored by older versions have the same text
        del fields["parameters"]
    return {key: list(value) if isinstance(value, tuple) else value for key, value in fields.items()}


def change(part: str, key: str, was: object, now: object) -> str:
    """What became of a part of a problem, in words; None where it was not there."""
    if was is None:
        return f"{part} {key!r} is new" + (f": {now}" if now else "")
    return f"{part} {key!r} is gone" if now is None else f"{f'{part} {key}'.strip()}: {was} became {now}"


def _constraints(given: object, objective: str, parameters: Mapping[str, Parameter]) -> tuple[Constraint, ...]:
    constraints = tuple(_constraint(each, parameters) for each in listed("constraints", given))
    texts = [str(constraint) for constraint in constraints]
    for constraint, text in zip(constraints, texts, strict=True):
        if texts.count(text) > 1:
            raise ProblemError(f"the constraint {text!r} was given twice: leave one out.")
        if constraint.is_yes_no and constraint.outcome == objective:
            raise ProblemError(f"{text!r}: the objective cannot be a yes or no: minimize or maximize a number.")
        for other in constraints:
            if constraint.outcome == other.outcome and constraint.is_yes_no and constraint is not other:
                raise ProblemError(f"{text!r} and '{other}': a yes or no has one constraint: leave one out.")
            if (constraint.outcome, constraint.sense, other.sense) == (other.outcome, ">=", "<=") and (
                constraint.threshold > other.threshold
            ):
                raise ProblemError(f"{text!r} and '{other}' contradict each other: no value satisfies both.")
    return constraints


def _constraint(given: object, parameters: Mapping[str, Parameter]) -> Constraint:
    if isinstance(given, Constraint):
        return given
    if isinstance(given, str):
        return constraint_of(given, parameters) or Constraint.parse(given)
    return build("a constraint", Constraint, given)


def _tasks(given: object, outcomes: tuple[str, ...], known: Collection[str]) -> FrozenDict[Task]:
    if given is None:
        return FrozenDict({"all": Task(outcomes)})
    tasks = {key: _task(key, each) for key, each in named("tasks", given).items()}
    for key, task in tasks.items():
        for outcome in task.outcomes:
            if outcome in known:
                raise ProblemError(
                    f"the task {key!r} measures {outcome!r}, which is known: leave it out of the task or of `known`."
                )
            if outcome not in outcomes:
                raise ProblemError(f"the task {key!r}: {unknown_name('outcome', outcome, outcomes)}")
        if task.learns_success and SUCCEEDS.format(key) in (*outcomes, *known):
            raise ProblemError(f"{SUCCEEDS.format(key)!r} is the name of that task's own success: rename the outcome.")
    for outcome in outcomes:
        if not any(outcome in task.outcomes for task in tasks.values()):
            raise ProblemError(
                f"no task measures the outcome {outcome!r}: "
                + (f"add it to one of {', '.join(map(repr, tasks))}." if tasks else "name a task that does.")
            )
    return FrozenDict(tasks)


def _task(key: str, given: object) -> Task:
    if isinstance(given, Task):
        return given
    what = f"the task {key!r}"
    return build(what, Task, given if isinstance(given, Mapping) else {"outcomes": listed(what, given)})


def _resources(given: object, tasks: Mapping[str, Task]) -> FrozenDict[Resource]:
    if given is None:
        return FrozenDict({})
    resources = {key: _resource(key, each) for key, each in named("resources", given).items()}
    for key, resource in resources.items():
        for task in resource.tasks:
            if task not in tasks:
                raise ProblemError(f"the resource {key!r}: {unknown_name('task', task, tasks)}")
    for task in tasks:
        if resources and not any(task in resource.tasks for resource in resources.values()):
            names = ", ".join(map(repr, resources))
            raise ProblemError(f"no resource runs the task {task!r}: add it to one of {names}.")
    return FrozenDict(resources)


def _resource(key: str, given: object) -> Resource:
    if isinstance(given, Resource):
        return given
    what = f"the resource {key!r}"
    return build(what, Resource, given if isinstance(given, Mapping) else {"tasks": listed(what, given)})


def _noise(
    given: object, outcomes: tuple[str, ...], yes_no: frozenset[str], known: Collection[str]
) -> FrozenDict[float | None]:
    # nothing at all has noise, or every number has this one
    whose = outcomes if given == 0 else tuple(outcome for outcome in outcomes if outcome not in yes_no)
    each = named("noise", given) if isinstance(given, Mapping) else dict.fromkeys(whose, given)
    for outcome, deviation in each.items():
        if outcome in known:
            raise ProblemError(f"noise: {outcome!r} is known and has none: leave it out.")
        if outcome not in outcomes:
            is_success = outcome.endswith(SUCCEEDS.format(""))
            hint = ' A task that fails by chance has failures = "random".' if is_success else ""
            raise ProblemError(f"noise: {unknown_name('outcome', outcome, outcomes)}{hint}")
        if outcome in yes_no and deviation not in (None, 0):
            raise ProblemError(
                f"noise: {outcome!r} is a yes or no, and {brief(deviation)} was given: expected 0, if the same answer "
                "comes every time; else leave it out."
            )
    return FrozenDict({outcome: _deviation(outcome, each.get(outcome)) for outcome in outcomes})


def _deviation(outcome: str, given: object) -> float | None:
    if given is None:
        return None
    deviation = finite(f"the noise of {outcome!r}", given)
    if deviation < 0:
        raise ProblemError(f"the noise of {outcome!r} was {brief(given)}: expected a standard deviation, 0 or above.")
    return deviation
