"""What a measurement is worth, from groups of joint samples: see `groups`."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.base import AcquisitionFunction
from pesky.acquire.entropy.groups import BLOCK, Draws, Groups, Whitened, sum_by
from pesky.acquire.fantasy import Pending
from pesky.infer.gaussian import cholesky, log_cdf, log_density
from pesky.infer.predict import VARIANCE_FLOOR
from pesky.model.belief import Belief, PosteriorMoments, over_samples
from pesky.optimum.sample import Optima

CENTERS = 64
"""Of each batch element, the most probable cells that the search looks near."""
PARTS = 20
"""Parts of the samples that are left out in turn, for the standard error."""
NODES = 12
"""Values of what is pending, for the entropy of an answer once it is known."""


class Sums(NamedTuple):
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
        return left / (self.size - 1).clamp(min=1.0)

    @property
    def weight(self) -> Float[Tensor, "*b h"]:
        """The share of each group, h = g - 1 of them."""
        members = self.size[..., 0, :-1, 0]
        return members / members.sum(-1, keepdim=True)


class Awaited(NamedTuple):
    """What the pending measurements will tell, within each group."""

    known: Float[Tensor, "*b j g r p"]
    """The covariance of w with the pending measurements, these whitened."""
    spent: Float[Tensor, "*b j g 1"]
    """Degrees of freedom that estimating this covariance takes."""


class Moments(NamedTuple):
    """Of each row at x in each group, and last in all samples, once what is pending is known."""

    mean: Float[Tensor, "*b j g x"]
    variance: Float[Tensor, "*b j g x"]
    explained: Float[Tensor, "*b j g x"]
    """By how much what is pending lowers the variance: that of the mean, which it moves."""
    estimated: Float[Tensor, "*b j g x"]
    """The part of the variance that was estimated from samples."""
    freedom: Float[Tensor, "*b #j g 1"]
    """Degrees of freedom of this estimate."""


class GroupedGain(AcquisitionFunction):
    """Expected gains in nats, one per row: by how much knowing the cell of x* lowers the entropy of a measurement.

    Of yes/no rows the entropy is that of the answer, from the moments of the latent function in each group
    (METHOD 20.3). The bias of entropies estimated from few samples is taken off. The entropy before, too, is that of
    the samples, all of them, though the belief has it exactly: where x* matters little, the errors of both are the same
    and cancel.
    """

    def __init__(
        self,
        belief: Belief,
        whitened: Whitened,
        cells: Float[Tensor, "*b n d"],
        draws: Draws,
        groups: Groups,
        pending: Pending | None,
        optima: Optima | None = None,
    ) -> None:
        """The landmarks of `whitened` must include the pending points."""
        heaviest = groups.cell[..., :CENTERS, None].expand(*groups.cell[..., :CENTERS].shape, cells.shape[-1])
        near = over_samples(belief, torch.gather(cells, -2, heaviest), 2).flatten(-3, -2)
        super().__init__(belief, near, over_samples(belief, groups.size[..., :CENTERS] > 0).flatten(-2), optima)
        self.whitened, self.groups, self.w = whitened, groups, draws.w
        self.amplitude = belief.amplitude
        self.noise = torch.maximum(belief.noise, 1e-10 * belief.amplitude)
        self.yes_no = belief.binary.nonzero()[:, 0]
        self.infeasible_share = float((~draws.feasible).double().mean())
        """Of all samples, those that are feasible nowhere."""
        self.memory_per_point = draws.w[..., 0].numel()
        self.awaited = None if pending is None else self._await(pending)

    def forward(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x"]:
        moments, b = self.whitened(X)
        return self._gains(moments, b, self._sums(self.w @ b))

    @torch.no_grad()
    def measured(self, X: Float[Tensor, "x d"]) -> tuple[Float[Tensor, "x j"], Float[Tensor, "x j"]]:
        """The values, as `values` has them, and their standard errors.

        These are by the jackknife: from how the values change as a part of the samples is left out. With points
        pending they are too large: what these tell stays that of all samples.
        """
        size = PARTS * self.w.shape[:-2].numel() * (self.groups.cell.shape[-1] + 1)
        found = [self._measured(chunk) for chunk in X.split(max(1, BLOCK[X.device.type] // size))]
        value, error = (torch.cat(each) for each in zip(*found, strict=True))
        return value, error

    def _measured(self, X: Float[Tensor, "x d"]) -> tuple[Float[Tensor, "x j"], Float[Tensor, "x j"]]:
        here = X.expand(*self.batch, *X.shape)
        moments, b = self.whitened(here)
        slots, samples = self.groups.cell.shape[-1] + 1, self.w.shape[-2]
        part = torch.arange(samples, device=X.device) % PARTS
        member = part * slots + self.groups.member
        one = torch.ones_like(self.groups.member, dtype=b.dtype)[..., None, :, None]
        shape = (*b.shape[:-2], PARTS, slots, X.shape[-2])
        count = sum_by(one, member, PARTS * slots).view(*self.batch, 1, PARTS, slots, 1)
        total, square = b.new_zeros(shape), b.new_zeros(shape)
        block = max(1, BLOCK[X.device.type] // (self.memory_per_point // samples * X.shape[-2]))
        for at in range(0, samples, block):
            along, some = self.w[..., at : at + block, :] @ b, member[..., at : at + block]
            total += sum_by(along, some, PARTS * slots).view(shape)
            square += sum_by(along.square(), some, PARTS * slots).view(shape)

        whole = [_and_all(t.sum(-3)) for t in (count, total, square)]
        parts = [_and_all(t).unbind(-3) for t in (count, total, square)]
        value = self._gains(moments, b, Sums(*whole))
        left_out = torch.stack([
            self._gains(moments, b, Sums(*(t - t_part for t, t_part in zip(whole, part, strict=True))))
            for part in zip(*parts, strict=True)
        ])  # fmt: skip
        variance = (PARTS - 1) * left_out.var(0, correction=0).reshape(-1, *value.shape[-2:])
        return value.reshape(variance.shape).mean(0).mT, variance.sum(0).sqrt().mT / len(variance)

    def _sums(self, along: Float[Tensor, "*b j s x"]) -> Sums:
        member, slots = self.groups.member, self.groups.cell.shape[-1] + 1
        one = torch.ones_like(member, dtype=along.dtype)[..., None, :, None]
        total, square = (_and_all(sum_by(t, member, slots)) for t in (along, along.square()))
        return Sums(_and_all(sum_by(one, member, slots)), total, square)

    def _gains(self, moments: PosteriorMoments, b: Float[Tensor, "*b j r x"], sums: Sums) -> Float[Tensor, "*b j x"]:
        now = self._moments(moments, b, sums)
        entropy = _entropy(now, self.noise)
        if len(self.yes_no):
            answers = Moments(*(t if t.shape[-3] == 1 else t.index_select(-3, self.yes_no) for t in now))
            entropy = entropy.index_copy(-3, self.yes_no, _answer_entropy(answers, sums.size))
        return entropy[..., -1, :] - (sums.weight[..., None, :, None] * entropy[..., :-1, :]).sum(-2)

    def _moments(self, moments: PosteriorMoments, b: Float[Tensor, "*b j r x"], sums: Sums) -> Moments:
        """The moments at x from those along b: of the residual nothing is learnt."""
        variance, freedom = sums.variance, (sums.size - 1).clamp(min=1.0)
        explained = torch.zeros_like(variance)
        if self.awaited is not None:
            # Gaussian conditioning within each group; a regression on p values of n samples leaves
            # (n - 1 - p) / (n - 1) of the variance that there is.
            explained = (self.awaited.known.mT @ b[..., None, :, :]).square().sum(-2)
            left = (freedom - self.awaited.spent).clamp(min=1.0)
            variance, freedom = (variance - explained).clamp(min=0.0) * (freedom / left), left
        residual = (moments.variance - b.square().sum(-2)).clamp(min=0.0)
        floor = VARIANCE_FLOOR * self.amplitude[..., None, None]
        total = (residual[..., None, :] + variance).clamp(min=floor)
        return Moments(moments.mean[..., None, :] + sums.mean, total, explained, variance, freedom)

    def _await(self, pending: Pending) -> Awaited:
        """Within each group, w and the pending measurements are taken for jointly Gaussian."""
        _, b = self.whitened(pending.X.expand(*self.batch, *pending.X.shape))
        p, slots = b.shape[-1], self.groups.cell.shape[-1] + 1
        drawn = self.w @ b
        everything = torch.cat([self.w, drawn], -1)
        sums = self._sums(everything)
        columns = [
            _and_all(sum_by(everything * drawn[..., i, None], self.groups.member, slots))
            - sums.total * sums.mean[..., i - p, None]
            for i in range(p)
        ]
        measured = pending.rows.mT[:, None, None, :]
        covariance = torch.stack(columns, -1) / (sums.size - 1).clamp(min=1.0)[..., None]
        covariance = torch.where(measured, covariance, 0.0)
        of_values = torch.where(measured.mT, covariance[..., -p:, :], 0.0)
        other = torch.where(pending.rows.mT, self.noise[..., None], self.amplitude[..., None])
        of_measurements = of_values + torch.diag_embed(other)[..., None, :, :]
        root = cholesky(of_measurements, self.amplitude[..., None].expand(of_values.shape[:-2]), jitter=1e-14)
        known = torch.linalg.solve_triangular(root, covariance[..., :-p, :].mT, upper=False).mT
        return Awaited(known, torch.cholesky_solve(of_values, root).diagonal(dim1=-2, dim2=-1).sum(-1, keepdim=True))


def _and_all(sums: Float[Tensor, "*b g x"]) -> Float[Tensor, "*b g x"]:
    """The sum over all samples in place of that over those in no group."""
    return torch.cat([sums[..., :-1, :], sums.sum(-2, keepdim=True)], -2)


def _entropy(now: Moments, noise: Float[Tensor, "*b j"]) -> Float[Tensor, "*b j g x"]:
    """1/2 log(v + noise), less its bias: a part u of v is a sample variance of f degrees of freedom.

    That has the variance 2 u^2 / f, and log the second derivative -1 / (v + noise)^2: - u^2 / (v + noise)^2 / (2 f).
    Where u is all, it is [digamma(f / 2) - log(f / 2)] / 2, which therefore stands for - 1 / (2 f): it is right down to
    one degree of freedom.
    """
    measured = now.variance + noise[..., None, None]
    small = torch.digamma(now.freedom / 2) - torch.log(now.freedom / 2)
    return 0.5 * (measured.log() - (now.estimated / measured).square() * small)


def _answer_entropy(now: Moments, size: Float[Tensor, "*b 1 g 1"]) -> Float[Tensor, "*b r g x"]:
    """The entropy of an answer of probability Phi(latent), expected over what is pending, and less its bias.

    H(a), a = m / sqrt(1 + v), to second order in m, of variance u / n, and in v, of variance 2 u^2 / f.
    """
    spread = 1 + now.variance
    mean = now.mean[..., None]
    weight = mean.new_ones(1)
    if bool((now.explained > 0).any()):
        node, share = np.polynomial.hermite_e.hermegauss(NODES)
        # The square root has no derivative at zero, where nothing of what is pending is near.
        mean = mean + (now.explained + 1e-12).sqrt()[..., None] * torch.from_numpy(node).to(mean)
        weight = torch.from_numpy(share / share.sum()).to(mean)
    a = mean / spread.sqrt()[..., None]
    log_yes, log_no = log_cdf(a), log_cdf(-a)
    entropy = -(log_yes.exp() * log_yes + log_no.exp() * log_no)
    slope = (log_no - log_yes) * log_density(a).exp()
    curvature = -torch.exp(2 * log_density(a) - log_yes - log_no) - a * slope
    of_mean = (now.estimated / spread / size.clamp(min=1.0))[..., None]
    of_variance = ((now.estimated / spread).square() / now.freedom)[..., None]
    bias = 0.5 * curvature * (of_mean + 0.5 * a.square() * of_variance) + 0.75 * a * slope * of_variance
    return ((entropy - bias) * weight).sum(-1)
