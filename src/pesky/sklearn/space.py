"""The space of a search: pesky's parameters, or lists of options of any kind, as estimators have them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pesky.errors import ProblemError
from pesky.problem import Choice, Integer, Option, Parameter, Real


@dataclass(frozen=True)
class SearchSpace:
    """The parameters of a problem, and the options that stand for objects: tuples, None, estimators."""

    parameters: Mapping[str, Parameter]
    objects: Mapping[str, Mapping[Option, Any]]

    @classmethod
    def of(cls, given: object) -> "SearchSpace":
        """The space that was given; a ProblemError that says what is wrong with it."""
        if not isinstance(given, Mapping) or not given:
            raise ProblemError(
                f'param_space was {given!r}: expected a mapping, like {{"C": Real(1e-3, 1e3, log=True), "penalty": '
                '["l1", "l2"]}.'
            )
        parameters: dict[str, Parameter] = {}
        objects: dict[str, dict[Option, Any]] = {}
        for name, each in given.items():
            if isinstance(each, Real | Integer | Choice):
                parameters[name] = each
            elif isinstance(each, list | tuple):
                labels = _labels(each)
                parameters[name], objects[name] = Choice(labels), dict(zip(labels, each, strict=True))
            else:
                raise ProblemError(
                    f"param_space: {name!r} was {each!r}: expected Real(low, high), Integer(low, high), Choice([...]) "
                    "or a list of options."
                )
        return cls(parameters, objects)

    def settings(self, params: Mapping[str, Option]) -> dict[str, Any]:
        """What the estimator is set to."""
        return {name: self.objects[name][value] if name in self.objects else value for name, value in params.items()}


def _labels(options: list[Any] | tuple[Any, ...]) -> list[Option]:
    """An option for each object: itself where it can be one, else its text."""
    plain = [each if isinstance(each, Option) else str(each) for each in options]
    if len(set(plain)) == len(plain):
        return plain
    return [f"{number}: {each}" for number, each in enumerate(options)]  # to Python, 1 == True
