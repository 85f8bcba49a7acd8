"""Samples of x*: draws, their minimizers, and the few that stand for them (METHOD 4)."""

from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.quasirandom import SobolEngine

from pesky.model.belief import Belief, Paths
from pesky.optimum.minimize import Candidates, Minimizers, best_candidates, polish
from pesky.optimum.representatives import Representatives, plain_draws, representatives, thin

POLISHED_PER_SAMPLE = 3
"""Draws polished for each x* sample: a stratified part of all draws, since polishing is what costs."""
PLAIN_PER_SAMPLE = 4
"""Draws for each plain sample, of which every so-many-th is kept."""
LEAST = 8
"""Solutions for each hyperparameter sample, however many there are."""
FAR = 100.0
"""Lengthscales between draws that have a feasible point and draws that have none, as far as clusters are concerned."""
SECOND_CHANCE = 4
"""Where too few draws have a feasible point, this many times as many are drawn, once."""


class Optima(NamedTuple):
    chosen: Representatives
    paths: Paths
    """The draws behind the chosen ones."""
    infeasible_share: float
    """Share of the draws that had no feasible point."""


class Solutions(NamedTuple):
    """Draws of the whole answer: where the minimum is, every row there, and whether there is one."""

    optima: Optima
    """Where a draw has no feasible point, its point of least violation."""
    values: Float[Tensor, "*b j m"]
    """Every row of each draw there."""
    exists: Bool[Tensor, "*b m"]
    """Whether the draw has a feasible point."""


def sample_solutions(
    belief: Belief,
    samples: int,
    draws: int,
    candidates: Float[Tensor, "n d"],
    polish_steps: int,
    generator: torch.Generator,
    by: Literal["place", "value"],
) -> Solutions:
    """`samples` that stand for `draws` functions: weighted medoids of their minimizers, or quantiles of their minima.

    Several hyperparameter samples share them, down to `LEAST` samples each. Unlike in `sample_optima`, a draw without a
    feasible point counts like any other: that there is none is an answer. Where a sample is used for its f* alone,
    quantiles are the better ones; where for its x*, medoids.
    """
    count = belief.amplitude.shape[:-1].numel()
    samples = max(-(-samples // count), min(samples, LEAST))
    draws = max(draws // count, POLISHED_PER_SAMPLE * samples)
    paths, found = _minimize(belief, candidates, draws, POLISHED_PER_SAMPLE * samples, polish_steps, generator)
    values = paths.at(found.x)[0]
    if by == "value":
        chosen = thin(found.x, torch.where(found.feasible, values[..., 0, :], torch.inf), samples)
    else:
        # One more coordinate keeps draws with a feasible point and those without in clusters of their own.
        label = torch.cat([found.x, found.feasible[..., None].to(found.x)], -1)
        lengthscale = belief.lengthscale.amin(-2)
        unit = torch.cat([lengthscale, torch.full_like(lengthscale[..., :1], 1 / FAR)], -1)
        chosen = representatives(label, torch.ones_like(found.feasible), unit, samples, generator)
        chosen = chosen._replace(x=chosen.x[..., :-1])
    rows = chosen.draw[..., None, :].expand(*values.shape[:-1], chosen.draw.shape[-1])
    optima = Optima(chosen, paths.select(chosen.draw), float((~found.feasible).double().mean()))
    return Solutions(optima, torch.gather(values, -1, rows), torch.gather(found.feasible, -1, chosen.draw))


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
    if isinstance(candidates, int):
        seed = int(torch.randint(2**31, (1,), generator=generator))
        measured = belief.points
        spread = SobolEngine(measured.shape[-1], scramble=True, seed=seed).draw(candidates, dtype=measured.dtype)
        candidates = torch.cat([spread.to(measured), measured])
    count = PLAIN_PER_SAMPLE * samples if draws is None else draws
    polished = count if draws is None else min(POLISHED_PER_SAMPLE * samples, count)
    enough = samples if draws is None else max(1, polished // 10)
    paths, found = _minimize(belief, candidates, count, polished, polish_steps, generator)
    if int(found.feasible.sum(-1).min()) < enough:
        more = SECOND_CHANCE * count
        paths, found = _minimize(belief, candidates, more, min(more, 2 * polished), polish_steps, generator)
    if draws is None:
        chosen = plain_draws(found.x, found.feasible, samples)
    else:
        survives = found.feasible.sum(-1, keepdim=True) >= max(1, samples // 10)
        usable = found.feasible | ~survives
        chosen = representatives(found.x, usable, belief.lengthscale.amin(-2), samples, generator)
    return Optima(chosen, paths.select(chosen.draw), float((~found.feasible).double().mean()))


def _minimize(
    belief: Belief,
    candidates: Float[Tensor, "n d"],
    count: int,
    polished: int,
    steps: int,
    generator: torch.Generator,
) -> tuple[Paths, Minimizers]:
    """Of `count` draws, `polished` that stand for all, and their minimizers."""
    deviation = belief.amplitude.sqrt()
    paths = belief.paths(count, generator)
    best: Candidates = best_candidates(paths, candidates, deviation)
    if polished < count:
        keep = stratify(best, polished, generator)
        paths = paths.select(keep)
        rows = keep[..., None, :].expand(*best.values.shape[:-1], polished)
        best = Candidates(torch.gather(best.which, -1, keep), torch.gather(best.values, -1, rows))
    spacing = 0.5 * candidates.shape[0] ** (-1 / candidates.shape[-1])
    return paths, polish(paths, candidates[best.which], best.values, deviation, spacing, steps)


def stratify(best: Candidates, count: int, generator: torch.Generator) -> Int[Tensor, "*b count"]:
    """Every so-many-th draw in the order of their best candidates: each candidate keeps its share of the draws."""
    total = best.which.shape[-1]
    violated = (best.values[..., 1:, :] < 0).any(-2)
    order = torch.argsort(best.which + violated * (best.which.max() + 1), dim=-1, stable=True)
    offset = torch.rand(1, generator=generator, dtype=torch.float64)
    step = ((torch.arange(count) + offset) * (total / count)).long().clamp(max=total - 1).to(order.device)
    return order[..., step]
