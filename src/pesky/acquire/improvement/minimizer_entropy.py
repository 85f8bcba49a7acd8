"""By how much measuring a row at u lowers the entropy of the minimizer among finitely many points (METHOD 16).

As in Villemonteix et al. (2009): functions are drawn at the points, and the entropy is that of the distribution of
their minimizers, now and given what the measurement may tell.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.infer.gaussian import cholesky, log_density
from pesky.likelihood.rows import PROBIT
from pesky.model.belief import Belief, for_hyper_samples
from pesky.numerics.rng import Source, normal

NEVER = 1e9
"""The violation of a point that does not count."""


class PointDraws(NamedTuple):
    """Functions drawn at g points and at u, with what a measurement of each at u would have told."""

    values: Float[Tensor, "*b j s g"]
    at_u: Float[Tensor, "*b j s"]
    measured: Float[Tensor, "*b j s"]
    """The value at u plus noise."""
    violation: Float[Tensor, "*b j s g"]
    """Of each row, squared, in prior deviations."""
    exclusion: Float[Tensor, "*b 1 g"]
    """The violation of points that do not count, zero for the others."""


def entropy_reductions(
    belief: Belief,
    u: Float[Tensor, "*w d"],
    G: Float[Tensor, "*w g d"],
    draws: int,
    nodes: int,
    source: Source,
    excluded: Bool[Tensor, "*w g"] | None = None,
) -> Float[Tensor, "*b j"]:
    """Nats by which measuring each row at u is expected to lower the entropy of the minimizer among the points G.

    `excluded` are points of G that are not among them after all, such as repeats of others. The same draws serve before
    and after a measurement. A draw without a feasible point has the one of least violation for its minimizer
    (METHOD 4.3).
    """
    P = for_hyper_samples(belief, torch.cat([G, u[..., None, :]], -2))
    mean, covariance = belief.mean(P), belief.covariance(P, P)
    noise = torch.maximum(belief.noise, 1e-10 * belief.amplitude)
    drawn = draw_at_points(belief, mean, covariance, noise, draws, source, excluded)

    variance = covariance[..., -1, -1].clamp(min=0.0) + noise
    leverage = covariance[..., :-1, -1] / variance[..., None]
    fantasies = mean[..., -1, None] + variance.sqrt()[..., None] * equally_likely(nodes).to(mean)

    before = minimizers(drawn.values[..., 0, :, :], drawn.violation.sum(-3) + drawn.exclusion)
    after = [
        entropy_given_answer(drawn, before, j)
        if likelihood is PROBIT
        else entropy_given_number(drawn, belief, j, leverage[..., j, :], fantasies[..., j, :])
        for j, likelihood in enumerate(belief.likelihoods)
    ]
    return entropy(before, G.shape[-2])[..., None] - torch.stack(after, -1)


def draw_at_points(
    belief: Belief,
    mean: Float[Tensor, "*b j p"],
    covariance: Float[Tensor, "*b j p p"],
    noise: Float[Tensor, "*b j"],
    draws: int,
    source: Source,
    excluded: Bool[Tensor, "*w g"] | None,
) -> PointDraws:
    """Joint draws of these moments at p = g + 1 points, the last of them u."""
    root = cholesky(covariance, belief.amplitude)
    *shape, p = mean.shape
    z = mean[..., None, :] + normal(source, *shape, draws, p, like=mean) @ root.mT
    measured = z[..., -1] + noise.sqrt()[..., None] * normal(source, *shape, draws, like=mean)
    exclusion = torch.zeros_like(mean[..., 0, None, :-1])
    if excluded is not None:
        exclusion = torch.where(for_hyper_samples(belief, excluded[..., None]).mT, NEVER, 0.0).to(mean)
    values = z[..., :-1]
    violation = [row_violation(belief, j, values[..., j, :, :]) for j in range(values.shape[-3])]
    return PointDraws(values, z[..., -1], measured, torch.stack(violation, -3), exclusion)


def row_violation(belief: Belief, j: int, values: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """How far the values (*b, ..) of a row are from feasible, squared, in prior deviations."""
    conditions = belief.likelihoods.conditions
    batch = belief.amplitude.shape[:-1]

    def of_row(numbers: Float[Tensor, "*b j"]) -> Tensor:
        return numbers[..., j].view(*batch, *(1,) * (values.dim() - len(batch)))

    if conditions is None:
        short = values.clamp(max=0.0) if j else torch.zeros_like(values)
    else:
        short = torch.maximum(of_row(conditions.low) - values, values - of_row(conditions.high)).clamp(min=0.0)
    return (short / of_row(belief.amplitude).sqrt()).square()


def entropy_given_number(
    drawn: PointDraws,
    belief: Belief,
    j: int,
    leverage: Float[Tensor, "*b g"],
    fantasies: Float[Tensor, "*b q"],
) -> Float[Tensor, "*b"]:
    """Entropy of the minimizer once row j is measured at u, on average over equally probable values of it.

    Given a value y each draw becomes z + leverage (y - measured), leverage = kappa(., u) / (kappa(u, u) + noise): a
    draw from the belief that knows y (Matheron's rule).
    """
    surprise = fantasies[..., None] - drawn.measured[..., j, None, :]
    updated = drawn.values[..., j, None, :, :] + leverage[..., None, None, :] * surprise[..., None]
    f = updated if j == 0 else drawn.values[..., 0, None, :, :]
    others = torch.cat([drawn.violation[..., :j, :, :], drawn.violation[..., j + 1 :, :, :]], -3).sum(-3)
    violation = others[..., None, :, :] + row_violation(belief, j, updated)
    total = violation + drawn.exclusion[..., None, :, :]
    return entropy(minimizers(*torch.broadcast_tensors(f, total)), f.shape[-1]).mean(-1)


def entropy_given_answer(drawn: PointDraws, minimizer: Int[Tensor, "*b s"], j: int) -> Float[Tensor, "*b"]:
    """Entropy of the minimizer once row j has answered at u, on average over yes and no.

    Given an answer, each draw counts with the probability that it would have given it, which for a yes is Phi(z(u)).
    """
    yes = torch.special.ndtr(drawn.at_u[..., j, :])
    weight = torch.stack([yes, 1 - yes], -2)
    given = entropy(minimizer[..., None, :].expand_as(weight), drawn.values.shape[-1], weight)
    return (weight.mean(-1) * given).sum(-1)


def equally_likely(count: int) -> Float[Tensor, " count"]:
    """The means of as many equally probable parts of a standard normal.

    The entropy bends sharply where a value changes the minimizer, and Gauss-Hermite quadrature, for smooth functions,
    errs up to twice as much with as many values.
    """
    edges = torch.special.ndtri(torch.linspace(0, 1, count + 1, dtype=torch.float64))
    return -count * log_density(edges).exp().diff()


def minimizers(f: Float[Tensor, "*b g"], violation: Float[Tensor, "*b g"]) -> Int[Tensor, "*b"]:
    """The lowest of the points without violation, or the one of least violation where there is none."""
    return torch.where(violation > 0, f.amax(-1, keepdim=True) + 1 + violation, f).argmin(-1)


def entropy(which: Int[Tensor, "*b s"], cells: int, weight: Float[Tensor, "*b s"] | None = None) -> Float[Tensor, "*b"]:
    """Entropy in nats of the distribution that the samples are of, weighted or not.

    With the correction of Miller and Madow, half the number of other occupied cells per sample: knowing more leaves
    fewer of them, so without it the gains come out too small.
    """
    weight = torch.ones_like(which, dtype=torch.float64) if weight is None else weight
    weight = weight / weight.sum(-1, keepdim=True).clamp(min=1e-300)
    share = weight.new_zeros(*which.shape[:-1], cells).scatter_add(-1, which, weight)
    occupied = (share > 0).sum(-1)
    return -torch.xlogy(share, share).sum(-1) + 0.5 * (occupied - 1) * weight.square().sum(-1)
