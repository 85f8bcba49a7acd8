"""What a picture of a belief shows, along lines or over a plane."""

from collections.abc import Mapping
from dataclasses import dataclass

from pesky.answer.prediction import constraint_texts
from pesky.inference.inferred import Inferred
from pesky.problem import Constraint, Option
from pesky.show.labels import label, value
from pesky.show.points import Point
from pesky.show.slices import Slice
from pesky.show.solution import Solution
from pesky.study import Recommendation


@dataclass(frozen=True)
class View:
    """What a picture of a belief shows."""

    inferred: Inferred
    at: Mapping[str, Option]
    """The point that all slices go through."""
    slices: tuple[Slice, ...]
    """A line along each parameter, or one plane along two."""
    points: tuple[Point, ...]
    solution: Solution
    answer: Recommendation

    @property
    def is_plane(self) -> bool:
        """Whether it is over a plane."""
        return len(self.slices[0].parameters) == 2


def panels(view: View) -> list[str]:
    """What has a panel of its own: every outcome that is a number, and each yes or no by its constraint's text."""
    problem = view.inferred.problem
    numbers = list(view.slices[0].outlook.mean)
    shown = [name for name in numbers if name not in problem.known or name == problem.objective]
    yes_no = [text for text, each in limits_of(view).items() if each.is_yes_no]
    return [*shown, *yes_no]


def limits_of(view: View) -> dict[str, Constraint]:
    """All conditions by their texts."""
    problem = view.inferred.problem
    return dict(zip(constraint_texts(problem), problem.conditions, strict=True))


def said(point: Point, outcome: str) -> str:
    """A measured point in words."""
    ids = ", ".join(f"#{each}" for each in point.ids[:4])
    params = [f"{label(name)} = {value(each)}" for name, each in list(point.params.items())[:8]]
    told = [f"{label(outcome)} = {point.told[outcome]:.6g}"] if outcome in point.told else []
    return "<br>".join([ids, *told, *params])
