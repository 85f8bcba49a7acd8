"""The belief at any x, given that the constrained minimum is at x* (METHOD 7 and 8)."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.infer.ep import EPState
from pesky.infer.factors import no_better
from pesky.infer.limits import Limits, log_reach

VARIANCE_FLOOR = 1e-10
"""Variances are kept above this share of the prior amplitude (METHOD 12.5); never cut from above."""


class Knowledge(NamedTuple):
    """What EP learnt, as it acts on function values at (u_1..u_N, x*); constants with respect to x."""

    weight: Float[Tensor, "*b j n"]
    """Mean at x changes by weight . kappa(x, points)."""
    reduction: Float[Tensor, "*b j n n"]
    """Variance at x changes by - kappa(x, points)^T reduction kappa(x, points)."""
    with_minimum: Float[Tensor, "*b n"]
    """Covariance of f(x) with f(x*) changes by - with_minimum . kappa(x, points)."""
    minimum_mean: Float[Tensor, "*b"]
    minimum_variance: Float[Tensor, "*b"]


def differences(values: Float[Tensor, "*b n m"]) -> Float[Tensor, "*b n m"]:
    """(v_1 .. v_N, v_0) -> (v_1 - v_0 .. v_N - v_0, v_0) along the second last dimension."""
    return torch.cat([values[..., :-1, :] - values[..., -1:, :], values[..., -1:, :]], -2)


def to_objective_differences(
    mean: Float[Tensor, "*b j n"], covariance: Float[Tensor, "*b j n n"]
) -> tuple[Float[Tensor, "*b j n"], Float[Tensor, "*b j n n"]]:
    """Joint moments of the values at (u, x*) with the objective's row turned into (f(u) - f(x*), f(x*))."""
    row_mean = differences(mean[..., 0, :, None])[..., 0]
    row_covariance = differences(differences(covariance[..., 0, :, :]).mT)
    return (
        torch.cat([row_mean[..., None, :], mean[..., 1:, :]], -2),
        torch.cat([row_covariance[..., None, :, :], covariance[..., 1:, :, :]], -3),
    )


def learn(state: EPState, values_covariance: Float[Tensor, "b j n n"]) -> Knowledge:
    """What is kept of EP: a = nu - tau m and C = T - T Sigma T, back in the basis of function values."""
    tau, nu = state.sites
    a = nu - tau * state.q.mean
    scaled_root = state.q.root_transposed * tau[..., None, :]
    c = torch.diag_embed(tau) - scaled_root.mT @ scaled_root

    weight, reduction = a.clone(), c.clone()
    weight[:, 0, -1] = a[:, 0, -1] - a[:, 0, :-1].sum(-1)
    for _ in range(2):  # D^T C D with D of `differences`, one side at a time: C is symmetric
        reduction[:, 0, -1, :] = reduction[:, 0, -1, :] - reduction[:, 0, :-1, :].sum(-2)
        reduction[:, 0] = reduction[:, 0].mT.clone()
    with_minimum = (reduction[:, 0] @ values_covariance[:, 0, :, -1:])[..., 0]
    return Knowledge(weight, reduction, with_minimum, state.q.mean[:, 0, -1], state.q.variance[:, 0, -1])


class Prediction(NamedTuple):
    """Moments of every row at every x, given each of the m samples of x*."""

    mean: Float[Tensor, "*b j m x"]
    variance: Float[Tensor, "*b j m x"]


def predict(
    knowledge: Knowledge,
    mean: Float[Tensor, "*b j #m x"],
    variance: Float[Tensor, "*b j 1 x"],
    cross: Float[Tensor, "*b j m n x"],
    amplitude: Float[Tensor, "*b j"],
    limits: Limits | None = None,
) -> Prediction:
    """Moments of every row at every x, per x*: EP's Gaussian times the exact factor "x is not better either".

    Shapes: m samples of x*, n points each, x test points; `cross` is kappa(points, x). `knowledge` has its
    sample dimension behind the row dimension.
    """
    floor = (VARIANCE_FLOOR * amplitude)[..., None, None]
    mean = mean + (knowledge.weight[..., None, :] @ cross)[..., 0, :]
    variance = (variance - ((knowledge.reduction @ cross) * cross).sum(-2)).clamp(min=floor)
    to_minimum = cross[..., 0, :, -1, :] - (knowledge.with_minimum[..., None, :] @ cross[..., 0, :, :, :])[..., 0, :]

    # d = f(x) - f(x*): at x = x* its variance and covariance vanish together, and the clamp lets the first win.
    spread = variance[..., 0, :, :] + knowledge.minimum_variance[..., None] - 2 * to_minimum
    spread = spread.clamp(min=floor[..., 0, :, :])
    difference = mean[..., 0, :, :] - knowledge.minimum_mean[..., None]
    a = torch.cat(
        [(difference / spread.sqrt())[..., None, :, :], mean[..., 1:, :, :] / variance[..., 1:, :, :].sqrt()],
        -3,
    )
    leverage = (variance[..., 0, :, :] - to_minimum) / spread.sqrt()
    ends = reach = None
    if limits is not None:
        ends = limits.ends(mean[..., 1:, :, :], variance[..., 1:, :, :].sqrt()).flatten(-2)
        if bool(torch.isfinite(limits.low).any()):
            f, f_variance, low = mean[..., 0, :, :], variance[..., 0, :, :], limits.low[..., None, None]
            reach = log_reach(low, f, f_variance, difference, spread, leverage * spread.sqrt()).flatten(-2)
    factor = no_better(a.flatten(-2), ends, reach)
    shift, remaining = factor.shift.view_as(a), factor.remaining.view_as(a)

    objective_mean = mean[..., 0, :, :] + leverage * shift[..., 0, :, :]
    objective_variance = variance[..., 0, :, :] - (1 - remaining[..., 0, :, :]) * leverage.square()
    constraint_mean = mean[..., 1:, :, :] + variance[..., 1:, :, :].sqrt() * shift[..., 1:, :, :]
    constraint_variance = variance[..., 1:, :, :] * remaining[..., 1:, :, :]
    return Prediction(
        torch.cat([objective_mean[..., None, :, :], constraint_mean], -3),
        torch.cat([objective_variance[..., None, :, :], constraint_variance], -3).clamp(min=floor),
    )
