"""What a measurement is worth, from joint samples in groups: the gain of RS and RSDG (METHOD 15)."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.acquire.base import FINEST, AcquisitionFunction, Context
from pesky.acquire.fantasy import Pending
from pesky.acquire.grouped.active import ActiveRows, active_rows
from pesky.acquire.grouped.entropy import answer_entropy, number_entropy
from pesky.acquire.grouped.inducing import WhitenedBelief, whiten
from pesky.acquire.grouped.joint_samples import (
    BLOCK,
    Groups,
    JointSamples,
    draw_joint_samples,
    first_pairs,
    group_by_cell,
    sum_by_group,
    values_at,
)
from pesky.acquire.grouped.moments import (
    GroupMoments,
    GroupSums,
    group_moments,
    last_of_all,
    regress_on_pending,
    sum_groups,
)
from pesky.likelihood.rows import PROBIT
from pesky.model.belief import Belief, PosteriorMoments, over_hyper_samples, studies
from pesky.numerics.rng import draw_seeds
from pesky.optimum.sample import Optima

CENTERS = 64
"""Of each batch element, the most probable cells that the search looks near."""
PARTS = 20
"""Parts of the samples that are left out in turn, for the standard error."""
SMALLEST_GROUP = 2
ROUGHLY = 4
"""One in so many of the samples leaves a few of many points."""


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
        whitened: WhitenedBelief,
        cells: Float[Tensor, "*b n d"],
        samples: JointSamples,
        groups: Groups,
        pending: Pending | None,
        optima: Optima | None = None,
        resolution: float = FINEST,
        active: ActiveRows | None = None,
    ) -> None:
        """The inducing points of `whitened` must include the pending points.

        Samples and whitened belief are of the active rows alone, where these are given.
        `resolution` is the least noise that a measurement is taken to have, as a share of the prior variance.
        """
        heaviest = groups.cell[..., :CENTERS, None].expand(*groups.cell[..., :CENTERS].shape, cells.shape[-1])
        near = over_hyper_samples(belief, torch.gather(cells, -2, heaviest), 2).flatten(-3, -2)
        super().__init__(belief, near, over_hyper_samples(belief, groups.size[..., :CENTERS] > 0).flatten(-2), optima)
        self.whitened, self.groups, self.coordinates = whitened, groups, samples.coordinates
        self._samples, self._cells, self._resolution = samples, cells, resolution
        self.active = active
        if active is not None:
            belief, pending = active.belief, active.pending(pending)
        self.amplitude = belief.amplitude
        self.noise = torch.maximum(belief.noise, resolution * belief.amplitude)
        self.is_coarse = resolution > FINEST and bool((self.noise > belief.noise).any())
        self.answered = belief.likelihoods.rows_of(PROBIT, belief.amplitude.device)
        """Rows whose measurement is a yes or a no."""
        self.infeasible_share = float((~samples.is_feasible).double().mean())
        """Of all samples, those that are feasible nowhere."""
        self.memory_per_point = 2 * samples.coordinates[..., 0].numel()
        self.pending = None
        if pending is not None:
            _, loadings = whitened(pending.X.expand(*self.batch, *pending.X.shape))
            self.pending = regress_on_pending(
                samples.coordinates, groups, loadings, pending.rows.mT, self.noise, belief.amplitude
            )

    def rough(self) -> AcquisitionFunction | None:
        if self.pending is not None:
            return None
        few = first_pairs(self._samples, self.coordinates.shape[-2] // ROUGHLY)
        groups = group_by_cell(few, self._cells.shape[-2], SMALLEST_GROUP)
        return GroupedGain(
            self.belief, self.whitened, self._cells, few, groups, None, None, self._resolution, self.active
        )

    def forward(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x"]:
        moments, loadings = self.whitened(X)
        return self._gains(moments, loadings, sum_groups(values_at(self.coordinates, loadings), self.groups))

    def _gains(
        self, moments: PosteriorMoments, loadings: Float[Tensor, "*b a r x"], sums: GroupSums
    ) -> Float[Tensor, "*b j x"]:
        """The entropy of all samples, less that of the groups on average; computed of the active rows a."""
        now = group_moments(moments, loadings, sums, self.pending, self.amplitude)
        entropy = number_entropy(now, self.noise)
        if len(self.answered):
            answers = GroupMoments(*(t if t.shape[-3] == 1 else t.index_select(-3, self.answered) for t in now))
            entropy = entropy.index_copy(-3, self.answered, answer_entropy(answers, sums.size))
        gains = entropy[..., -1, :] - (sums.share[..., None, :, None] * entropy[..., :-1, :]).sum(-2)
        return gains if self.active is None else self.active.gains_of_all(gains)

    @torch.no_grad()
    def with_standard_errors(self, X: Float[Tensor, "x d"]) -> tuple[Float[Tensor, "x j"], Float[Tensor, "x j"]]:
        """The values at each point, and their standard errors.

        These are by the jackknife: from how the values change as a part of the samples is left out. With points
        pending they are too large: what these tell stays that of all samples.
        """
        size = PARTS * self.coordinates.shape[:-2].numel() * (self.groups.cell.shape[-1] + 1)
        found = [self._jackknife(chunk) for chunk in X.split(max(1, BLOCK[X.device.type] // size))]
        value, error = (torch.cat(each) for each in zip(*found, strict=True))
        return value, error

    def _jackknife(self, X: Float[Tensor, "x d"]) -> tuple[Float[Tensor, "x j"], Float[Tensor, "x j"]]:
        moments, loadings = self.whitened(X.expand(*self.batch, *X.shape))
        sums_of_parts = self._sums_of_parts(loadings)
        whole = GroupSums(*(last_of_all(t.sum(-3)) for t in sums_of_parts))
        value = self._gains(moments, loadings, whole)
        left_out = torch.stack([
            self._gains(moments, loadings, whole.without(GroupSums(*part)))
            for part in zip(*(last_of_all(t).unbind(-3) for t in sums_of_parts), strict=True)
        ])  # fmt: skip
        variance = (PARTS - 1) * left_out.var(0, correction=0).reshape(-1, *value.shape[-2:])
        # Hyperparameter samples have independent errors, and their values are averaged.
        return value.reshape(variance.shape).mean(0).mT, variance.sum(0).sqrt().mT / len(variance)

    def _sums_of_parts(
        self, loadings: Float[Tensor, "*b j r x"]
    ) -> tuple[Float[Tensor, "*b 1 q g 1"], Float[Tensor, "*b j q g x"], Float[Tensor, "*b j q g x"]]:
        """Size, sum and sum of squares as in `GroupSums`, over each of q parts of the samples by itself."""
        slots, pairs, points = self.groups.cell.shape[-1] + 1, self.coordinates.shape[-2], loadings.shape[-1]
        # a sample and its mirror image are left out together
        part = (torch.arange(pairs, device=loadings.device) % PARTS).repeat(2)
        member = part * slots + self.groups.member
        one = torch.ones_like(member, dtype=loadings.dtype)[..., None, :, None]
        size = sum_by_group(one, member, PARTS * slots).unflatten(-2, (PARTS, slots))
        total = loadings.new_zeros(*loadings.shape[:-2], PARTS, slots, points)
        square = torch.zeros_like(total)
        block = max(1, BLOCK[loadings.device.type] // (self.memory_per_point // pairs * points))
        halves = member.unflatten(-1, (2, pairs))
        for at in range(0, pairs, block):
            values = values_at(self.coordinates[..., at : at + block, :], loadings)
            some = halves[..., at : at + block].flatten(-2)
            total += sum_by_group(values, some, PARTS * slots).view_as(total)
            square += sum_by_group(values.square(), some, PARTS * slots).view_as(square)
        return size, total, square


def sample_gain(
    context: Context,
    inducing_points: Float[Tensor, "*b k d"],
    cells: Float[Tensor, "*b n d"],
    cell_mask: Bool[Tensor, "*b n"],
    samples: int,
    min_group: int,
    inducing_counts: list[int] | None = None,
    optima: Optima | None = None,
    resolution: float = FINEST,
    dtype: torch.dtype = torch.float64,
) -> GroupedGain:
    """Joint samples on the cells, grouped by their minima, ready to say what a measurement at any x is worth.

    A regression on p pending points takes degrees of freedom of each group, which must have 2 p samples more.
    """
    belief, pending = context.belief, context.pending
    if pending is not None:
        min_group += 2 * len(pending.X)
        pending_points = pending.X.expand(*inducing_points.shape[:-2], *pending.X.shape)
        inducing_points = torch.cat([inducing_points, pending_points], -2)
        if inducing_counts is not None:
            inducing_counts = [count + len(pending.X) for count in inducing_counts]
    active = active_rows(belief, cells)
    whitened = whiten(active.belief, inducing_points, inducing_counts)
    seeds = draw_seeds(context.generator, *belief.amplitude.shape[len(studies(belief)) :])
    seeds = seeds.index_select(-1, active.which.cpu())
    drawn = draw_joint_samples(active.belief, whitened, cells, cell_mask, samples, seeds, dtype)
    groups = group_by_cell(drawn, cells.shape[-2], min_group)
    return GroupedGain(belief, whitened, cells, drawn, groups, pending, optima, resolution, active)
