"""Samples of x*: draws, their minimizers, and the few that stand for them (METHOD 4)."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.quasirandom import SobolEngine

from pesky.model.belief import Belief, Paths
from pesky.optimum.minimize import Minimizers, minimizers
from pesky.optimum.representatives import Representatives, first_draws, representatives

SECOND_CHANCE = 4
"""Where too few draws have a feasible point, this many times as many are drawn, once."""


class Optima(NamedTuple):
    chosen: Representatives
    paths: Paths
    """The draws behind the chosen ones."""
    infeasible_share: float
    """Share of the draws that had no feasible point."""


def sample_optima(
    belief: Belief,
    samples: int,
    draws: int | None,
    candidates: Float[Tensor, "n d"] | int,
    polish_steps: int,
    generator: torch.Generator,
) -> Optima:
    """`samples` weighted medoids of the minimizers of `draws` functions, or as many plain ones if `draws` is None.

    Draws without a feasible point are left out, which makes this p(x* | a feasible point exists). If nearly none
    has one, the points of least violation stand in, so that the gain is in finding feasibility.
    """
    deviation = belief.amplitude.sqrt()
    d = belief.lengthscale.shape[-1]
    if isinstance(candidates, int):
        seed = int(torch.randint(2**31, (1,), generator=generator))
        sobol = SobolEngine(d, scramble=True, seed=seed).draw(candidates, dtype=deviation.dtype)
        candidates = torch.cat([sobol.to(deviation.device), belief.points])
    count = 2 * samples if draws is None else draws
    paths, found = _draw(belief, count, candidates, deviation, polish_steps, generator)
    if int(found.feasible.sum(-1).min()) < (samples if draws is None else max(1, draws // 10)):
        paths, found = _draw(belief, SECOND_CHANCE * count, candidates, deviation, polish_steps, generator)
    if draws is None:
        chosen = first_draws(found.x, found.feasible, samples)
    else:
        survives = found.feasible.sum(-1, keepdim=True) >= max(1, samples // 10)
        usable = found.feasible | ~survives
        chosen = representatives(found.x, usable, belief.lengthscale.amin(-2), samples, generator)
    return Optima(chosen, paths.select(chosen.draw), float((~found.feasible).double().mean()))


def _draw(
    belief: Belief, count: int, candidates: Tensor, deviation: Tensor, polish_steps: int, generator: torch.Generator
) -> tuple[Paths, Minimizers]:
    paths = belief.paths(count, generator)
    return paths, minimizers(paths, candidates, deviation, polish_steps)
