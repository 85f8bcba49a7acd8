"""The likelihoods of all rows of a belief, evaluated in one batch: callers need not know which rows are of which kind.

How to add one: a file beside this one with a subclass of `Likelihood`, its name below, and its tests.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.infer.gaussian import log_cdf
from pesky.infer.interval import log_interval, standardize
from pesky.likelihood.base import LatentLikelihood, Likelihood, z_score
from pesky.likelihood.conditions import Conditions
from pesky.likelihood.gaussian import GaussianLikelihood
from pesky.likelihood.probit import ProbitLikelihood

GAUSSIAN, PROBIT = GaussianLikelihood(), ProbitLikelihood()
LIKELIHOODS: Mapping[str, Likelihood] = {each.kind: each for each in (GAUSSIAN, PROBIT)}


@dataclass(frozen=True)
class Likelihoods:
    """One likelihood per row, by the name of its kind, and what must hold of the rows."""

    kinds: tuple[str, ...]
    conditions: Conditions | None = field(default=None, compare=False)
    """None: every row but the objective's must be zero or above, and that is all."""

    def __len__(self) -> int:
        return len(self.kinds)

    def __getitem__(self, row: int) -> Likelihood:
        return LIKELIHOODS[self.kinds[row]]

    def __iter__(self) -> Iterator[Likelihood]:
        return (LIKELIHOODS[kind] for kind in self.kinds)

    def select(self, rows: Bool[Tensor, " j"]) -> "Likelihoods":
        """Those of these rows."""
        return Likelihoods(tuple(kind for kind, chosen in zip(self.kinds, rows.tolist(), strict=True) if chosen))

    @cached_property
    def constraints(self) -> "Likelihoods":
        """Those of all rows but the objective's."""
        return Likelihoods(self.kinds[1:])

    @cached_property
    def is_gaussian(self) -> Bool[Tensor, " j"]:
        """Which rows are numbers: their data need no approximation."""
        return torch.tensor([not isinstance(each, LatentLikelihood) for each in self], dtype=torch.bool)

    @cached_property
    def is_settled_by_repeating(self) -> Bool[Tensor, " j"]:
        return torch.tensor([each.is_settled_by_repeating for each in self], dtype=torch.bool)

    @cached_property
    def fixed_noise(self) -> Float[Tensor, " j"]:
        """The noise of rows whose likelihood has its own, NaN elsewhere."""
        noise = [each.fixed_noise if isinstance(each, LatentLikelihood) else math.nan for each in self]
        return torch.tensor(noise, dtype=torch.float64)

    @cached_property
    def _answer_noise(self) -> Float[Tensor, " j"]:
        return torch.tensor([each.answer_noise for each in self], dtype=torch.float64)

    def deviation(self, variance: Float[Tensor, "*b j x"]) -> Float[Tensor, "*b j x"]:
        """Deviation of what must be zero or above for each row to be feasible: `z_score` is in units of it."""
        return (variance + self._answer_noise[:, None].to(variance)).sqrt()

    def z_score(self, mean: Float[Tensor, "*b j x"], variance: Float[Tensor, "*b j x"]) -> Float[Tensor, "*b j x"]:
        """Phi of it is the probability that each row is feasible."""
        return z_score(mean, variance, self._answer_noise[:, None].to(variance))

    def feasibility(self, mean: Float[Tensor, "*b j x"], variance: Float[Tensor, "*b j x"]) -> Float[Tensor, "*b j x"]:
        """Probability that each row is feasible; of a yes/no row, that the answer is the wanted one."""
        if self.conditions is not None:
            return self.log_feasibility(mean, variance).exp()
        return torch.special.ndtr(self.z_score(mean, variance))

    def log_feasibility(
        self, mean: Float[Tensor, "*b j x"], variance: Float[Tensor, "*b j x"]
    ) -> Float[Tensor, "*b j x"]:
        """The same in logarithms, accurate where it is small."""
        if self.conditions is None:
            return log_cdf(self.z_score(mean, variance))
        deviation = self.deviation(variance)
        low, high = (end[..., None] for end in (self.conditions.low, self.conditions.high))
        return log_interval(standardize(low, mean, deviation), standardize(high, mean, deviation))

    def bounds(self, like: Float[Tensor, "*b j"]) -> tuple[Float[Tensor, "*b j"], Float[Tensor, "*b j"]]:
        """Between which values each row, of its latent function, is feasible."""
        if self.conditions is not None:
            return self.conditions.low, self.conditions.high
        low = torch.zeros_like(like)
        low[..., 0] = -torch.inf
        return low, torch.full_like(like, torch.inf)

    def log_all_hold(self, mean: Float[Tensor, "*b j x"], variance: Float[Tensor, "*b j x"]) -> Float[Tensor, "*b x"]:
        """Log of the probability that all conditions hold; the moments are those of all rows, the objective first."""
        if self.conditions is None:
            return self.constraints.log_feasibility(mean[..., 1:, :], variance[..., 1:, :]).sum(-2)
        return self.log_feasibility(mean, variance)[..., self.conditions.is_limited, :].sum(-2)

    def margins(
        self, mean: Float[Tensor, "*b j x"], variance: Float[Tensor, "*b j x"]
    ) -> tuple[Float[Tensor, "*b q x"], Float[Tensor, "*b q x"]]:
        """Mean and deviation of what must be zero or above for each condition to hold."""
        deviation = self.deviation(variance)
        if self.conditions is None:
            return mean[..., 1:, :], deviation[..., 1:, :]
        return self.conditions.margins(mean), self.conditions.rows_of(deviation, -2)

    def slopes_of_margins(
        self, mean: Float[Tensor, "*b j x d"], variance: Float[Tensor, "*b j x d"]
    ) -> tuple[Float[Tensor, "*b q x d"], Float[Tensor, "*b q x d"]]:
        """Gradients of the mean and the variance of what must be zero or above, from those of the rows."""
        if self.conditions is None:
            return mean[..., 1:, :, :], variance[..., 1:, :, :]
        return self.conditions.signed(mean, -3), self.conditions.rows_of(variance, -3)

    def rows_of_margins(
        self, by_mean: Float[Tensor, "*b q x"], by_variance: Float[Tensor, "*b q x"]
    ) -> tuple[Float[Tensor, "*b j x"], Float[Tensor, "*b j x"]]:
        """Derivatives by the mean and the variance of each row, from those by what must be zero or above."""
        if self.conditions is None:
            zero = by_mean.new_zeros(*by_mean.shape[:-2], 1, by_mean.shape[-1])
            return torch.cat([zero, by_mean], -2), torch.cat([zero, by_variance], -2)
        return self.conditions.back(by_mean, is_signed=True), self.conditions.back(by_variance, is_signed=False)

    def inequalities(self, values: Tensor, dim: int = -2) -> Tensor:
        """The objective, and then what must not be negative, where the rows along a dimension have these values."""
        return values if self.conditions is None else self.conditions.inequalities(values, dim)

    def units(self, each: Float[Tensor, "*b j"]) -> Float[Tensor, "*b i"]:
        """Of a unit for each row, those of the same."""
        return each if self.conditions is None else self.conditions.units(each)

    @property
    def is_objective_limited(self) -> bool:
        """Whether the objective has constraints itself."""
        return self.conditions is not None and bool(self.conditions.is_limited[0])

    def holds(self, mean: Float[Tensor, "*b j x"], variance: Float[Tensor, "*b j x"]) -> Float[Tensor, "*b q x"]:
        """Probability of each condition."""
        mean, deviation = self.margins(mean, variance)
        return torch.special.ndtr(mean / deviation)

    def rows_of(self, likelihood: Likelihood, device: torch.device) -> Int[Tensor, " r"]:
        """The rows that have this likelihood."""
        rows = [row for row, kind in enumerate(self.kinds) if kind == likelihood.kind]
        return torch.tensor(rows, dtype=torch.long, device=device)

    def latent(self) -> Iterator[tuple[LatentLikelihood, Bool[Tensor, " j"]]]:
        """Each likelihood that is not Gaussian, and which rows are its own."""
        for kind in dict.fromkeys(self.kinds):
            likelihood = LIKELIHOODS[kind]
            if isinstance(likelihood, LatentLikelihood):
                yield likelihood, torch.tensor([each == kind for each in self.kinds])

    def entropy(
        self,
        mean: Float[Tensor, "*b j #m x"],
        variance: Float[Tensor, "*b j #m x"],
        noise: Float[Tensor, "*b j"],
    ) -> Float[Tensor, "*b j #m x"]:
        """Entropy in nats of a measurement of each row, up to a constant of its likelihood.

        One for each of m beliefs, where they differ in what matters to it.
        """
        noise = noise[..., None, None]
        value = GAUSSIAN.entropy(mean, variance, noise)
        for likelihood, is_own in self.latent():
            rows = is_own.nonzero()[:, 0].to(value.device)
            own = likelihood.entropy(*(t.index_select(-3, rows) for t in (mean, variance, noise)))
            value = value.expand(*value.shape[:-2], *own.shape[-2:]).index_copy(-3, rows, own)
        return value
