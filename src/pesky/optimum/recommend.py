"""The point to use: lowest expected objective where every constraint holds with its confidence (METHOD 11)."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.infer.gaussian import log_cdf
from pesky.model.belief import Marginals, for_hyper_samples, over_hyper_samples, studies
from pesky.model.moments import Expansion, Moments, expand, moments_of
from pesky.numerics import sqp
from pesky.numerics.rng import Seed
from pesky.optimum.measured import MOST_MEASURED, expected_rank
from pesky.optimum.starts import spread_out
from pesky.space import Space

STARTS = 6
STEPS, RADIUS, INNER = 25, 0.2, 10
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
IMPOSSIBLE = math.log(1e-300)
HOPELESS = math.log(1e-6)
"""Log probability of feasibility below which one point is no more probable than another."""
SETTLED, SAME = 1e-9, 1e-6
"""A search ends whose last step was to gain less than this, or that has the values of another one; both in prior
deviations."""
FIRST_STEPS, BEHIND, VIOLATION = 12, 4.0, 5.0
"""After so many steps a search ends that is behind the best one by so many times what its last step gained, where
violations of a margin have this price."""
INSIDE = 1e-7
"""The margin aimed at, in prior deviations, so that a rounding error does not end outside."""


SAME_POINT = 1e-9
"""How far apart, in any column, points are still the same."""


class Told(NamedTuple):
    """Where constraints surely hold or not, because it was told without noise: more than a belief may say.

    It does not know the latent function of a yes or no there, and every number only but for a floor of noise.
    """

    X: Float[Tensor, "n d"]
    columns: Bool[Tensor, "k d"]
    """On which each constraint depends: what was told is true wherever these are the same."""
    holds: Bool[Tensor, "k n"]
    fails: Bool[Tensor, "k n"]

    def at(self, X: Float[Tensor, "x d"]) -> tuple[Bool[Tensor, "k x"], Bool[Tensor, "k x"]]:
        """Whether each constraint surely holds, and whether it surely fails."""
        is_same = (X[:, None] - self.X).abs() < SAME_POINT
        here = torch.stack([(is_same | ~own).all(-1) for own in self.columns])
        return (here & self.holds[:, None]).any(-1), (here & self.fails[:, None]).any(-1)


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


def assess(
    belief: Marginals, X: Float[Tensor, "*w x d"], confidence: Float[Tensor, " k"], told: Told | None = None
) -> Assessment:
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
    if told is not None:
        holds, fails = told.at(X)
        log_p = torch.where(holds, 0.0, torch.where(fails, IMPOSSIBLE, log_p))
        margin = torch.where(holds, margin.clamp(min=0.0), torch.where(fails, margin.clamp(max=-INSIDE), margin))
        log_feasible = torch.where(fails.any(-2), IMPOSSIBLE, log_feasible)
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


def recommend(
    belief: Marginals,
    space: Space,
    confidence: Float[Tensor, " k"],
    seed: Seed,
    told: Told | None = None,
    starts: int = STARTS,
    steps: int = STEPS,
) -> Advice:
    """The best point anywhere in the space, not only among the measured ones."""
    measured = belief.points
    whole = None if belief.points.dim() > 2 or space.size is None else space.combinations(LATTICE)
    spread = space.spread(CANDIDATES, seed) if whole is None else whole
    X = _worth_a_look(belief, torch.cat([spread.to(measured), measured], -2))
    if bool(space.continuous.any()):
        start = _starts(belief, X, confidence, told, starts)
        X = torch.cat([start, _lowest(belief, start, confidence, steps)], -2)
    best = _best(belief, space.snap(X), confidence, told)
    return best if space.is_continuous else _after_moves(belief, space, best, confidence, told)


def _starts(
    belief: Marginals, X: Float[Tensor, "*w x d"], confidence: Float[Tensor, " k"], told: Told | None, count: int
) -> Float[Tensor, "*w s d"]:
    """From where to search: points that qualify, and points that nearly do.

    A region that qualifies may lie between the candidates. Where none of them qualifies, what is most probably feasible
    near some of them takes the place of the first.
    """
    with torch.no_grad():
        now = assess(belief, X, confidence, told)
    deviation = _deviation(belief)
    short = ((-now.margin).clamp(min=0.0) / deviation[..., 1:, None]).sum(-2)
    nearly = spread_out(X, -now.mean / deviation[..., :1] - 3 * short, count)
    safe = spread_out(X, torch.where(short == 0, -now.mean, -torch.inf), count)
    is_any = (short == 0).any(-1)
    if not bool(is_any.all()):
        hopeful = _safest(belief, spread_out(X, _hope(now), count), confidence)
        safe = torch.where(is_any[..., None, None], safe.repeat(*[1] * (safe.dim() - 2), 2, 1), hopeful)
    return torch.cat([nearly, safe], -2)


def _after_moves(
    belief: Marginals, space: Space, best: Advice, confidence: Float[Tensor, " k"], told: Told | None
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
            near = space.snap(torch.cat([near, _lowest(belief, few, confidence, FOLLOWING)]))
        after = _best(belief, torch.cat([best.u[None], near]), confidence, told)
        if torch.equal(after.u, best.u):
            break
        best = after
    return best


def _worth_a_look(belief: Marginals, X: Float[Tensor, "*w n d"]) -> Float[Tensor, "*w m d"]:
    """The points, of many or of many data those that are expected to be the best: variances would take the longest."""
    measured = belief.points.shape[-2]
    most = CANDIDATES + measured if measured <= FEW_DATA else MOST_MEASURED
    if X.shape[-2] <= most:
        return X
    best = expected_rank(belief, X).argsort(-1)[..., :most]
    return torch.gather(X, -2, best[..., None].expand(*best.shape, X.shape[-1]))


def _best(belief: Marginals, X: Float[Tensor, "*w x d"], confidence: Float[Tensor, " k"], told: Told | None) -> Advice:
    """The lowest of the points that qualify, or the most probably feasible of all."""
    with torch.no_grad():
        now = assess(belief, X, confidence, told)
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
    belief: Marginals, starts: Float[Tensor, "*w s d"], confidence: Float[Tensor, " k"], steps: int
) -> Float[Tensor, "*w n d"]:
    """The lowest points found from the starts on the safe side of every margin."""
    deviation, (*w, count, d) = _deviation(belief), starts.shape
    flat = starts.reshape(-1, d)
    inside = INSIDE * deviation.index_fill(-1, torch.tensor(0, device=deviation.device), 0.0)[..., None, :]
    last: Local | None = None

    # Studies in lockstep keep their shape: of those that ended nothing is looked at.
    def whole(part: Tensor, some: Tensor, others: Tensor) -> Tensor:
        return others.index_copy(0, some, part).view(*w, count, part.shape[-1]) if w else part

    def evaluate(x: Tensor, some: Tensor) -> tuple[Tensor, Tensor]:
        nonlocal last
        last = _differentiated(belief, whole(x, some, flat), confidence)
        values, gradients = (last.values.mT - inside).flatten(0, -2), last.gradients.transpose(-3, -2).flatten(0, -3)
        return (values[some], gradients[some]) if w else (values, gradients)

    def curvature(weights: Tensor, some: Tensor) -> Tensor | None:
        assert last is not None
        found = _curvature(belief, last, whole(weights, some, weights.new_zeros(len(flat), weights.shape[-1])).mT)
        return found.flatten(0, -3)[some] if w and found is not None else found

    zero, one = torch.zeros_like(flat[0]), torch.ones_like(flat[0])
    scale = deviation[..., None, :].expand(*w, count, -1).reshape(len(flat), -1)
    goes_on = _descending(scale, studies(belief).numel())
    how = {"radius": RADIUS, "scale": scale, "steps": steps, "tolerance": 1e-8, "inner": INNER}
    found = sqp.minimize(evaluate, flat, zero, one, **how, worthwhile=goes_on, curvature=curvature)
    # The last step may still end a little outside: points short of it, towards the start, are offered as well.
    back = torch.tensor([0.0, 1e-6, 1e-4, 1e-2, 1e-1], dtype=starts.dtype, device=starts.device)[:, None, None]
    return torch.lerp(found.x.view(*w, 1, count, d), starts[..., None, :, :], back).flatten(-3, -2)


class Local(NamedTuple):
    """The expected objective and then each margin at some points, with their derivatives.

    Those of margins for each of h hyperparameter samples.
    """

    expansion: Expansion
    values: Float[Tensor, "*w i x"]
    gradients: Float[Tensor, "*w i x d"]
    """By x."""
    by_mean: Float[Tensor, "*w h k x"]
    """Of a margin, by the mean and the variance of what must be zero or above."""
    by_variance: Float[Tensor, "*w h k x"]
    by_variance_twice: Float[Tensor, "*w h k x"]
    variance_by_x: Float[Tensor, "*w h k x d"]


def _differentiated(belief: Marginals, X: Float[Tensor, "*w x d"], confidence: Float[Tensor, " k"]) -> Local:
    """The expected objective and each margin, (u - z) s as in `assess`, and their derivatives.

    With s the mean of the deviations s_h, u = Phi^-1(P), P the mean of Phi(z_h), z_h = m_h / s_h, and n the normal
    density, those by m_h are w_h = n(z_h) / n(u) s / (H s_h) and those by s_h (u - z) / H - w_h z_h, for H samples.
    """
    expansion = expand(belief, for_hyper_samples(belief, X))
    objective, margin, constraints = _beyond_confidence(belief, expansion.moments, confidence)
    by_x = belief.likelihoods.slopes_of_margins(*expansion.slopes)
    mean_by_x, variance_by_x = (over_hyper_samples(belief, each, 3) for each in by_x)
    deviation, samples = constraints.deviation, constraints.mean.shape[-3]
    score, spread = constraints.mean / deviation, deviation.mean(-3, keepdim=True)
    beyond = margin[..., None, :, :] / spread
    u = beyond + torch.special.ndtri(confidence).to(margin)[:, None]
    by_mean = (0.5 * (u.square() - score.square())).exp() * spread / (samples * deviation)
    by_variance = (beyond / samples - by_mean * score) / (2 * deviation)
    of_margins = by_mean[..., None] * mean_by_x + by_variance[..., None] * variance_by_x
    of_objective = over_hyper_samples(belief, expansion.slopes.mean, 3)[..., :1, :, :].mean(-4)
    return Local(
        expansion,
        torch.cat([objective[..., None, :], margin], -2),
        torch.cat([of_objective, of_margins.sum(-4)], -3),
        by_mean,
        by_variance,
        -by_variance / (2 * deviation.square()),
        variance_by_x,
    )


def _curvature(belief: Marginals, at: Local, weights: Float[Tensor, "*w i x"]) -> Float[Tensor, "*w x d d"] | None:
    """Second derivatives by x of the weighted sum of objective and margins; of several samples, about these.

    None where the belief does not know its own.
    """
    if at.expansion.curvatures is None:
        return None
    weight = weights[..., None, 1:, :]
    by_mean, by_variance = belief.likelihoods.rows_of_margins(weight * at.by_mean, weight * at.by_variance)
    by_mean[..., 0, :] += weights[..., None, 0, :] / by_mean.shape[-3]
    rows = (each.view(*belief.amplitude.shape, -1) for each in (by_mean, by_variance))
    found = over_hyper_samples(belief, at.expansion.curvatures(*rows), 3).sum(-4)
    twice = (weight * at.by_variance_twice)[..., None] * at.variance_by_x
    return found + torch.einsum("...hkxa,...hkxb->...xab", twice, at.variance_by_x)


def _descending(scale: Float[Tensor, "b i"], studies: int) -> sqp.Worthwhile:
    """Whether each search is still on its way, and on none that another one of its study is on or ahead on."""

    def goes_on(progress: sqp.Progress) -> Bool[Tensor, " b"]:
        of_study = (progress.values / scale).view(studies, -1, scale.shape[-1])
        apart = (of_study[:, :, None] - of_study[:, None]).abs().amax(-1)
        is_on = (progress.expected > SETTLED * scale[:, 0]) & ~(apart < SAME).tril(-1).any(-1).flatten()
        if progress.steps < FIRST_STEPS:
            return is_on
        merit = of_study[..., 0] + VIOLATION * (-of_study[..., 1:]).clamp(min=0.0).sum(-1)
        behind = (merit - merit.amin(-1, keepdim=True)).flatten() * scale[:, 0]
        return is_on & (behind <= BEHIND * progress.gained)

    return goes_on


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
