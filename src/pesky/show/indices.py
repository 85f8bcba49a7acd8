"""How much of each outcome's variation each parameter brings about, by what is believed: Sobol' indices."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pesky.answer.outlook import outlook_at
from pesky.answer.prediction import constraint_texts, numbers
from pesky.inference.inferred import Inferred
from pesky.problem import Choice, Option
from pesky.space import Space

POINTS = 512
"""In each of the two samples of the space; one of 0.5 is then known to about 0.01."""


@dataclass(frozen=True)
class Indices:
    """Shares of the variance of an outcome over the space, by parameter."""

    main: Mapping[str, float]
    """What a parameter brings about by itself."""
    total: Mapping[str, float]
    """What it brings about by itself and together with others: what would be left if all others were known."""
    untried: tuple[Option, ...] = ()
    """Options of which nothing of the outcome was told: over them it was not looked at."""


def sobol_indices(
    function: Callable[[Tensor], Mapping[str, np.ndarray]], space: Space, points: int = POINTS, seed: int = 0
) -> dict[str, Indices]:
    """The indices of each of the named values of a function of points (n, d) of the unit cube.

    Saltelli et al. (2010): the main ones by their estimator (b), the total ones by Jansen's (f), with all columns of a
    parameter exchanged at once. The function is called for points times (parameters + 2) points. What does not vary has
    indices of zero.
    """
    twice = Space({f"{i} {name}": parameter for i in range(2) for name, parameter in space.parameters.items()})
    A, B = twice.sobol(points, seed).split(space.dim, -1)
    names = list(space.parameters)
    mixed = [torch.where(space.columns_of([name]), B, A) for name in names]
    values = function(torch.cat([A, B, *mixed]))
    found = {}
    for key, each in values.items():
        a, b, *ab = np.split(np.asarray(each, dtype=float), len(names) + 2)
        both = np.concatenate([a, b])
        variance, middle = both.var(), both.mean()
        if variance <= 1e-24 * max(np.square(both).max(), 1e-300):
            found[key] = Indices(dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0))
            continue
        # around the mean: what is constant in b would be noise here
        main = {name: float(np.mean((b - middle) * (m - a)) / variance) for name, m in zip(names, ab, strict=True)}
        total = {name: float(np.mean((a - m) ** 2) / (2 * variance)) for name, m in zip(names, ab, strict=True)}
        found[key] = Indices({name: min(max(each, 0.0), 1.0) for name, each in main.items()}, total)
    return found


def indices_of(inferred: Inferred, points: int = POINTS) -> dict[str, Indices]:
    """The indices of what is expected of each outcome, and of the probability of each yes or no.

    They are over the options at which something of the outcome was told: what is expected at others is a guess.
    """
    problem = inferred.problem
    shown = {name: name for name in numbers(problem, inferred.observations)}
    texts = zip(constraint_texts(problem), problem.conditions, strict=True)
    shown |= {text: each.outcome for text, each in texts if each.is_yes_no}
    found: dict[Options, dict[str, Indices]] = {}
    for outcome in shown.values():
        if (options := _tried(inferred, outcome)) not in found:
            found[options] = _within(inferred, options, points)
    return {key: found[_tried(inferred, outcome)][key] for key, outcome in shown.items()}


Options = tuple[tuple[str, tuple[Option, ...]], ...]
"""Those of each choice that are looked at."""


def _tried(inferred: Inferred, outcome: str) -> Options:
    """The options at which something of an outcome was told; all of them where nothing was or none needs to be."""
    own = [point.params for point in inferred.points if outcome in point.told]
    choices = {name: each for name, each in inferred.space.parameters.items() if isinstance(each, Choice)}
    return tuple(
        (name, tuple(option for option in each.options if not own or any(p[name] == option for p in own)))
        for name, each in choices.items()
    )


def _within(inferred: Inferred, given: Options, points: int) -> dict[str, Indices]:
    """The indices over these options alone; a choice of one has none."""
    space, options = inferred.space, dict(given)
    part = Space(
        {
            name: Choice(options[name]) if name in options else parameter
            for name, parameter in space.parameters.items()
            if len(options.get(name, "some")) > 1
        }
    )
    # columns of the part to those of the space: an option to its own
    onto, rest = torch.zeros(part.dim, space.dim, dtype=torch.float64), torch.zeros(space.dim, dtype=torch.float64)
    for name, parameter in space.parameters.items():
        columns = space.columns_of([name]).nonzero().flatten()
        if isinstance(parameter, Choice):
            columns = columns[[parameter.options.index(each) for each in options[name]]]
        if name in part.parameters:
            onto[part.columns_of([name]).nonzero().flatten(), columns] = 1.0
        else:
            rest[columns] = 1.0

    def expected(U: Tensor) -> dict[str, np.ndarray]:
        outlook = outlook_at(inferred, U @ onto + rest, with_intervals=False)
        return {**outlook.probabilities, **outlook.mean}

    none = dict.fromkeys(space.parameters, 0.0)
    choices = {name: each for name, each in space.parameters.items() if isinstance(each, Choice)}
    untried = tuple(option for name, each in choices.items() for option in each.options if option not in options[name])
    return {
        key: Indices({**none, **each.main}, {**none, **each.total}, untried)
        for key, each in sobol_indices(expected, part, points).items()
    }


def most_important(indices: Mapping[str, Indices], names: Sequence[str], most: int) -> tuple[str, ...]:
    """So many of the parameters, in their order: those with the largest total index of any outcome."""
    largest = {name: max(each.total[name] for each in indices.values()) for name in names}
    chosen = sorted(names, key=lambda name: -largest[name])[:most]
    return tuple(name for name in names if name in chosen)
