"""How the parameters of an Ax experiment are read: ranges, choices and what follows from them."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ax.core.parameter import ChoiceParameter, DerivedParameter, FixedParameter, RangeParameter
from ax.core.parameter import Parameter as AxParameter
from ax.core.parameter_constraint import ParameterConstraint
from ax.core.search_space import SearchSpace

from pesky.errors import ProblemError
from pesky.problem import Choice, Integer, Option, Parameter, Real
from pesky.problem.expression import parsed


@dataclass(frozen=True)
class Translation:
    """One of Ax's parameters, and the parameter that it is here."""

    there: Any
    here: Parameter
    steps: tuple[Any, ...] = ()
    """The values of one that is ordered, which is the number of its value here."""

    def read(self, value: Any) -> Option:
        """A value of Ax's as one of ours; a ValueError where it is none."""
        if self.steps:
            return self.steps.index(value)
        kind = {Real: float, Integer: int}.get(type(self.here))
        return value if kind is None else kind(value)

    def write(self, value: Any) -> Any:
        """A value of ours as one of Ax's."""
        return self.steps[value] if self.steps else self.there.cast(value)

    @property
    def affine(self) -> tuple[float, float] | None:
        """The value at zero and its change by one, of what is a number here and there; None if it is no such line."""
        if isinstance(self.here, Choice):
            return None
        if not self.steps:
            return 0.0, 1.0
        if any(isinstance(each, str | bool) for each in self.steps):
            return None
        first, second, *_ = self.steps
        is_even = all(math.isclose(each, first + k * (second - first)) for k, each in enumerate(self.steps))
        return (float(first), float(second - first)) if is_even else None


@dataclass(frozen=True)
class SpaceReading:
    """A search space of Ax's, as ours."""

    translations: Mapping[str, Translation]
    constants: Mapping[str, Any]
    derived: tuple[DerivedParameter, ...]

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The parameters to optimize."""
        return {name: each.here for name, each in self.translations.items()}

    def read(self, given: Mapping[str, Any]) -> dict[str, Option] | None:
        """The parameters that those of an arm are; None where it lacks one, or has another value than there is."""
        try:
            return {name: each.read(_value(each.there, given)) for name, each in self.translations.items()}
        except (KeyError, ValueError, TypeError):
            return None

    def write(self, params: Mapping[str, Option]) -> dict[str, Any]:
        """The parameters of an arm: ours in Ax's words, those that are fixed, and those that follow from others."""
        arm = {name: each.write(params[name]) for name, each in self.translations.items()} | dict(self.constants)
        for each in self.derived:
            arm[each.name] = each.compute(arm)
        return arm


def read_space(space: SearchSpace) -> SpaceReading:
    """How the parameters are read; a ProblemError for what there is no parameter for."""
    if space.is_hierarchical:
        raise _refused("the search space is hierarchical", "parameters that are always there; leave out dependents")
    translations: dict[str, Translation] = {}
    constants: dict[str, Any] = {}
    derived: list[DerivedParameter] = []
    for name, each in space.parameters.items():
        if each.is_fidelity or getattr(each, "is_task", False):
            raise _refused(
                f"the parameter {name!r} is a {'fidelity' if each.is_fidelity else 'task'}", "none; fix its value"
            )
        if isinstance(each, DerivedParameter):
            derived.append(each)
        elif each.is_disabled or isinstance(each, FixedParameter):
            constants[name] = each.default_value if each.is_disabled else each.value  # pyright: ignore
        else:
            translations[name] = _translation(each)
    return SpaceReading(translations, constants, tuple(derived))


def read_constraints(constraints: Iterable[ParameterConstraint], space: SpaceReading) -> list[str]:
    """Constraints on parameters as texts; a ProblemError for what is no inequality of numbers."""
    return [_text(each, space) for each in constraints]


def _translation(given: AxParameter) -> Translation:
    if isinstance(given, RangeParameter):
        if given.logit_scale:
            raise _refused(f"the parameter {given.name!r} has a logit scale", "a linear or a log one")
        low: Any = given.lower
        high: Any = given.upper
        kind = Integer if given.python_type is int else Real
        return Translation(given, kind(low, high, log=given.log_scale))
    if isinstance(given, ChoiceParameter):
        values = tuple(given.values)
        if given.is_ordered:
            return Translation(given, Integer(0, len(values) - 1), values)
        return Translation(given, Choice(values))  # pyright: ignore[reportArgumentType]
    raise _refused(f"the parameter {given!r}", "ranges, choices, fixed and derived values")


def _value(parameter: AxParameter, given: Mapping[str, Any]) -> Any:
    """The value in an arm; of a parameter that was added later, the one that Ax fills in."""
    if parameter.name not in given and parameter.backfill_value is not None:
        return parameter.backfill_value
    return given[parameter.name]


def _text(given: ParameterConstraint, space: SpaceReading) -> str:
    what = f"the parameter constraint {given._constraint_str!r}"
    if given.is_equality:
        raise _refused(f"{what} is an equation", "an inequality; a parameter that follows from others is a derived one")
    bound, terms = float(given.bound), list[str]()
    for name, weight in given.constraint_dict.items():
        if name in space.constants:
            bound -= weight * space.constants[name]
            continue
        if name not in space.translations or (line := space.translations[name].affine) is None:
            raise _refused(f"{what}: {name!r} is no number with even steps", "ranges, or steps that are all the same")
        bound -= weight * line[0]
        terms.append(f"{float(weight) * line[1]!r} * {name}")
    text = " + ".join(terms)
    expression = parsed(text, space.translations)
    if expression is None or not expression.names <= space.translations.keys():
        raise _refused(f"{what} has names that no arithmetic can have", "names that begin with a letter; rename them")
    return f"{text} <= {bound!r}"


def _refused(what: str, expected: str) -> ProblemError:
    return ProblemError(f"{what}: PeskyNode expects {expected}.")
