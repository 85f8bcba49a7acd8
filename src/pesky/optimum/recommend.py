"""The point to use: lowest expected objective where every constraint holds with its confidence (METHOD 11)."""

import math
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy import ndarray
from torch import Tensor

from pesky.model.belief import Marginals, over_hyper_samples, studies
from pesky.numerics import sqp
from pesky.numerics.quadratic import shortfall
from pesky.numerics.rng import Seed
from pesky.optimum.assessment import (
    INSIDE,
    Assessment,
    Facts,
    Local,
    assess,
    curvature_of,
    differentiated,
    prior_deviation,
)
from pesky.optimum.measured import MOST_MEASURED, expected_rank, lowest_ranked, rank_of_points, some_at_a_time
from pesky.optimum.starts import spread_out
from pesky.space import Space

STARTS = 6
STEPS, RADIUS, INNER = 25, 0.5, 10
"""Of each search, how long its first step may be, and the iterations that solve for a step. With a tenth of that length
a third of the answers in ten dimensions are short of the lowest; with fewer iterations they lack digits."""
CANDIDATES = 1024
FEW_DATA = 150
"""Up to so many the variance at all candidates takes no time."""
LATTICE = 16384
"""Points up to which a space is looked at whole."""
MOVES, FOLLOWING, FOLLOWED = 20, 8, 8
"""Discrete moves one after the other, the steps in which the real columns follow each of them, and how many of those
of two integers they follow."""
HOPELESS = math.log(1e-6)
"""Log probability of feasibility below which one point is no more probable than another."""
SETTLED, SAME = 1e-9, 1e-6
"""A search ends whose last step was to gain less than this, or that has the values of another one; both in prior
deviations."""
MEANINGFUL = 1e-4
"""It ends, too, where that is less than this of what the objective is uncertain by there: nobody could tell."""
LATELY, SMALL = 3, 1e-3
FIRST_STEPS, BEHIND, VIOLATION = 12, 4.0, 5.0
"""It ends, too, once the speed of so many steps would not bring it to where the best one is by its last step, and after
the first steps by so many more. What violates margins by less than a small sum of prior deviations may be the best, and
more has this price."""


class Advice(NamedTuple):
    """One for each of the studies in lockstep, w."""

    u: Float[Tensor, "*w d"]
    mean: Float[Tensor, "*w"]
    """Expected objective, in scaled units."""
    probabilities: Float[Tensor, "*w k"]
    """Probability that each constraint holds."""
    is_confident: Bool[Tensor, "*w"]
    """Whether every constraint reaches its confidence; if not, `u` is the point most probably feasible."""


def recommend(
    belief: Marginals,
    space: Space,
    confidence: Float[Tensor, " k"],
    seed: Seed,
    facts: Facts | None = None,
    starts: int = STARTS,
    steps: int = STEPS,
) -> Advice:
    """The best point anywhere in the space, not only among the measured ones."""
    whole = None if belief.points.dim() > 2 or space.size is None else space.combinations(LATTICE)
    spread = space.spread(CANDIDATES, seed) if whole is None else whole
    X = _worth_a_look(belief, spread.to(belief.points))
    if bool(space.continuous.any()):
        start = _starts(belief, space, X, confidence, facts, starts)
        X = torch.cat([start, _lowest(belief, space, start, confidence, steps)], -2)
    best = _best(belief, space.snap(X), confidence, facts)
    return best if space.is_continuous else _after_moves(belief, space, best, confidence, facts)


def _starts(
    belief: Marginals,
    space: Space,
    X: Float[Tensor, "*w x d"],
    confidence: Float[Tensor, " k"],
    facts: Facts | None,
    count: int,
) -> Float[Tensor, "*w s d"]:
    """From where to search: points that qualify, and points that nearly do.

    A region that qualifies may lie between the candidates. Where none of them qualifies, what is most probably feasible
    near some of them takes the place of the first.
    """
    with torch.no_grad():
        now = assess(belief, X, confidence, facts)
    deviation = prior_deviation(belief)
    short = ((-now.margin).clamp(min=0.0) / deviation[..., 1:, None]).sum(-2)
    nearly = spread_out(X, -now.mean / deviation[..., :1] - 3 * short, count)
    safe = spread_out(X, torch.where(short == 0, -now.mean, -torch.inf), count)
    is_any = (short == 0).any(-1)
    if not bool(is_any.all()):
        hopeful = _safest(belief, space, spread_out(X, _hope(now), count), confidence)
        safe = torch.where(is_any[..., None, None], safe.repeat(*[1] * (safe.dim() - 2), 2, 1), hopeful)
    found = torch.cat([nearly, safe], -2)
    return found if found.dim() > 2 else found.unique(dim=0)  # studies in lockstep have as many each


def _after_moves(
    belief: Marginals, space: Space, best: Advice, confidence: Float[Tensor, " k"], facts: Facts | None
) -> Advice:
    """The best that discrete moves lead to, where the real columns follow each of them.

    A thinner plate is better with another radius only: where the others stay, every move looks worse. So integers move
    two at a time as well, of which the real columns follow those that are expected to be the best.
    """
    for _ in range(MOVES):
        double = space.double_moves(best.u)
        near = torch.cat([space.neighbors(best.u), double[expected_rank(belief, double).argsort()]])
        if bool(space.continuous.any()):
            few = near[: len(near) - len(double) + FOLLOWED]
            near = space.snap(torch.cat([near, _lowest(belief, space, few, confidence, FOLLOWING)]))
        after = _best(belief, torch.cat([best.u[None], near]), confidence, facts)
        if torch.equal(after.u, best.u):
            break
        best = after
    return best


def _worth_a_look(belief: Marginals, spread: Float[Tensor, "*w n d"]) -> Float[Tensor, "*w m d"]:
    """These points and the measured ones; of many, or of many data, those that are expected to be the best.

    Variances of all would take the longest.
    """
    measured = belief.points
    X, count = torch.cat([spread, measured], -2), measured.shape[-2]
    most = CANDIDATES + count if count <= FEW_DATA else MOST_MEASURED
    if X.shape[-2] <= most:
        return X
    return lowest_ranked(X, torch.cat([expected_rank(belief, spread), rank_of_points(belief)], -1), most)


def _best(
    belief: Marginals, X: Float[Tensor, "*w x d"], confidence: Float[Tensor, " k"], facts: Facts | None
) -> Advice:
    """The lowest of the points that qualify, or the most probably feasible of all."""
    with torch.no_grad():
        parts = [assess(belief, some, confidence, facts) for some in some_at_a_time(belief, X)]
    now = parts[0] if len(parts) == 1 else Assessment(*(torch.cat(each, -1) for each in zip(*parts, strict=True)))
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


class _Along(NamedTuple):
    """Points of which the real columns alone move: no model knows a slope along the others."""

    points: Float[Tensor, "b d"]
    axes: Int[Tensor, " e"]

    @classmethod
    def of(cls, space: Space, points: Float[Tensor, "*w s d"]) -> "_Along":
        return cls(points.reshape(-1, points.shape[-1]), space.continuous.nonzero()[:, 0].to(points.device))

    @property
    def start(self) -> Float[Tensor, "b e"]:
        return self.points[:, self.axes]

    def at(self, x: Float[Tensor, "r e"], some: Int[Tensor, " r"] | slice = slice(None)) -> Float[Tensor, "r d"]:
        """Some of the points, moved there."""
        return self.points[some].index_copy(-1, self.axes, x)


def _lowest(
    belief: Marginals, space: Space, starts: Float[Tensor, "*w s d"], confidence: Float[Tensor, " k"], steps: int
) -> Float[Tensor, "*w n d"]:
    """The lowest points found from the starts on the safe side of every margin."""
    deviation, (*w, count, d) = prior_deviation(belief), starts.shape
    along = _Along.of(space, starts)
    flat = along.points
    inside = INSIDE * deviation.index_fill(-1, torch.tensor(0, device=deviation.device), 0.0)[..., None, :]
    last: Local | None = None
    doubt = torch.zeros(len(flat), dtype=flat.dtype)

    # Studies in lockstep keep their shape: of those that ended nothing is looked at.
    def whole(part: Tensor, some: Tensor, others: Tensor) -> Tensor:
        return others.index_copy(0, some, part).view(*w, count, part.shape[-1]) if w else part

    def evaluate(x: Tensor, some: Tensor) -> tuple[Tensor, Tensor]:
        nonlocal last
        last = differentiated(belief, whole(along.at(x, some), some, flat), confidence, along.axes)
        variance = over_hyper_samples(belief, last.expansion.moments.variance, 2)[..., 0, :].mean(-2).flatten()
        doubt[some.cpu()] = (variance[some] if w else variance).sqrt().cpu()
        values, gradients = (last.values.mT - inside).flatten(0, -2), last.gradients.transpose(-3, -2).flatten(0, -3)
        return (values[some], gradients[some]) if w else (values, gradients)

    def curvature(weights: Tensor, some: Tensor) -> Tensor | None:
        assert last is not None
        found = curvature_of(belief, last, whole(weights, some, weights.new_zeros(len(flat), weights.shape[-1])).mT)
        return found.flatten(0, -3)[some] if w and found is not None else found

    zero, one = torch.zeros_like(along.start[0]), torch.ones_like(along.start[0])
    scale = deviation[..., None, :].expand(*w, count, -1).reshape(len(flat), -1)
    goes_on = _Descending(scale.cpu().numpy(), doubt.numpy(), studies(belief).numel(), steps)
    how = {"radius": RADIUS, "scale": scale, "steps": steps, "tolerance": 1e-8, "inner": INNER}
    found = sqp.minimize(evaluate, along.start, zero, one, **how, worthwhile=goes_on, curvature=curvature)
    # The last step was not looked at and may end a little outside: points short of it, towards the start, are offered.
    back = torch.tensor([0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1]).to(starts)[:, None, None]
    ends, looked = (along.at(x).view(*w, 1, count, d) for x in (found.beyond, found.x))
    return torch.cat([torch.lerp(ends, starts[..., None, :, :], back), looked], -3).flatten(-3, -2)


class _Descending:
    """Whether each search is still on its way to what may be the answer, and not where another one of its study is.

    `doubt` is the deviation of the objective where each of them is by now; `studies` are as many, one after the other.
    """

    def __init__(self, scale: Float[ndarray, "b i"], doubt: Float[ndarray, " b"], studies: int, steps: int) -> None:
        self._scale, self._doubt, self._studies, self._steps = scale, doubt, studies, steps
        self._before: list[ndarray] = []

    def __call__(self, progress: sqp.Progress) -> Bool[ndarray, " b"]:
        of_study = (progress.values / self._scale).reshape(self._studies, -1, self._scale.shape[-1])
        apart = np.abs(of_study[:, :, None] - of_study[:, None]).max(-1)
        is_other = ~np.tril(apart < SAME, -1).any(-1).ravel()
        least = np.maximum(SETTLED * self._scale[:, 0], MEANINGFUL * self._doubt)
        objective, violation = of_study[..., 0], shortfall(of_study[..., 1:]).sum(-1)
        self._before.append(np.stack([objective, violation]))
        is_hopeful = self._is_hopeful(objective, violation, progress.steps)
        return (progress.expected > least) & is_other & is_hopeful.ravel()

    def _is_hopeful(
        self, objective: Float[ndarray, "w s"], violation: Float[ndarray, "w s"], steps: int
    ) -> Bool[ndarray, "w s"]:
        """Whether each may still be the best of its study that holds, at the speed of its last few steps."""
        if len(self._before) <= LATELY:
            return np.ones_like(objective, dtype=bool)
        speed = np.abs(self._before[-1] - self._before[-1 - LATELY]).max(0) / LATELY
        holds = violation < SMALL
        best = np.where(holds, objective, np.inf).min(-1, keepdims=True)
        short = np.where(holds | np.isinf(best), 0.0, violation)
        to_go = np.maximum(objective + VIOLATION * short - best, short)
        return to_go <= speed * (self._steps - steps if steps < FIRST_STEPS else BEHIND)


def _safest(
    belief: Marginals, space: Space, starts: Float[Tensor, "*w s d"], confidence: Float[Tensor, " k"]
) -> Float[Tensor, "*w n d"]:
    """The starts, and the points most probably feasible found from them."""
    along = _Along.of(space, starts)

    def evaluate(x: Tensor) -> tuple[Tensor, Tensor]:
        x = x.detach().requires_grad_()
        value = -_hope(assess(belief, along.at(x).view(starts.shape), confidence)).flatten()
        return value.detach()[:, None], torch.autograd.grad(value.sum(), x)[0][:, None]

    zero, one = torch.zeros_like(along.start[0]), torch.ones_like(along.start[0])
    group = sqp.in_groups(studies(belief).numel(), len(along.points), along.points)
    found = sqp.minimize(evaluate, along.start, zero, one, radius=RADIUS, steps=STEPS, group=group)
    return torch.cat([starts, along.at(found.x).view(starts.shape)], -2)
