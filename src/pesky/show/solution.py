"""Where the solution x* may be: minimizers of functions that fit the data, and their density along the parameters."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from pesky.inference.inferred import Inferred
from pesky.model.belief import over_hyper_samples
from pesky.numerics.rng import question_seed, source_of
from pesky.numerics.runtime import threads_for
from pesky.optimum.sample import sample_optima
from pesky.problem import Choice
from pesky.show.axes import grid

SAMPLES, DRAWS, CANDIDATES, STEPS = 100, 300, 512, 5
"""Samples of x* and the draws they stand for, the points each draw is evaluated at, and steps of its minimization."""
WIDTH = 0.025
"""Of the kernel that a density is smoothed with, as a share of a parameter's range."""


@dataclass(frozen=True)
class Solution:
    """Weighted samples of x* in the unit cube."""

    X: Float[Tensor, "m d"]
    weight: Float[Tensor, " m"]
    infeasible: float
    """The share of the draws without any feasible point, which are no samples as long as others have one."""


def solution_of(inferred: Inferred) -> Solution:
    """Samples of x* given all data."""
    belief, space = inferred.belief, inferred.space
    seed = question_seed(inferred.seed, inferred.count)
    candidates = torch.cat([space.spread(CANDIDATES, seed), belief.points])
    with threads_for(inferred.count), torch.no_grad():
        optima = sample_optima(belief, SAMPLES, DRAWS, candidates, STEPS, source_of(seed))
    X = over_hyper_samples(belief, optima.chosen.x, 2).flatten(0, 1)
    weight = over_hyper_samples(belief, optima.chosen.weight, 1).flatten()
    return Solution(space.snap(X), weight / weight.sum(), optima.infeasible_share)


def density(solution: Solution, inferred: Inferred, names: Sequence[str], most: int) -> np.ndarray:
    """How probably x* is near each of the places of a line or plane, relative to the most probable one: (n, ..)."""
    each = []
    for name in names:
        parameter, columns = inferred.space.parameters[name], inferred.space.columns_of([name])
        places, X = grid(parameter, most), solution.X[:, columns]
        if isinstance(parameter, Choice):
            each.append((places[:, None] == X).all(-1).to(X))
        else:
            each.append((-((places[:, None] - X).square().sum(-1)) / (2 * WIDTH**2)).exp())
    letters = "abc"[: len(names)]
    mass = torch.einsum(f"{','.join(f'{a}m' for a in letters)},m->{letters}", *each, solution.weight)
    return (mass / mass.max().clamp(min=1e-300)).numpy()
