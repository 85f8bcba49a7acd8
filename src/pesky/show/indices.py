"""How much of each outcome's variation each parameter brings about, by what is believed: Sobol' indices."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pesky.space import Space
from pesky.study.grounds import Grounds
from pesky.study.outlook import outlook_at

POINTS = 512
"""In each of the two samples of the space; one of 0.5 is then known to about 0.01."""


@dataclass(frozen=True)
class Indices:
    """Shares of the variance of an outcome over the space, by parameter."""

    main: Mapping[str, float]
    """What a parameter brings about by itself."""
    total: Mapping[str, float]
    """What it brings about by itself and together with others: what would be left if all others were known."""


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


def indices_of(grounds: Grounds, points: int = POINTS) -> dict[str, Indices]:
    """The indices of what is expected of each outcome, and of the probability of each yes or no."""

    def expected(U: Tensor) -> dict[str, np.ndarray]:
        outlook = outlook_at(grounds, U, with_intervals=False)
        yes_no = {text: p for text, p in outlook.probabilities.items() if text not in _limits(grounds)}
        return {**outlook.mean, **yes_no}

    return sobol_indices(expected, grounds.space, points)


def _limits(grounds: Grounds) -> set[str]:
    """The constraints on numbers, whose outcomes vary in a way that says more than their probabilities."""
    return {str(each) for each in grounds.problem.conditions if not each.is_yes_no}


def most_important(indices: Mapping[str, Indices], names: Sequence[str], most: int) -> tuple[str, ...]:
    """So many of the parameters, in their order: those with the largest total index of any outcome."""
    largest = {name: max(each.total[name] for each in indices.values()) for name in names}
    chosen = sorted(names, key=lambda name: -largest[name])[:most]
    return tuple(name for name in names if name in chosen)
