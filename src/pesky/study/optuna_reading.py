"""How trials of Optuna's are read: distributions are parameters, values and constraints outcomes."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pesky.errors import ProblemError
from pesky.problem import Choice, Constraint, Integer, Option, Parameter, Problem, Real, Task
from pesky.problem.task import Failures
from pesky.problem.values import is_of_kind

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial

TASK = "trial"
"""The one task that there is: a trial measures everything."""


@dataclass(frozen=True)
class Translation:
    """One of Optuna's distributions, the parameter that it is here, and what that one is called."""

    name: str
    parameter: Parameter
    distribution: Any
    is_given: bool
    """Whether the parameter was given for it: values are then taken as they are."""

    def here(self, value: Any) -> Option:
        """A value of the distribution as one of the parameter."""
        if self.is_given:
            return value
        if isinstance(self.parameter, Choice):
            return self.parameter.options[int(self.distribution.to_internal_repr(value))]
        return round((value - self.distribution.low) / self.distribution.step) if self._counts_steps else value

    def there(self, value: Any) -> Any:
        """A value of the parameter as one of the distribution."""
        if isinstance(self.parameter, Choice):
            return self.distribution.to_external_repr(self.parameter.options.index(value))
        if self._counts_steps:
            return min(self.distribution.low + value * self.distribution.step, self.distribution.high)
        return value

    @property
    def _counts_steps(self) -> bool:
        return isinstance(self.parameter, Integer) and isinstance(self.distribution.low, float)


def parameter_of(distribution: "BaseDistribution") -> Parameter:
    """The parameter that takes as many values; a real one in steps counts them, since it has none here."""
    kind = type(distribution).__name__
    given: Any = distribution
    if kind == "CategoricalDistribution":
        plain = [each if isinstance(each, Option) else str(each) for each in given.choices]
        try:
            return Choice(plain)
        except ProblemError:  # to Python, 1 == True
            return Choice([f"{number}: {each}" for number, each in enumerate(given.choices)])
    if kind == "IntDistribution":
        return Integer(given.low, given.high, log=given.log, step=given.step)
    if kind != "FloatDistribution":
        raise ProblemError(f"the distribution {distribution!r}: expected a float, an int or a categorical one.")
    if given.step is None:
        return Real(given.low, given.high, log=given.log)
    return Integer(0, round((given.high - given.low) / given.step))


@dataclass(frozen=True)
class Reading:
    """The problem that trials are of, and how each of them is read."""

    problem: Problem
    space: Mapping[str, Translation]
    """By the names in Optuna."""
    keys: Mapping[str, str]
    """By outcome, the key of the constraint in Optuna that has its value; other outcomes are attributes of trials."""

    def params(self, given: Mapping[str, Any]) -> dict[str, Option] | None:
        """The parameters that a trial's are; None where it lacks one, or had values of another kind."""
        if not self.space.keys() <= given.keys():
            return None
        try:
            params = {each.name: each.here(given[key]) for key, each in self.space.items()}
        except ValueError:  # an option that is none of the distribution's
            return None
        is_one = all(is_of_kind(each.parameter, params[each.name]) for each in self.space.values())
        return params if is_one else None

    def there(self, params: Mapping[str, Option]) -> dict[str, Any]:
        """The same in Optuna's words."""
        return {key: each.there(params[each.name]) for key, each in self.space.items()}

    def outcomes(self, trial: "FrozenTrial") -> dict[str, float]:
        """What a trial says of each outcome; nothing of those that it does not."""
        constraints, is_complete = trial.constraints, trial.state.name == "COMPLETE"
        found: dict[str, Any] = {}
        for outcome in self.problem.outcomes:
            if outcome == self.problem.objective:
                found[outcome] = trial.value if is_complete else None
            elif outcome in self.keys:
                found[outcome] = constraints.get(self.keys[outcome])
            else:
                found[outcome] = trial.user_attrs.get(outcome)
        return {outcome: value for outcome, value in found.items() if isinstance(value, float | int)}


def names_of(keys: Iterable[str], taken: Collection[str] = ()) -> dict[str, str]:
    """A name for each key with which a constraint can be written, that is none of those taken."""
    found: dict[str, str] = {}
    for key in keys:
        words = " above ".join(part.strip() for part in re.split(">+=?", key))
        words = " below ".join(part.strip() for part in re.split("<+=?", words)).replace("=", " is ")
        name = "".join(each if each.isprintable() else " " for each in words).strip() or "unnamed"
        name = f"constraint {name}" if name in taken or name.isdigit() else name
        while name in taken or name in found.values():
            name += "'"
        found[key] = name
    return found


def reading_of(
    space: Mapping[str, "BaseDistribution"],
    trials: Sequence["FrozenTrial"],
    *,
    objective: str = "value",
    is_maximized: bool = False,
    constraints: Iterable[str | Constraint] | None = None,
    noise: float | Mapping[str, float | None] | None = None,
    failures: Failures = "record",
    parameters: Mapping[str, Parameter] | None = None,
) -> Reading:
    """How trials over this space are read; all constraints that they have, unless others are given.

    `parameters` are taken instead of what a distribution would be here, by the names in Optuna.
    """
    names, chosen = names_of(space), parameters or {}
    translations = {
        key: Translation(names[key], chosen.get(key) or parameter_of(each), each, key in chosen)
        for key, each in space.items()
    }
    own = {each.name: each.parameter for each in translations.values()}
    keys = dict.fromkeys(key for trial in trials for key in trial.constraints)
    by_key = names_of(keys, {*own, objective})
    given: dict[str, Any] = {"maximize" if is_maximized else "minimize": objective}
    if constraints is None:
        limits = [Constraint(name, "<=", 0.0) for name in by_key.values()]
        outcomes: Sequence[str] = (objective, *by_key.values())
    else:
        limits = list(constraints)
        outcomes = Problem(own, **given, constraints=limits).outcomes
    task = Task(outcomes, failures=failures)
    problem = Problem(own, **given, constraints=limits, tasks={TASK: task}, noise=noise)
    return Reading(problem, translations, {name: key for key, name in by_key.items()})
