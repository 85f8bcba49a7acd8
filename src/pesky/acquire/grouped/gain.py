"""What a measurement is worth, from joint samples in groups: the gain of RS and RSDG (METHOD 15)."""

from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.acquire.base import FINEST, AcquisitionFunction, Context
from pesky.acquire.grouped.active import ActiveRows, active_rows
from pesky.acquire.grouped.awaited import Awaited, SampledAt, await_pending
from pesky.acquire.grouped.entropy import answer_entropy, number_entropy
from pesky.acquire.grouped.inducing import WhitenedBelief, whiten
from pesky.acquire.grouped.joint_samples import (
    BLOCK,
    Groups,
    JointSamples,
    PairMembers,
    draw_joint_samples,
    first_part,
    group_by_cell,
    pair_members,
    sum_by_group,
    values_at,
)
from pesky.acquire.grouped.moments import GroupMoments, GroupSums, group_moments, last_of_all, powers, sizes, sum_powers
from pesky.acquire.grouped.number_gain import NumberGroups, number_gain, number_groups
from pesky.acquire.maximize import Effort
from pesky.likelihood.rows import PROBIT
from pesky.model.belief import Belief, over_hyper_samples, studies
from pesky.numerics.rng import draw_seeds
from pesky.optimum.sample import Optima

CENTERS = 64
"""Of each batch element, the most probable cells that the search looks near."""
MORE = 2
"""Samples that a group must have besides where something is pending."""
JACKKNIFE_PARTS = 20
"""Parts of the samples that are left out in turn, for the standard error."""
SMALLEST_GROUP = 2
STEPS, RADIUS = 5, (1e-3, 0.3)
"""Of an ascent of the gain, and the least and largest length of the first."""
CANDIDATES = 128
"""Points all over the space that are looked at: half of others' are enough, since it is large near the cells."""


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
        awaited: Awaited | None,
        optima: Optima | None = None,
        resolution: float = FINEST,
        active: ActiveRows | None = None,
    ) -> None:
        """`awaited` is the samples beside what is pending, if anything is.

        Samples and whitened belief are of the active rows alone, where these are given.
        `resolution` is the least noise that a measurement is taken to have, as a share of the prior variance.
        """
        heaviest = groups.cell[..., :CENTERS, None].expand(*groups.cell[..., :CENTERS].shape, cells.shape[-1])
        near = over_hyper_samples(belief, torch.gather(cells, -2, heaviest), 2).flatten(-3, -2)
        super().__init__(belief, near, over_hyper_samples(belief, groups.size[..., :CENTERS] > 0).flatten(-2), optima)
        self.whitened, self.cells, self.samples, self.groups = whitened, cells, samples, groups
        self.awaited, self.resolution = awaited, resolution
        self.active = active
        belief = belief if active is None else active.belief
        self.amplitude, self.noise = belief.amplitude, _noise(belief, resolution)
        self.is_coarse = resolution > FINEST and bool((self.noise > belief.noise).any())
        self.answered = belief.likelihoods.rows_of(PROBIT, belief.amplitude.device)
        """Rows whose measurement is a yes or a no."""
        self.infeasible_share = float((~samples.is_feasible).double().mean())
        """Of all samples, those that are feasible nowhere."""
        self.memory_per_point = samples.order.numel() * (2 if awaited is None else 5)

    @property
    def effort(self) -> Effort:
        """With first steps a quarter as long as cells are from their mean: over such distances the gain varies."""
        cells, share = self.search_centers, self.search_mask.to(self.search_centers)[..., None]
        share = share / share.sum(-2, keepdim=True)
        apart = cells - (share * cells).sum(-2, keepdim=True)
        distance = (share * apart.square()).sum((-2, -1)).sqrt()
        return Effort(steps=STEPS, radius=(distance / 4).clamp(*RADIUS), candidates=CANDIDATES)

    def rough(self) -> AcquisitionFunction | None:
        few = first_part(self.samples)
        awaited = self.awaited and self.awaited.first_pairs(few.order.shape[-1])
        groups = group_by_cell(few, self.cells.shape[-2], SMALLEST_GROUP if awaited is None else SMALLEST_GROUP + MORE)
        parts = (self.belief, self.whitened, self.cells, few, groups, awaited)
        return GroupedGain(*parts, None, self.resolution, self.active)

    def forward(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x"]:
        at = self._at(X)
        if self.awaited is None and not len(self.answered):
            return self._of_all_rows(number_gain(at, self._numbers))
        sums = tuple(map(last_of_all, sum_powers(self._powers(at), self._members)))
        return self._gains(at, GroupSums(sizes(self.groups), sums))

    @cached_property
    def _members(self) -> PairMembers:
        return pair_members(self.groups.member, self.amplitude.shape[-1], self.groups.cell.shape[-1] + 1)

    @cached_property
    def _coordinates(self) -> Float[Tensor, "*b a h r"]:
        return self.samples.coordinates

    @cached_property
    def _numbers(self) -> NumberGroups:
        rows, slots, sums = self.amplitude.shape[-1], self.groups.cell.shape[-1] + 1, GroupSums(sizes(self.groups), ())
        members = pair_members(self.groups.member, rows, slots, self.samples.order)
        return number_groups(self.samples.vectors, members, sums, self.noise, self.amplitude)

    def _of_all_rows(self, gains: Float[Tensor, "*b a x"]) -> Float[Tensor, "*b j x"]:
        return gains if self.active is None else self.active.gains_of_all(gains)

    def _at(self, X: Float[Tensor, "*b x d"]) -> SampledAt:
        """What makes the values of the samples at x."""
        if self.awaited is not None:
            return self.awaited(X)
        moments, loadings = self.whitened(X)
        return SampledAt(moments.mean, (moments.variance - loadings.square().sum(-2)).clamp(min=0.0), loadings)

    def _powers(self, at: SampledAt, some: slice = slice(None)) -> tuple[Float[Tensor, "*b j h x"], ...]:
        """Of some of the samples, what is summed over groups; of their mirror images it is the same but for signs."""
        if self.awaited is None or at.weights is None:
            return powers(values_at(self._coordinates[..., some, :], at.loadings))
        surprise = values_at(self.awaited.coordinates[..., some, :], at.loadings)
        return powers(surprise, values_at(self.awaited.measured[..., some, :], at.weights))

    def _gains(self, at: SampledAt, sums: GroupSums) -> Float[Tensor, "*b j x"]:
        """The entropy of all samples, less that of the groups on average; computed of the active rows a."""
        now = group_moments(at, sums, self.amplitude)
        entropy = number_entropy(now, self.noise)
        if len(self.answered):
            answers = GroupMoments(*(t if t.shape[-3] == 1 else t.index_select(-3, self.answered) for t in now))
            entropy = entropy.index_copy(-3, self.answered, answer_entropy(answers, sums.size))
        gains = entropy[..., -1, :] - (sums.share[..., None, :, None] * entropy[..., :-1, :]).sum(-2)
        return self._of_all_rows(gains)

    def beside(self, context: Context, resolution: float, min_group: int) -> "GroupedGain":
        """The same samples, beside what is pending in the context: nothing else may have changed."""
        assert context.belief is self.belief
        assert self.active is not None
        parts = (self.belief, self.whitened, self.cells, self.samples, min_group, self.optima, resolution, self.active)
        return _grouped(context, *parts)

    @torch.no_grad()
    def with_standard_errors(self, X: Float[Tensor, "x d"]) -> tuple[Float[Tensor, "x j"], Float[Tensor, "x j"]]:
        """The values at each point, and their standard errors.

        These are by the jackknife: from how the values change as a part of the samples is left out. With points
        pending they are too large: what these tell stays that of all samples.
        """
        size = JACKKNIFE_PARTS * self.samples.order.shape[:-1].numel() * (self.groups.cell.shape[-1] + 1)
        found = [self._jackknife(chunk) for chunk in X.split(max(1, BLOCK[X.device.type] // size))]
        value, error = (torch.cat(each) for each in zip(*found, strict=True))
        return value, error

    def _jackknife(self, X: Float[Tensor, "x d"]) -> tuple[Float[Tensor, "x j"], Float[Tensor, "x j"]]:
        at = self._at(X.expand(*self.batch, *X.shape))
        size, *sums = self._sums_of_parts(at)
        whole = GroupSums(last_of_all(size.sum(-3)), tuple(last_of_all(t.sum(-3)) for t in sums))
        value = self._gains(at, whole)
        left_out = torch.stack([
            self._gains(at, whole.without(GroupSums(own, tuple(part))))
            for own, *part in zip(*(last_of_all(t).unbind(-3) for t in (size, *sums)), strict=True)
        ])  # fmt: skip
        variance = (JACKKNIFE_PARTS - 1) * left_out.var(0, correction=0).reshape(-1, *value.shape[-2:])
        # Hyperparameter samples have independent errors, and their values are averaged.
        return value.reshape(variance.shape).mean(0).mT, variance.sum(0).sqrt().mT / len(variance)

    def _sums_of_parts(self, at: SampledAt) -> list[Float[Tensor, "*b _ t g _"]]:
        """The size and then the sums as in `GroupSums`, over each of t parts of the samples by itself."""
        slots, pairs, points = self.groups.cell.shape[-1] + 1, self.samples.order.shape[-1], at.mean.shape[-1]
        # a sample and its mirror image are left out together
        part = (torch.arange(pairs, device=at.mean.device) % JACKKNIFE_PARTS).repeat(2)
        halves = (part * slots + self.groups.member).unflatten(-1, (2, pairs))
        block = max(1, BLOCK[at.mean.device.type] // (self.memory_per_point // pairs * points))
        sums: list[Tensor] = []
        for start in range(0, pairs, block):
            some = slice(start, start + block)
            member, values = halves[..., some].flatten(-2), self._powers(at, some)
            one = torch.ones_like(member[..., : member.shape[-1] // 2], dtype=values[0].dtype)[..., None, :, None]
            size = sum_by_group(one, pair_members(member, 1, JACKKNIFE_PARTS * slots), 1)
            found = [size, *sum_powers(values, pair_members(member, at.mean.shape[-2], JACKKNIFE_PARTS * slots))]
            added = [t.unflatten(-2, (JACKKNIFE_PARTS, slots)) for t in found]
            sums = [a + b for a, b in zip(sums, added, strict=True)] if sums else added
        return sums


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
    indifference: float | None = None,
) -> GroupedGain:
    """Joint samples on the cells, grouped by their minima, ready to say what a measurement at any x is worth.

    The regression on what is pending takes a degree of freedom of each group, which must have `MORE` samples then.
    """
    belief = context.belief
    active = active_rows(belief, cells)
    whitened = whiten(active.belief, inducing_points, inducing_counts)
    seeds = _seeds(context, active)
    drawn = draw_joint_samples(active.belief, whitened, cells, cell_mask, samples, seeds, dtype, indifference)
    return _grouped(context, belief, whitened, cells, drawn, min_group, optima, resolution, active)


def _grouped(
    context: Context,
    belief: Belief,
    whitened: WhitenedBelief,
    cells: Float[Tensor, "*b n d"],
    samples: JointSamples,
    min_group: int,
    optima: Optima | None,
    resolution: float,
    active: ActiveRows,
) -> GroupedGain:
    pending, awaited = active.pending(context.pending), None
    groups = group_by_cell(samples, cells.shape[-2], min_group if pending is None else min_group + MORE)
    if pending is not None:
        seeds, noise = _seeds(context, active), _noise(active.belief, resolution)
        awaited = await_pending(active.belief, whitened, samples.coordinates, pending, noise, seeds)
    return GroupedGain(belief, whitened, cells, samples, groups, awaited, optima, resolution, active)


def _noise(belief: Belief, resolution: float) -> Float[Tensor, "*b j"]:
    """Of a measurement, and no less than the resolution, a share of the prior variance."""
    return torch.maximum(belief.noise, resolution * belief.amplitude)


def _seeds(context: Context, active: ActiveRows) -> Int[Tensor, "*b a"]:
    """A seed for each of the active rows, whichever others are active."""
    belief = context.belief
    seeds = draw_seeds(context.generator, *belief.amplitude.shape[len(studies(belief)) :])
    return seeds.index_select(-1, active.which.cpu())
