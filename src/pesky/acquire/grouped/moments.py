"""Moments of each row at x within each group of joint samples, once what is pending is known (METHOD 15).

A row at x is mean + b^T e + residual, in whitened coordinates e (see `inducing`). Knowing the group says nothing of the
residual, so in group g

    E_g z = mean + E_g(b^T e),    Var_g z = Var(residual) + Var_g(b^T e),

with the empirical mean and variance of b^T e over the members. While measurements are running, b^T e is a surprise and
what they predict of it (see `awaited`), and these are taken for jointly Gaussian within each group: what is left of the
variance is that of the surprise, regressed on the prediction.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.grouped.awaited import SampledAt
from pesky.acquire.grouped.joint_samples import Groups, PairMembers, sum_by_group
from pesky.infer.predict import VARIANCE_FLOOR

MIRRORED = (-1, 1, -1, 1, 1)
"""The sign of each of the powers of a mirror image."""


def powers(
    value: Float[Tensor, "*b j h x"], predicted: Float[Tensor, "*b j h x"] | None = None
) -> tuple[Float[Tensor, "*b j h x"], ...]:
    """What is summed over groups: the value and its square; and where u is predicted of it, u, u^2 and the product."""
    if predicted is None:
        return value, value.square()
    return value, value.square(), predicted, predicted.square(), value * predicted


class GroupSums(NamedTuple):
    """Over the members of each of g - 1 groups, and last over all samples, of whichever group or none."""

    size: Float[Tensor, "*b 1 g 1"]
    powers: tuple[Float[Tensor, "*b j g x"], ...]

    @property
    def mean(self) -> Float[Tensor, "*b j g x"]:
        """Of the value, with what is predicted of it."""
        total = self.powers[0] + self.powers[2] if self.has_prediction else self.powers[0]
        return total / self.size.clamp(min=1.0)

    @property
    def has_prediction(self) -> bool:
        return len(self.powers) > 2

    def covariance(self, first: int, second: int, product: int) -> Float[Tensor, "*b j g x"]:
        """Of two of the powers, of which another is the product."""
        # The means of the groups are within some deviations of 0, that of all samples: little cancels.
        both = self.powers[first] * self.powers[second] / self.size.clamp(min=1.0)
        return (self.powers[product] - both) / self.degrees_of_freedom

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
        left = tuple(whole - some for whole, some in zip(self.powers, part.powers, strict=True))
        return GroupSums(self.size - part.size, left)


def sum_powers(values: tuple[Float[Tensor, "*b j h x"], ...], members: PairMembers) -> list[Float[Tensor, "*b j g x"]]:
    """The sums of each of these powers over the members of each group, mirror images among them."""
    return [sum_by_group(power, members, mirrored) for power, mirrored in zip(values, MIRRORED, strict=False)]


def sizes(groups: Groups) -> Float[Tensor, "*b 1 g 1"]:
    """How many samples each group has, and last all of them."""
    everyone = torch.full_like(groups.size[..., :1], groups.member.shape[-1])
    return torch.cat([groups.size, everyone], -1)[..., None, :, None]


def last_of_all(sums: Float[Tensor, "*b g x"]) -> Float[Tensor, "*b g x"]:
    """The sums, the last of them over all samples in place of those in no group."""
    return torch.cat([sums[..., :-1, :], sums.sum(-2, keepdim=True)], -2)


TINY = 1e-300
"""Divisors are no less, where the quotient does not count."""


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


def group_moments(at: SampledAt, sums: GroupSums, amplitude: Float[Tensor, "*b j"]) -> GroupMoments:
    """The moments at x, of the sums over the groups."""
    sampled, freedom = sums.covariance(0, 0, 1).clamp(min=0.0), sums.degrees_of_freedom
    explained = torch.zeros_like(sampled)
    if sums.has_prediction:
        of_predicted, with_predicted = sums.covariance(2, 2, 3).clamp(min=0.0), sums.covariance(0, 2, 4)
        # Of a row that is not awaited anywhere nothing is predicted.
        slope = torch.where(of_predicted > 0, with_predicted / of_predicted.clamp(min=TINY), 0.0)
        explained = (1 + slope).square() * of_predicted
        # What a regression on one value leaves of n samples' variance is on average (n - 2) / (n - 1) of it.
        left = (freedom - 1).clamp(min=1.0)
        sampled, freedom = (sampled - slope * with_predicted).clamp(min=0.0) * (freedom / left), left
    floor = VARIANCE_FLOOR * amplitude[..., None, None]
    variance = (at.unsampled[..., None, :] + sampled).clamp(min=floor)
    return GroupMoments(at.mean[..., None, :] + sums.mean, variance, explained, sampled, freedom)
