"""The point to use: lowest expected objective where every constraint holds with its confidence (METHOD 11)."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.infer.gaussian import log_cdf
from pesky.model.belief import Marginals, for_hyper_samples, over_hyper_samples, studies
from pesky.model.moments import Moments, moments_of, slopes_of
from pesky.numerics import sqp
from pesky.numerics.rng import Seed
from pesky.optimum.measured import MOST_MEASURED, expected_rank
from pesky.optimum.starts import spread_out
from pesky.space import Space

STARTS = 6
STEPS, RADIUS = 25, 0.1
"""Of each search, and how long its first step may be: with a fifth of that a third of the answers in ten dimensions are
short of the lowest."""
CANDIDATES = 1024
MOVES, FOLLOWING = 20, 8
"""Discrete moves one after the other, and the steps in which the real columns follow each of them."""
HOPELESS = math.log(1e-6)
"""Log probability of feasibility below which one point is no more probable than another."""
SETTLED = 1e-6
"""A search ends whose last step changed its values by less than this, in prior deviations, or that has the values of
another."""
INSIDE = 1e-7
"""The margin aimed at, in prior deviations, so that a rounding error does not end outside."""


class Advice(NamedTuple):
    """One for each of the studies in lockstep, w."""

    u: Float[Tensor, "*w d"]
    mean: Float[Tensor, "*w"]
    """Expected objective, in scaled units."""
    probabilities: Float[Tensor, "*w k"]
    """Probability that each constraint holds."""
    is_confident: Bool[Tensor, "*w"]
    """Whether every constraint reaches its confidence; if not, `u` is the point most probably feasible."""


class Assessment(NamedTuple):
    """What a recommendation looks at, for each point."""

    mean: Float[Tensor, "*w x"]
    """Expected objective."""
    margin: Float[Tensor, "*w k x"]
    """How far each constraint is beyond its confidence, in units of the constraint."""
    log_probability: Float[Tensor, "*w k x"]
    """Of each constraint, that it holds."""
    log_feasible: Float[Tensor, "*w x"]
    """That all of them hold: constraints on one outcome are not independent."""
    shortfall: Float[Tensor, "*w k x"]
    """How far the mean of each constraint is from feasible, in prior deviations."""


def assess(belief: Marginals, X: Float[Tensor, "*w x d"], confidence: Float[Tensor, " k"]) -> Assessment:
    """Objective and feasibility at each point, averaged over hyperparameter samples (METHOD 11).

    The margin of P >= confidence is mean - z deviation, z = Phi^-1(confidence), which is smooth where P saturates: with
    u = Phi^-1(P) it is (u - z) deviation, and u = mean / deviation where there is one hyperparameter sample.
    """
    moments, likelihoods = moments_of(belief, for_hyper_samples(belief, X)), belief.likelihoods
    objective, margin, constraints = _beyond_confidence(belief, moments, confidence)
    log_p = _log_probability(constraints)
    log_feasible = log_p.sum(-2)
    if likelihoods.conditions is not None:
        of_rows = over_hyper_samples(belief, likelihoods.log_feasibility(*moments), 2)
        log_feasible = of_rows.logsumexp(-3) - math.log(of_rows.shape[-3])
        log_feasible = log_feasible[..., likelihoods.conditions.is_limited, :].sum(-2)
    shortfall = (-constraints.mean.mean(-3)).clamp(min=0.0) / _deviation(belief)[..., 1:, None]
    return Assessment(objective, margin, log_p, log_feasible, shortfall)


class Margins(NamedTuple):
    """What must be zero or above for each constraint to hold, for each of h hyperparameter samples."""

    mean: Float[Tensor, "*w h k x"]
    deviation: Float[Tensor, "*w h k x"]


def _beyond_confidence(
    belief: Marginals, moments: Moments, confidence: Float[Tensor, " k"]
) -> tuple[Float[Tensor, "*w x"], Float[Tensor, "*w k x"], Margins]:
    """Expected objective, how far each constraint is beyond its confidence, and what that is of."""
    objective = over_hyper_samples(belief, moments.mean, 2)[..., 0, :].mean(-2)
    of_rows = belief.likelihoods.margins(*moments)
    constraints = Margins(*(over_hyper_samples(belief, each, 2) for each in of_rows))
    if constraints.mean.shape[-3] == 1:
        u = (constraints.mean / constraints.deviation)[..., 0, :, :]
    else:
        u = torch.special.ndtri(_log_probability(constraints).exp().clamp(1e-15, 1 - 1e-15))
    margin = (u - torch.special.ndtri(confidence).to(u)[:, None]) * constraints.deviation.mean(-3)
    return objective, margin, constraints


def _log_probability(constraints: Margins) -> Float[Tensor, "*w k x"]:
    """Of each constraint, that it holds."""
    return log_cdf(constraints.mean / constraints.deviation).logsumexp(-3) - math.log(constraints.mean.shape[-3])


def recommend(belief: Marginals, space: Space, confidence: Float[Tensor, " k"], seed: Seed) -> Advice:
    """The best point anywhere in the space, not only among the measured ones."""
    measured = belief.points
    X = _worth_a_look(belief, torch.cat([space.spread(CANDIDATES, seed).to(measured), measured], -2))
    with torch.no_grad():
        now = assess(belief, X, confidence)
    deviation = _deviation(belief)
    short = ((-now.margin).clamp(min=0.0) / deviation[..., 1:, None]).sum(-2)
    # A region that qualifies may lie between the candidates: points that nearly qualify are starts as well.
    nearly = spread_out(X, -now.mean / deviation[..., :1] - 3 * short, STARTS)
    safe = spread_out(X, torch.where(short == 0, -now.mean, -torch.inf), STARTS)
    is_any = (short == 0).any(-1)
    if not bool(is_any.all()):
        hopeful = _safest(belief, spread_out(X, _hope(now), STARTS), confidence)
        safe = torch.where(is_any[..., None, None], safe.repeat(*[1] * (safe.dim() - 2), 2, 1), hopeful)
    start = torch.cat([nearly, safe], -2)
    best = _best(belief, space.snap(torch.cat([start, _lowest(belief, start, confidence)], -2)), confidence)
    return best if space.is_continuous else _after_moves(belief, space, best, confidence)


def _after_moves(belief: Marginals, space: Space, best: Advice, confidence: Float[Tensor, " k"]) -> Advice:
    """The best that discrete moves lead to, where the real columns follow each of them.

    A thinner plate is better with another radius only: where the others stay, every move looks worse.
    """
    for _ in range(MOVES):
        near = space.neighbors(best.u)
        if bool(space.continuous.any()):
            near = space.snap(torch.cat([near, _lowest(belief, near, confidence, FOLLOWING)]))
        after = _best(belief, torch.cat([best.u[None], near]), confidence)
        if torch.equal(after.u, best.u):
            break
        best = after
    return best


def _worth_a_look(belief: Marginals, X: Float[Tensor, "*w n d"]) -> Float[Tensor, "*w n d"]:
    """The points, of many data those that are expected to be the best: their variances would take the longest."""
    if belief.points.shape[-2] <= MOST_MEASURED:
        return X
    best = expected_rank(belief, X).argsort(-1)[..., :MOST_MEASURED]
    return torch.gather(X, -2, best[..., None].expand(*best.shape, X.shape[-1]))


def _best(belief: Marginals, X: Float[Tensor, "*w x d"], confidence: Float[Tensor, " k"]) -> Advice:
    """The lowest of the points that qualify, or the most probably feasible of all."""
    with torch.no_grad():
        now = assess(belief, X, confidence)
    good = (now.margin >= 0).all(-2)
    is_any = good.any(-1)
    rank = torch.where(is_any[..., None], torch.where(good, -now.mean, -torch.inf), _hope(now))
    best = rank.argmax(-1, keepdim=True)
    u = torch.gather(X, -2, best[..., None].expand(*best.shape, X.shape[-1]))[..., 0, :]
    at = best[..., None, :].expand(*now.log_probability.shape[:-1], 1)
    probabilities = torch.gather(now.log_probability, -1, at)[..., 0].exp()
    return Advice(u, torch.gather(now.mean, -1, best)[..., 0], probabilities, is_any)


def _hope(now: Assessment) -> Float[Tensor, "*w x"]:
    """Log probability that all constraints hold; or, where all are hopeless, how little they are missed by.

    The most probable of hopeless points are those that nothing is known of: far from what nearly qualified.
    """
    log_p = now.log_feasible
    if not now.margin.shape[-2]:
        return log_p
    return torch.where(log_p.amax(-1, keepdim=True) < HOPELESS, -now.shortfall.sum(-2), log_p)


def _deviation(belief: Marginals) -> Float[Tensor, "*w i"]:
    """Prior deviation of the objective, and then of the row of each constraint."""
    return over_hyper_samples(belief, belief.likelihoods.units(belief.amplitude.sqrt())).mean(-2)


def _lowest(
    belief: Marginals, starts: Float[Tensor, "*w s d"], confidence: Float[Tensor, " k"], steps: int = STEPS
) -> Float[Tensor, "*w n d"]:
    """The lowest points found from the starts on the safe side of every margin."""
    deviation, d = _deviation(belief), starts.shape[-1]
    flat = starts.reshape(-1, d)

    def evaluate(x: Tensor, some: Tensor) -> tuple[Tensor, Tensor]:
        # studies in lockstep keep their shape
        here = x if starts.dim() == 2 else flat.index_copy(0, some, x).view(starts.shape)
        values, gradients = _differentiated(belief, here, confidence)
        values[..., 1:, :] -= INSIDE * deviation[..., 1:, None]
        values, gradients = values.mT.flatten(0, -2), gradients.transpose(-3, -2).flatten(0, -3)
        return (values, gradients) if starts.dim() == 2 else (values[some], gradients[some])

    zero, one = torch.zeros_like(flat[0]), torch.ones_like(flat[0])
    scale = deviation[..., None, :].expand(*starts.shape[:-1], -1).reshape(len(flat), -1)
    goes_on = Descending(scale, studies(belief).numel())
    found = sqp.minimize(
        evaluate, flat, zero, one, radius=RADIUS, scale=scale, steps=steps, tolerance=1e-8, worthwhile=goes_on
    )
    # The last step may still end a little outside: points short of it, towards the start, are offered as well.
    back = torch.tensor([0.0, 1e-6, 1e-4, 1e-2, 1e-1], dtype=starts.dtype, device=starts.device)[:, None, None]
    return torch.lerp(found.x.view(*starts.shape[:-2], 1, -1, d), starts[..., None, :, :], back).flatten(-3, -2)


def _differentiated(
    belief: Marginals, X: Float[Tensor, "*w x d"], confidence: Float[Tensor, " k"]
) -> tuple[Float[Tensor, "*w i x"], Float[Tensor, "*w i x d"]]:
    """The expected objective and then each margin, with the gradient of each by x."""
    moments, slopes = slopes_of(belief, for_hyper_samples(belief, X))
    rows, n = 1 + len(confidence), X.shape[-2]
    # Each has a copy of the moments to itself, so that one pass backward is that of all.
    copies = Moments(*(each.repeat(*[1] * (each.dim() - 1), rows).requires_grad_() for each in moments))
    with torch.enable_grad():
        objective, margin, _ = _beyond_confidence(belief, copies, confidence)
        each = torch.cat([objective[..., None, :], margin], -2).unflatten(-1, (rows, n)).diagonal(0, -3, -2)
        by_moments = torch.autograd.grad(each.sum(), copies, materialize_grads=True)
    by_mean, by_variance = (
        (by.unflatten(-1, (rows, n)).movedim(-2, -3)[..., None] * slope[..., None, :, :, :]).sum(-3)
        for by, slope in zip(by_moments, slopes, strict=True)
    )
    return each.detach().mT, over_hyper_samples(belief, by_mean + by_variance, 3).sum(-4)


class Descending:
    """Whether each search is still on its way, and on none that another one of its study is on."""

    def __init__(self, scale: Float[Tensor, "b i"], studies: int) -> None:
        self._scale, self._studies = scale, studies
        self._before: Tensor | None = None
        self._moved = torch.full_like(scale[:, 0], torch.inf)

    def __call__(self, values: Float[Tensor, "b i"], step: int) -> Bool[Tensor, " b"]:
        values = values / self._scale
        if self._before is not None:
            moved = (values - self._before).abs().amax(-1)
            # where a step was not taken, the next one is a third as long
            self._moved = torch.where(moved > 0, moved, self._moved / 3)
        self._before = values
        of_study = values.view(self._studies, -1, values.shape[-1])
        apart = (of_study[:, :, None] - of_study[:, None]).abs().amax(-1)
        return (self._moved > SETTLED) & ~(apart < SETTLED).tril(-1).any(-1).flatten()


def _safest(
    belief: Marginals, starts: Float[Tensor, "*w s d"], confidence: Float[Tensor, " k"]
) -> Float[Tensor, "*w n d"]:
    """The starts, and the points most probably feasible found from them."""

    def evaluate(x: Tensor) -> tuple[Tensor, Tensor]:
        x = x.detach().requires_grad_()
        value = -_hope(assess(belief, x.view(starts.shape), confidence)).flatten()
        return value.detach()[:, None], torch.autograd.grad(value.sum(), x)[0][:, None]

    flat = starts.reshape(-1, starts.shape[-1])
    zero, one = torch.zeros_like(flat[0]), torch.ones_like(flat[0])
    group = sqp.in_groups(studies(belief).numel(), len(flat), flat)
    found = sqp.minimize(evaluate, flat, zero, one, radius=RADIUS, steps=STEPS, group=group)
    return torch.cat([starts, found.x.view(starts.shape)], -2)
