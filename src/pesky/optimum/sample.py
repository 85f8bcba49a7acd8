"""Samples of x*: draws, their minimizers, and the few that stand for them (METHOD 4)."""

from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.model.belief import (
    Belief,
    InLockstep,
    Paths,
    PathsInLockstep,
    for_hyper_samples,
    hyperparameter_samples,
    studies,
)
from pesky.numerics.rng import Source, draw_seed, sobol, split, studies_of, uniform
from pesky.optimum.minimize import Candidates, Inequalities, Minimizers, best_candidates, polish
from pesky.optimum.representatives import Representatives, plain_draws, representatives, thin
from pesky.optimum.screen import possible_solutions

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
    candidates: Float[Tensor, "*w n d"],
    polish_steps: int,
    source: Source,
    by: Literal["place", "value"],
) -> Solutions:
    """`samples` that stand for `draws` functions: weighted medoids of their minimizers, or quantiles of their minima.

    Several hyperparameter samples share them, down to `LEAST` samples each. Unlike in `sample_optima`, a draw without a
    feasible point counts like any other: that there is none is an answer. Where a sample is used for its f* alone,
    quantiles are the better ones; where for its x*, medoids.
    """
    count = hyperparameter_samples(belief)
    samples = max(-(-samples // count), min(samples, LEAST))
    draws = max(draws // count, POLISHED_PER_SAMPLE * samples)
    polished = POLISHED_PER_SAMPLE * samples
    drawn = _draw(belief, candidates, draws, source)
    paths, found = _minimize(belief, drawn, stratify(drawn.best, polished, source), polish_steps)
    values = paths.at(found.x)[0]
    if by == "value":
        chosen = thin(found.x, torch.where(found.feasible, values[..., 0, :], torch.inf), samples)
    else:
        # One more coordinate keeps draws with a feasible point and those without in clusters of their own.
        label = torch.cat([found.x, found.feasible[..., None].to(found.x)], -1)
        lengthscale = belief.lengthscale.amin(-2)
        unit = torch.cat([lengthscale, torch.full_like(lengthscale[..., :1], 1 / FAR)], -1)
        chosen = representatives(label, torch.ones_like(found.feasible), unit, samples, source)
        chosen = chosen._replace(x=chosen.x[..., :-1])
    rows = chosen.draw[..., None, :].expand(*values.shape[:-1], chosen.draw.shape[-1])
    optima = Optima(chosen, paths.select(chosen.draw), float((~found.feasible).double().mean()))
    return Solutions(optima, torch.gather(values, -1, rows), torch.gather(found.feasible, -1, chosen.draw))


def sample_cells(
    belief: Belief, count: int, draws: int, candidates: Float[Tensor, "*w n d"], polish_steps: int, source: Source
) -> Optima:
    """`count` cells where x* may be: minimizers of draws, of as many candidates as the draws have their minima near.

    Of a draw without a feasible point it is that of least violation. Weights are shares of the draws.
    """
    drawn = _draw(belief, possible_solutions(belief, candidates), max(draws, count), source, _spacing(candidates))
    cover = cover_candidates(drawn.best, count, source)
    paths, found = _minimize(belief, drawn, cover.draw, polish_steps)
    draw = torch.arange(count, device=found.x.device).expand(found.x.shape[:-1])
    chosen = Representatives(found.x, cover.weight, draw)
    return Optima(chosen, paths, float((~found.feasible).double().mean()))


def sample_optima(
    belief: Belief,
    samples: int,
    draws: int | None,
    candidates: Float[Tensor, "*w n d"] | int,
    polish_steps: int,
    source: Source,
) -> Optima:
    """`samples` weighted medoids of the minimizers of `draws` functions, or as many plain ones if `draws` is None.

    METHOD 4: functions are drawn (4.1) and minimized (4.2), those without a feasible point are left out, which makes
    this p(x* | a feasible point exists), and few stand for the others (4.4). Where too few have a feasible point, more
    are drawn, once (4.3). If nearly none of those has one, the points of least violation stand in, so that the gain is
    in finding feasibility.
    """
    if isinstance(candidates, int):
        measured = belief.points
        spread = sobol(measured.shape[-1], candidates, draw_seed(source)).to(measured)
        candidates = torch.cat([spread, measured], -2)
    count = PLAIN_PER_SAMPLE * samples if draws is None else draws
    polished = count if draws is None else min(POLISHED_PER_SAMPLE * samples, count)
    enough = samples if draws is None else max(1, polished // 10)

    def represented(belief: Belief, paths: Paths, found: Minimizers, source: Source) -> Optima:
        if draws is None:
            chosen = plain_draws(found.x, found.feasible, samples)
        else:
            survives = found.feasible.sum(-1, keepdim=True) >= max(1, samples // 10)
            usable = found.feasible | ~survives
            chosen = representatives(found.x, usable, belief.lengthscale.amin(-2), samples, source)
        return Optima(chosen, paths.select(chosen.draw), float((~found.feasible).double().mean()))

    def more(belief: Belief, candidates: Float[Tensor, "*w n d"], source: Source) -> Optima:
        drawn = _draw(belief, candidates, SECOND_CHANCE * count, source)
        found = _minimize(belief, drawn, stratify(drawn.best, 2 * polished, source), polish_steps)
        return represented(belief, *found, source)

    drawn = _draw(belief, candidates, count, source)
    paths, found = _minimize(belief, drawn, stratify(drawn.best, polished, source), polish_steps)
    few = (found.feasible.sum(-1) < enough).reshape(*studies(belief), -1).any(-1)
    if bool(few.all()):
        return more(belief, candidates, source)
    if not bool(few.any()):
        return represented(belief, paths, found, source)
    # Of studies in lockstep some need a second chance: all go on with the random numbers that they would have alone.
    assert isinstance(belief, InLockstep)
    others, own = split(source, few)
    return _replaced(represented(belief, paths, found, others), few, more(belief.of(few), candidates[few], own))


def _replaced(optima: Optima, which: Bool[Tensor, " w"], others: Optima) -> Optima:
    """The optima, with those of some of the studies in lockstep replaced."""
    wanted = max(optima.chosen.weight.shape[-1], others.chosen.weight.shape[-1])
    (mine, my_paths, _), (other, other_paths, _) = _widened(optima, wanted), _widened(others, wanted)

    def merge(whole: Tensor, part: Tensor) -> Tensor:
        whole = whole.clone()
        whole[which] = part
        return whole

    assert isinstance(my_paths, PathsInLockstep)
    chosen = Representatives(*(merge(a, b) for a, b in zip(mine, other, strict=True)))
    return Optima(chosen, my_paths.replaced(which, other_paths), optima.infeasible_share)


def _widened(optima: Optima, count: int) -> Optima:
    """The same with as many samples, the last of which repeat the first and have no weight."""
    x, weight, draw = optima.chosen
    place = torch.arange(count, device=x.device)
    is_new = place >= weight.shape[-1]
    index = torch.where(is_new, 0, place)
    chosen = Representatives(x[..., index, :], torch.where(is_new, 0.0, weight[..., index]), draw[..., index])
    paths = optima.paths.select(index.expand(*weight.shape[:-1], count))
    return Optima(chosen, paths, optima.infeasible_share)


class Drawn(NamedTuple):
    """Functions drawn from the belief, and the best candidate of each."""

    paths: Paths
    best: Candidates
    start: Float[Tensor, "*b m d"]
    """Where the best candidate is."""
    spacing: float
    """About half of the distance between candidates."""


def _draw(
    belief: Belief, candidates: Float[Tensor, "*w n d"], count: int, source: Source, spacing: float | None = None
) -> Drawn:
    """`count` functions, looked at at all candidates, whose spacing is that of all from which these were chosen."""
    paths = belief.paths(count, source)
    everywhere = for_hyper_samples(belief, candidates)
    minimized, deviation = _to_minimize(belief, paths)
    best = best_candidates(minimized, everywhere, deviation)
    start = torch.gather(everywhere, -2, best.which[..., None].expand(*best.which.shape, candidates.shape[-1]))
    return Drawn(paths, best, start, _spacing(candidates) if spacing is None else spacing)


def _spacing(points: Float[Tensor, "*w n d"]) -> float:
    """About half of the distance between points all over the cube."""
    return 0.5 * points.shape[-2] ** (-1 / points.shape[-1])


def _minimize(
    belief: Belief, drawn: Drawn, some: Int[Tensor, "*b polished"] | None, steps: int
) -> tuple[Paths, Minimizers]:
    """Some of the draws, all if None, and their minimizers."""
    paths, _, start, spacing = drawn
    if some is not None:
        paths = paths.select(some)
        start = torch.gather(start, -2, some[..., None].expand(*some.shape, start.shape[-1]))
    minimized, deviation = _to_minimize(belief, paths)
    return paths, polish(minimized, start, deviation, belief.lengthscale, spacing, steps)


def _to_minimize(belief: Belief, paths: Paths) -> tuple[Paths, Float[Tensor, "*b i"]]:
    """The draws as an objective and rows that must not be negative, and the prior deviation of each of these."""
    deviation, conditions = belief.likelihoods.units(belief.amplitude.sqrt()), belief.likelihoods.conditions
    return paths if conditions is None else Inequalities(paths, conditions), deviation


class Cover(NamedTuple):
    """Some of the draws, and the share of all that each of them stands for."""

    draw: Int[Tensor, "*b count"]
    weight: Float[Tensor, "*b count"]


def cover_candidates(best: Candidates, count: int, source: Source) -> Cover:
    """`count` of the draws, one of each best candidate before any second: what one draw in hundreds says is kept."""
    violated = (best.values[..., 1:, :] < 0).any(-2)
    label = best.which + violated * (best.which.max() + 1)
    is_same = label[..., :, None] == label[..., None, :]
    is_first = ~is_same.tril(-1).any(-1)
    chance = uniform(source, *studies_of(source), label.shape[-1], like=best.values)
    chance = chance.view(*chance.shape[:-1], *(1,) * (label.dim() - chance.dim()), label.shape[-1])
    draw = torch.argsort(chance + (~is_first).to(chance), dim=-1, stable=True)[..., :count]
    is_kept = torch.zeros_like(is_first).scatter(-1, draw, True)
    kept_alike = (is_same & is_kept[..., None, :]).sum(-1).clamp(min=1)
    weight = torch.gather(is_same.sum(-1) / kept_alike, -1, draw).to(best.values)
    return Cover(draw, weight / weight.sum(-1, keepdim=True))


def stratify(best: Candidates, count: int, source: Source) -> Int[Tensor, "*b count"] | None:
    """Every so-many-th draw in the order of their best candidates: each keeps its share. None where all are kept."""
    total = best.which.shape[-1]
    if count >= total:
        return None
    violated = (best.values[..., 1:, :] < 0).any(-2)
    order = torch.argsort(best.which + violated * (best.which.max() + 1), dim=-1, stable=True)
    offset = uniform(source, *studies_of(source), 1, like=best.values)
    step = ((torch.arange(count, device=order.device) + offset) * (total / count)).long().clamp(max=total - 1)
    w = step.shape[:-1]
    step = step.view(
        *w, *(1,) * (order.dim() - step.dim()), count
    )  # the same for all hyperparameter samples of a study
    return torch.gather(order, -1, step.expand(*order.shape[:-1], count))
