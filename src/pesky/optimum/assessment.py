"""What a recommendation looks at, at any points: the expected objective and how far constraints hold (METHOD 11).

With the derivatives that the search for the best point needs.
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.infer.gaussian import log_cdf
from pesky.model.belief import Marginals, for_hyper_samples, over_hyper_samples
from pesky.model.moments import Expansion, Moments, expand, moments_of

IMPOSSIBLE = math.log(1e-300)
INSIDE = 1e-7
"""The margin aimed at, in prior deviations, so that a rounding error does not end outside."""
SAME_POINT = 1e-9
"""Points closer than this, in the unit cube, are one point: what is encoded and decoded again is rounded, and no model
tells such points apart."""


class Facts(NamedTuple):
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
        kinds, which = self.columns.unique(dim=0, return_inverse=True)
        apart = [torch.cdist(X[:, own], self.X[:, own], p=torch.inf) for own in kinds]
        here = (torch.stack(apart) < SAME_POINT)[which]
        return (here & self.holds[:, None]).any(-1), (here & self.fails[:, None]).any(-1)


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
    belief: Marginals, X: Float[Tensor, "*w x d"], confidence: Float[Tensor, " k"], facts: Facts | None = None
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
    shortfall = (-constraints.mean.mean(-3)).clamp(min=0.0) / prior_deviation(belief)[..., 1:, None]
    if facts is not None:
        holds, fails = facts.at(X)
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
    quantile = torch.special.ndtri(confidence).to(objective)[:, None]
    if constraints.mean.shape[-3] == 1:
        margin = (constraints.mean - quantile * constraints.deviation)[..., 0, :, :]
    else:
        u = torch.special.ndtri(_log_probability(constraints).exp().clamp(1e-15, 1 - 1e-15))
        margin = (u - quantile) * constraints.deviation.mean(-3)
    return objective, margin, constraints


def _log_probability(constraints: Margins) -> Float[Tensor, "*w k x"]:
    """Of each constraint, that it holds."""
    return log_cdf(constraints.mean / constraints.deviation).logsumexp(-3) - math.log(constraints.mean.shape[-3])


def prior_deviation(belief: Marginals) -> Float[Tensor, "*w i"]:
    """Prior deviation of the objective, and then of the row of each constraint."""
    return over_hyper_samples(belief, belief.likelihoods.units(belief.amplitude.sqrt())).mean(-2)


class Local(NamedTuple):
    """The expected objective and then each margin at some points, with their derivatives.

    Those of margins for each of h hyperparameter samples.
    """

    expansion: Expansion
    values: Float[Tensor, "*w i x"]
    gradients: Float[Tensor, "*w i x e"]
    """By x, along those axes on which it may move."""
    by_mean: Float[Tensor, "*w h k x"]
    """Of a margin, by the mean and the variance of what must be zero or above."""
    by_variance: Float[Tensor, "*w h k x"]
    by_variance_twice: Float[Tensor, "*w h k x"]
    variance_by_x: Float[Tensor, "*w h k x e"]


def differentiated(
    belief: Marginals, X: Float[Tensor, "*w x d"], confidence: Float[Tensor, " k"], axes: Int[Tensor, " e"]
) -> Local:
    """The expected objective and each margin, (u - z) s as in `assess`, and their derivatives along these axes.

    With s the mean of the deviations s_h, u = Phi^-1(P), P the mean of Phi(z_h), z_h = m_h / s_h, and n the normal
    density, those by m_h are w_h = n(z_h) / n(u) s / (H s_h) and those by s_h (u - z) / H - w_h z_h, for H samples.
    """
    expansion = expand(belief, for_hyper_samples(belief, X), axes)
    objective, margin, constraints = _beyond_confidence(belief, expansion.moments, confidence)
    by_x = belief.likelihoods.slopes_of_margins(*expansion.slopes)
    mean_by_x, variance_by_x = (over_hyper_samples(belief, each, 3) for each in by_x)
    by_mean, by_variance = _by_moments(margin, constraints, confidence)
    of_margins = by_mean[..., None] * mean_by_x + by_variance[..., None] * variance_by_x
    of_objective = over_hyper_samples(belief, expansion.slopes.mean, 3)[..., :1, :, :]
    return Local(
        expansion,
        torch.cat([objective[..., None, :], margin], -2),
        torch.cat([of_objective.mean(-4), of_margins.sum(-4)], -3),
        by_mean,
        by_variance,
        -by_variance / (2 * constraints.deviation.square()),
        variance_by_x,
    )


def _by_moments(
    margin: Float[Tensor, "*w k x"], constraints: Margins, confidence: Float[Tensor, " k"]
) -> tuple[Float[Tensor, "*w h k x"], Float[Tensor, "*w h k x"]]:
    """Derivatives of each margin by the mean and the variance that it is made of: see `differentiated`."""
    mean, deviation = constraints
    quantile, samples = torch.special.ndtri(confidence).to(margin)[:, None], mean.shape[-3]
    if samples == 1:  # mean - quantile deviation
        return torch.ones_like(mean), -quantile / (2 * deviation)
    score, spread = mean / deviation, deviation.mean(-3, keepdim=True)
    beyond = margin[..., None, :, :] / spread
    by_mean = (0.5 * ((beyond + quantile).square() - score.square())).exp() * spread / (samples * deviation)
    return by_mean, (beyond / samples - by_mean * score) / (2 * deviation)


def curvature_of(belief: Marginals, at: Local, weights: Float[Tensor, "*w i x"]) -> Float[Tensor, "*w x e e"] | None:
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
    # the sum over samples and margins of the products of the gradients of each variance
    by_x = at.variance_by_x.flatten(-4, -3).movedim(-3, -2)
    twice = (weight * at.by_variance_twice).flatten(-3, -2).mT[..., None]
    return found + (twice * by_x).mT @ by_x
