"""Moments of each row at x within each group of joint samples, once what is pending is known (METHOD 15).

A row at x is mean + b^T e + residual, in whitened coordinates e (see `inducing`). Knowing the group says nothing of the
residual, so in group g

    E_g z = mean + E_g(b^T e),    Var_g z = Var(residual) + Var_g(b^T e),

with the empirical mean and variance of b^T e over the members. While measurements y of p points are running, e and y
are taken for jointly Gaussian within each group: y explains b^T Cov_g(e, y) Cov_g(y)^-1 Cov_g(y, e) b of the variance.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.acquire.grouped.joint_samples import Groups, sum_by_group, values_at
from pesky.infer.gaussian import cholesky
from pesky.infer.predict import VARIANCE_FLOOR
from pesky.model.belief import PosteriorMoments


class GroupSums(NamedTuple):
    """Over the members of each of g - 1 groups, and last over all samples, of whichever group or none."""

    size: Float[Tensor, "*b 1 g 1"]
    total: Float[Tensor, "*b j g x"]
    square: Float[Tensor, "*b j g x"]

    @property
    def mean(self) -> Float[Tensor, "*b j g x"]:
        return self.total / self.size.clamp(min=1.0)

    @property
    def variance(self) -> Float[Tensor, "*b j g x"]:
        # The means of the groups are within some deviations of 0, that of all samples: little cancels.
        left = (self.square - self.total * self.mean).clamp(min=0.0)
        return left / self.degrees_of_freedom

    @property
    def degrees_of_freedom(self) -> Float[Tensor, "*b 1 g 1"]:
        return (self.size - 1).clamp(min=1.0)

    @property
    def share(self) -> Float[Tensor, "*b h"]:
        """Of the samples that are in any group, those in each of the h = g - 1 groups."""
        members = self.size[..., 0, :-1, 0]
        return members / members.sum(-1, keepdim=True)

    def without(self, part: "GroupSums") -> "GroupSums":
        """The sums over all samples but those of a part."""
        return GroupSums(*(whole - some for whole, some in zip(self, part, strict=True)))


def sum_groups(values: Float[Tensor, "*b j s x"], groups: Groups) -> GroupSums:
    """The sums of these values of the samples."""
    slots = groups.cell.shape[-1] + 1
    one = torch.ones_like(groups.member, dtype=values.dtype)[..., None, :, None]
    total, square = (last_of_all(sum_by_group(t, groups.member, slots)) for t in (values, values.square()))
    return GroupSums(last_of_all(sum_by_group(one, groups.member, slots)), total, square)


def last_of_all(sums: Float[Tensor, "*b g x"]) -> Float[Tensor, "*b g x"]:
    """The sums, the last of them over all samples in place of those in no group."""
    return torch.cat([sums[..., :-1, :], sums.sum(-2, keepdim=True)], -2)


class PendingRegression(NamedTuple):
    """What the pending measurements y explain of the coordinates e, within each group."""

    root: Float[Tensor, "*b j g r p"]
    """Cov(e, y) L^-T, where L L^T = Cov(y): y explains |b^T root|^2 of the variance of b^T e."""
    degrees_of_freedom: Float[Tensor, "*b j g 1"]
    """That the estimate of Cov(e, y) takes: the trace of the regression's hat matrix, p without noise."""


def regress_on_pending(
    coordinates: Float[Tensor, "*b j h r"],
    groups: Groups,
    loadings: Float[Tensor, "*b j r p"],
    measured: Bool[Tensor, "j p"],
    noise: Float[Tensor, "*b j"],
    amplitude: Float[Tensor, "*b j"],
) -> PendingRegression:
    """The regression of e on y = B^T e + noise in each group, of the loadings B at the pending points.

    Rows that are not measured at a pending point explain nothing: their covariances are zero, their variance is any.
    """
    p = loadings.shape[-1]
    values = values_at(coordinates, loadings).double()
    # Of (e, B^T e), so r + p columns, with B^T e
    mirrored = torch.cat([coordinates, -coordinates], -2).to(values)
    covariance = _group_covariances(torch.cat([mirrored, values], -1), values, groups)
    explains = measured[:, None, None, :]
    covariance = torch.where(explains, covariance, 0.0)
    of_values = torch.where(explains.mT, covariance[..., -p:, :], 0.0)
    of_errors = torch.where(measured, noise[..., None], amplitude[..., None])
    of_measurements = of_values + torch.diag_embed(of_errors)[..., None, :, :]
    L = cholesky(of_measurements, amplitude[..., None].expand(of_values.shape[:-2]), jitter=1e-14)
    root = torch.linalg.solve_triangular(L, covariance[..., :-p, :].mT, upper=False).mT
    hat = torch.cholesky_solve(of_values, L)
    return PendingRegression(root, hat.diagonal(dim1=-2, dim2=-1).sum(-1, keepdim=True))


def _group_covariances(
    left: Float[Tensor, "*b j s c"], right: Float[Tensor, "*b j s p"], groups: Groups
) -> Float[Tensor, "*b j g c p"]:
    """Empirical covariances in each group, and last in all samples; one column of `right` at a time."""
    slots = groups.cell.shape[-1] + 1
    of_left, of_right = sum_groups(left, groups), sum_groups(right, groups)
    columns = [
        last_of_all(sum_by_group(left * right[..., i, None], groups.member, slots))
        - of_left.total * of_right.mean[..., i, None]
        for i in range(right.shape[-1])
    ]
    return torch.stack(columns, -1) / of_left.degrees_of_freedom[..., None]


class GroupMoments(NamedTuple):
    """Of each row at x in each group, and last in all samples, once what is pending is known."""

    mean: Float[Tensor, "*b j g x"]
    variance: Float[Tensor, "*b j g x"]
    explained: Float[Tensor, "*b j g x"]
    """By how much what is pending lowers the variance: that of the mean, which it moves."""
    sampled: Float[Tensor, "*b j g x"]
    """The part of the variance that is estimated from samples; the residual's is known."""
    degrees_of_freedom: Float[Tensor, "*b #j g 1"]
    """Of this estimate."""


def group_moments(
    moments: PosteriorMoments,
    loadings: Float[Tensor, "*b j r x"],
    sums: GroupSums,
    pending: PendingRegression | None,
    amplitude: Float[Tensor, "*b j"],
) -> GroupMoments:
    """The moments at x, of the sums of b^T e over the groups."""
    sampled, freedom = sums.variance, sums.degrees_of_freedom
    explained = torch.zeros_like(sampled)
    if pending is not None:
        explained = (pending.root.mT @ loadings[..., None, :, :]).square().sum(-2)
        # What a regression on p values leaves of n samples' variance is on average (n - 1 - p) / (n - 1) of it.
        left = (freedom - pending.degrees_of_freedom).clamp(min=1.0)
        sampled, freedom = (sampled - explained).clamp(min=0.0) * (freedom / left), left
    residual = (moments.variance - loadings.square().sum(-2)).clamp(min=0.0)
    floor = VARIANCE_FLOOR * amplitude[..., None, None]
    variance = (residual[..., None, :] + sampled).clamp(min=floor)
    return GroupMoments(moments.mean[..., None, :] + sums.mean, variance, explained, sampled, freedom)
