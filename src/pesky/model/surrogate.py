"""From observations to a belief: which kernel, and where the hyperparameters come from."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.errors import ProblemError, unknown_name
from pesky.model import fit, importance, latent, through, warped_slice, warping
from pesky.model import slice as slice_sampling
from pesky.model.evidence import MarginalLikelihood, marginal_likelihood
from pesky.model.gp import GaussianProcess
from pesky.model.hyper import NOISE_FLOOR, Hyperparameters, datum_noise, noise_variance
from pesky.model.kernel import Kernel
from pesky.model.noiseless import is_noiseless
from pesky.numerics.rng import Source
from pesky.numerics.warp import Warp
from pesky.observations import Observations

FIRST_SWEEPS, LATER_SWEEPS = 50, 10
SPREAD, SPREAD_ROUNDS = {16: 256, 64: 16, 200: 8}, 6
"""Samples of hyperparameters as uncertain as the data leave them, beside those of the maximum, up to so many data,
and the rounds of importance sampling that they are from. More leave so little open that the maximum is
taken for certain: deviations would be some percent larger."""
SAMPLES_OF_FEW = 8
"""The same in the place of the maximum, where there are few data."""


GROWN, FEWEST = 1.1, 20
"""Hyperparameters are sought from all starts, and warps of rows that had none, only once there are so many times the
values there were then: in between the search goes on from the maximum found then. So it is from so many values of a row
on, and unless the new ones are a surprise."""
SURPRISE = 2.78
"""Deviations of a standard normal beyond which new values are far from what all others expect of them: one value that
is 3 of its own deviations away, or several that together are as improbable."""
MOST = 400
"""Values of a row that its hyperparameters are sought with, evenly chosen from all: more hardly change them. What is
believed rests on all."""


BRIEFLY = 500
"""Values of a row that has many by which it is looked at in passing: as many as are looked through for outliers."""


@dataclass(frozen=True)
class FixedHyperparameters:
    """Given hyperparameters of one outcome: lengthscales in the unit cube, the rest in its own units.

    Those of a yes/no outcome are of the latent function z of a yes: its probability is Phi(z).
    """

    lengthscale: float | Sequence[float]
    amplitude: float
    """Prior variance."""
    noise: float
    """Variance of the measurement noise; a yes or no has none, whatever is given."""
    mean: float = 0.0

    def __post_init__(self) -> None:
        lengthscales = (self.lengthscale,)
        if isinstance(self.lengthscale, Sequence):
            lengthscales = tuple(self.lengthscale)
            object.__setattr__(self, "lengthscale", lengthscales)
        checks = {"lengthscale": (lengthscales, 0), "amplitude": ((self.amplitude,), 0), "noise": ((self.noise,), -1)}
        for what, (values, least) in checks.items():
            if not all(math.isfinite(value) and value > least and value >= 0 for value in values):
                expected = "a positive number" if least == 0 else "a variance, zero or more"
                raise ProblemError(f"FixedHyperparameters: {what} was {getattr(self, what)!r}: expected {expected}.")
        if not math.isfinite(self.mean):
            raise ProblemError(f"FixedHyperparameters: mean was {self.mean!r}: expected a finite number.")


class Fitted(NamedTuple):
    """A belief, the observations as it has them, and where the next fit starts."""

    belief: GaussianProcess
    observations: Observations
    plain: Hyperparameters | None = None
    """Of the rows that are numbers, unwarped."""
    warped: warping.Warped | None = None
    """The same with the warp of each, if any."""
    searched: int = 0
    """How many values the last fit from all starts had: see `GROWN`."""


@dataclass(frozen=True)
class GP:
    """A Gaussian process per outcome; hyperparameters by maximum, by slice sampling, or known per outcome.

    With `warp` each outcome is modelled on the scale on which it is most like a Gaussian process, where the data speak
    for another than its own; results are in its own units all the same. Known hyperparameters are those of its own.
    With `outliers`, values that all others contradict are left out (`study.outliers()`), where outcomes have noise.
    """

    kernel: Kernel = "matern52"
    hyperparameters: Literal["maximum", "slice"] | Mapping[str, FixedHyperparameters] = "maximum"
    samples: int = 10
    """Hyperparameter samples, for "slice"."""
    warp: bool = True
    outliers: bool = True
    few: int = 0
    """Data of a row, on average, up to which "maximum" is not relied upon: samples stand in its place."""

    def __post_init__(self) -> None:
        if self.kernel not in get_args(Kernel):
            raise ProblemError(f"GP: {unknown_name('kernel', self.kernel, get_args(Kernel))}")
        if isinstance(self.hyperparameters, str) and self.hyperparameters not in ("maximum", "slice"):
            raise ProblemError(
                f"GP: {unknown_name('source of hyperparameters', self.hyperparameters, ('maximum', 'slice'))}"
            )
        if self.few < 0:
            raise ProblemError(f"GP: few was {self.few}: expected a number of data, zero or more.")
        if self.samples < 1:
            raise ProblemError(f"GP: samples was {self.samples}: expected at least 1 hyperparameter sample.")

    @property
    def is_searched(self) -> bool:
        """Whether a fit may go on from another one without a search from all starts: see `GROWN`."""
        return self.hyperparameters == "maximum" and self.warp

    def check(self, outcomes: tuple[str, ...], dim: int) -> None:
        """Nothing, or a ProblemError that says what is wrong with the known hyperparameters for this problem."""
        if isinstance(self.hyperparameters, str):
            return
        for name in self.hyperparameters:
            if name not in outcomes:
                raise ProblemError(f"GP: {unknown_name('outcome', name, outcomes)}")
        for name in outcomes:
            known = self.hyperparameters.get(name)
            if not isinstance(known, FixedHyperparameters):
                raise ProblemError(
                    f"GP: the hyperparameters of {name!r} were {known!r}: expected "
                    "FixedHyperparameters(lengthscale=..., amplitude=..., noise=...) for every outcome of the problem."
                )
            if isinstance(known.lengthscale, Sequence) and len(known.lengthscale) != dim:
                raise ProblemError(
                    f"GP: {name!r} has {len(known.lengthscale)} lengthscales: expected one number, or {dim}: one per "
                    "real or integer parameter and one per option of each choice."
                )

    def fit(
        self,
        observations: Observations,
        rows: tuple[str, ...],
        snap: Callable[[Tensor], Tensor] | None,
        previous: Hyperparameters | None,
        source: Source,
    ) -> GaussianProcess:
        """The belief that the observations support; `previous` hyperparameters are where the search starts.

        Studies in lockstep have a leading dimension, which stays the first: samples of hyperparameters come after it.
        The rows of yes/no outcomes are latent functions. Their hyperparameters are those of the maximum, in
        every one of the samples of "slice"; those of a task's success, which users do not know, are always fitted.
        """
        h = self._hyperparameters(observations, rows, previous, source)
        return self.condition(observations, h, snap)

    def fit_warped(
        self,
        observations: Observations,
        rows: tuple[str, ...],
        snap: Callable[[Tensor], Tensor] | None,
        previous: Fitted | None,
        generator: torch.Generator,
        has_objective: bool,
    ) -> Fitted:
        """As `fit`, on the scales on which the rows are most like Gaussian processes (METHOD 22).

        `has_objective` says whether the first row is the objective. Of a row that the maximum warps, each sample of
        "slice" has a warp of its own.
        """
        o, last = observations, None if previous is None else previous.belief.hyperparameters
        numbers = o.likelihoods.is_gaussian
        own = o.select(numbers)
        before = None if previous is None else previous.observations.select(numbers)
        searched = _searched(own, before, 0 if previous is None else previous.searched)
        is_enough = bool((own.mask.sum(-1) >= warping.ENOUGH).any())
        if not self.warp or not isinstance(self.hyperparameters, str) or not is_enough:
            return Fitted(self._briefly(o, self._hyperparameters(o, rows, last, generator), snap), o)
        some = own.thinned(MOST)
        data = (self.kernel, some.X, some.y, some.mask, some.noise)
        plain = fit.maximize(*data, previous and previous.plain, least_noise=some.least_noise, is_sure=searched > 0)
        explained = marginal_likelihood(self.kernel, some.X, some.y, some.mask, plain)
        if (
            searched
            and before is not None
            and _is_surprised(explained, plain, some, own.mask.sum(-1) - before.mask.sum(-1))
        ):
            searched = 0
            plain = fit.maximize(*data, plain, least_noise=some.least_noise)
            explained = marginal_likelihood(self.kernel, some.X, some.y, some.mask, plain)
        is_first = has_objective and bool(numbers[0])
        given = warping.row_data(self.kernel, some, plain, is_first, explained)
        chosen = warping.choose(self.kernel, given, plain, previous and previous.warped, is_sure=searched > 0)
        h, warp = chosen.h, chosen.warp
        if self.hyperparameters == "slice":
            h, warp = self._sample_warped(some, given, chosen, previous, numbers, generator)
        h = self._hyperparameters(o, rows, last, generator, h)
        if bool((warp.strength != 0).any()):
            expected = o.y.clone()
            expected[numbers] = given.expected if some is own else self._without_noise(own, some, plain, is_first)
            o = o.warped(warp.spread(numbers), expected)
        return Fitted(self._briefly(o, h, snap), o, plain, chosen, searched or int(own.mask.sum()))

    def _briefly(self, o: Observations, h: Hyperparameters, snap: Callable[[Tensor], Tensor] | None) -> GaussianProcess:
        """What the observations support, by some of them where they are many: who rests on it asks for more."""
        return self.condition(o if o.mask.shape[-1] <= through.EXACT else o.thinned(BRIEFLY), h, snap)

    def _without_noise(
        self, own: Observations, some: Observations, plain: Hyperparameters, is_first: bool
    ) -> Float[Tensor, "j n"]:
        """What the values are without noise, about; of many, by what few of them expect there, and each by itself."""
        if own.mask.shape[-1] <= through.EXACT:
            return warping.row_data(self.kernel, own, plain, is_first).expected
        few = GaussianProcess(self.kernel, some.X, some.y, some.mask, plain)
        each = [few.mean(X)[j] for j, X in enumerate(own.X)]
        open_ = [few.variance(X)[j] for j, X in enumerate(own.X)]
        mean, variance, noise = torch.stack(each), torch.stack(open_), plain.noise[:, None]
        return torch.where(own.mask, (noise * mean + variance * own.y) / (noise + variance), 0.0)

    def _sample_warped(
        self,
        own: Observations,
        data: warping.RowData,
        chosen: warping.Warped,
        previous: Fitted | None,
        numbers: Bool[Tensor, " J"],
        generator: torch.Generator,
    ) -> tuple[Hyperparameters, Warp]:
        """Samples of the hyperparameters of the rows that are numbers, and of the warps of those that have one.

        Chains go on from the previous ones; those of a row that is warped otherwise by now, from its maximum.
        """
        h = repeated(chosen.h, self.samples)
        warp = Warp(*(part.expand(self.samples, *part.shape) for part in chosen.warp))
        sweeps = FIRST_SWEEPS
        if previous is not None:
            last, before = previous.belief.hyperparameters.rows(numbers), previous.observations.warp
            before = Warp.identity(last.noise) if before is None else before.select(numbers)
            goes_on = before.strength.sign() == warp.strength.sign()
            h = Hyperparameters(*(_where(goes_on, *pair) for pair in zip(last, h, strict=True)))
            warp = Warp(*(_where(goes_on, *pair) for pair in zip(before, warp, strict=True)))
            sweeps = LATER_SWEEPS if bool(goes_on.all()) else FIRST_SWEEPS
        return warped_slice.sample_rows(self.kernel, own, data, h, warp, sweeps, generator)

    def noiseless(self, observations: Observations, h: Hyperparameters) -> tuple[Observations, Hyperparameters]:
        """The same with no noise in the rows whose values speak for none, as if it had been said of them."""
        o, numbers = observations, observations.likelihoods.is_gaussian
        if self.hyperparameters != "maximum":
            return o, h
        own = is_noiseless(self.kernel, o.select(numbers).thinned(MOST), h.rows(numbers))
        if not bool(own.any()):
            return o, h
        rows = torch.zeros_like(numbers).masked_scatter(numbers, own.to(numbers.device)).to(o.noise.device)
        least = torch.where(rows, NOISE_FLOOR * h.amplitude, h.noise)
        return replace(o, noise=torch.where(rows, 0.0, o.noise)), h._replace(noise=least)

    def doubted(self, observations: Observations, h: Hyperparameters, source: Source) -> Hyperparameters:
        """Samples in the place of the maximum h, of few data; else h itself.

        Few data are explained best by hyperparameters with which more is known than anybody knows (METHOD 10).
        """
        numbers = observations.likelihoods.is_gaussian
        count = observations.select(numbers).mask.to(h.amplitude).sum(-1)
        if self.hyperparameters != "maximum" or not bool((count.mean(-1) <= self.few).any()):
            return h
        return self._sampled(observations, h, numbers, SAMPLES_OF_FEW, source)

    def spread(self, observations: Observations, h: Hyperparameters, generator: torch.Generator) -> Hyperparameters:
        """Samples of what the observations leave open of hyperparameters whose maximum, or some samples, are h.

        They are h itself where they are known, by slice sampling or from many data; those of yes/no rows stay those of
        the maximum.
        """
        numbers = observations.likelihoods.is_gaussian
        data = observations.mask.shape[-1]
        count = next((count for most, count in SPREAD.items() if data <= most), 0)
        if self.hyperparameters != "maximum" or not bool(numbers.any()) or not count:
            return h
        if h.amplitude.dim() > 1:
            lengthscale, amplitude, noise = (part.log().mean(0).exp() for part in h[:3])
            h = Hyperparameters(lengthscale, amplitude, noise, h.mean.mean(0))
        return self._sampled(observations, h, numbers, count, generator, SPREAD_ROUNDS)

    def _sampled(
        self,
        o: Observations,
        h: Hyperparameters,
        numbers: Bool[Tensor, " J"],
        count: int,
        source: Source,
        rounds: int = importance.ROUNDS,
    ) -> Hyperparameters:
        """Samples of the rows that are numbers, around h; the others are the same in each."""
        samples = importance.sample(
            self.kernel, o.select(numbers).thinned(MOST), h.rows(numbers), count, source, rounds
        )
        return samples if bool(numbers.all()) else samples.interleave(h.rows(~numbers), ~numbers)

    def condition(
        self, observations: Observations, h: Hyperparameters, snap: Callable[[Tensor], Tensor] | None
    ) -> GaussianProcess:
        """The belief that the observations support at these hyperparameters."""
        o = observations
        data_noise = datum_noise(h.noise, h.amplitude, o.relative_noise)
        if bool(o.likelihoods.is_gaussian.all()):
            y = o.y if data_noise is None else o.y.expand_as(data_noise)
            return GaussianProcess(self.kernel, o.X, y, o.mask, h, snap, data_noise=data_noise)
        given = h.noise[..., None] if data_noise is None else data_noise
        y, noise = (part.expand(*h.noise.shape, o.y.shape[-1]).clone() for part in (o.y, given))
        for likelihood, rows in o.likelihoods.latent():
            own = o.select(rows)
            # Every sample has the same values and hyperparameters of these rows, so EP is run once.
            values = own.y if own.y.dim() == 2 else own.y[0]
            pseudo = latent.pseudo_measurements(likelihood, self.kernel, own.X, values, own.mask, h.rows(rows).first())
            y[..., rows, :], noise[..., rows, :] = pseudo
        return GaussianProcess(self.kernel, o.X, y, o.mask, h, snap, o.kinds, noise)

    def _hyperparameters(
        self,
        o: Observations,
        rows: tuple[str, ...],
        previous: Hyperparameters | None,
        source: Source,
        best: Hyperparameters | None = None,
    ) -> Hyperparameters:
        """Those of all rows; `best` are those of the rows that are numbers, where they are at hand."""
        if isinstance(self.hyperparameters, str):
            fitted = ~o.likelihoods.is_gaussian
        else:
            fitted = ~o.likelihoods.is_gaussian & torch.tensor([name not in self.hyperparameters for name in rows])
        if not bool(fitted.any()):
            return self._given(o, rows, previous, source, best)
        names = tuple(name for name, is_fitted in zip(rows, fitted.tolist(), strict=True) if not is_fitted)
        found = self._given(o.select(~fitted), names, previous and previous.rows(~fitted), source, best)
        done = ~fitted
        for likelihood, of_likelihood in o.likelihoods.latent():
            own = of_likelihood & fitted
            data, start = o.select(own).thinned(MOST), previous and previous.rows(own).first()
            given = (likelihood, self.kernel, data.X, data.y, data.mask, start)
            best = latent.maximize(*given, is_same=data.noise.reshape(-1, len(data.mask))[0] == 0)
            done = done | own
            found = found.interleave(best, own[done])
        return found

    def _given(
        self,
        o: Observations,
        rows: tuple[str, ...],
        previous: Hyperparameters | None,
        source: Source,
        best: Hyperparameters | None,
    ) -> Hyperparameters:
        """Of rows that are numbers or known."""
        if best is not None:
            return best
        some = o.thinned(MOST)
        data = (self.kernel, some.X, some.y, some.mask, some.noise)
        if self.hyperparameters == "maximum":
            return fit.maximize(*data, previous=previous, least_noise=some.least_noise)
        if self.hyperparameters == "slice":
            sweeps = LATER_SWEEPS
            if previous is None:
                previous, sweeps = repeated(fit.maximize(*data), self.samples), FIRST_SWEEPS
            return slice_sampling.sample(*data, previous, sweeps, source)
        return scaled(self.hyperparameters, o, rows)


def _searched(own: Observations, before: Observations | None, searched: int) -> int:
    """How many values the last fit from all starts had, if it need not be done again; else 0."""
    if before is None or not searched:
        return 0
    count = int(own.mask.sum())
    is_alike = int(before.mask.sum()) < count <= GROWN * searched
    return searched if is_alike and count >= FEWEST * len(own.mask) else 0


def _is_surprised(explained: MarginalLikelihood, h: Hyperparameters, o: Observations, grown: Tensor) -> bool:
    """Whether the last values of a row, as many as it has grown by, are far from what the others expect of them."""
    at = torch.arange(o.mask.shape[-1], device=o.mask.device)
    is_new = o.mask & (at >= o.mask.sum(-1, keepdim=True) - grown[..., None])
    # [K^-1 r]_i^2 / [K^-1]_ii, the divisor from the derivative by the noise of the datum
    solved = explained.by_value
    precision = solved.square() - 2 * explained.by_log_datum_noise / h.noise[..., None]
    squares = torch.where(is_new, solved.square() / precision.clamp(min=1e-300), 0.0).sum(-1)
    count = is_new.sum(-1).clamp(min=1)
    # the cube root of a chi-square variable is nearly normal (Wilson and Hilferty 1931)
    variance = 2 / (9 * count)
    return bool(((squares / count).pow(1 / 3) > 1 - variance + SURPRISE * variance.sqrt()).any())


def repeated(h: Hyperparameters, samples: int) -> Hyperparameters:
    """So many times the same: (*w, j) -> (*w, s, j)."""
    studies = h.amplitude.dim() - 1
    parts = (part.unsqueeze(studies) for part in h)
    return Hyperparameters(*(part.expand(*part.shape[:studies], samples, *part.shape[studies + 1 :]) for part in parts))


def _where(is_so: Bool[Tensor, "s j"], a: Float[Tensor, "s j *d"], b: Float[Tensor, "s j *d"]) -> Tensor:
    """The first where it is so, and the second elsewhere."""
    return torch.where(is_so if a.dim() == 2 else is_so[..., None], a, b)


def scaled(known: Mapping[str, FixedHyperparameters], o: Observations, rows: tuple[str, ...]) -> Hyperparameters:
    """Known hyperparameters in the scaled units of each row; the mean of a yes/no row is the latent one of a yes."""
    d = o.X.shape[-1]

    def vector(values: list[float]) -> Tensor:
        return torch.tensor(values, dtype=o.y.dtype, device=o.y.device)

    lengthscale = torch.stack([torch.as_tensor(known[name].lengthscale, dtype=o.y.dtype).expand(d) for name in rows])
    amplitude = vector([known[name].amplitude for name in rows]) / o.scale.square()
    noise = vector([known[name].noise for name in rows]) / o.scale.square()
    means = vector([known[name].mean for name in rows]).expand_as(o.scale).unbind(-1)
    mean = torch.stack([o.from_user(j, each) for j, each in enumerate(means)], -1)
    fixed = o.likelihoods.fixed_noise.to(noise)
    noise = torch.where(torch.isnan(fixed), noise_variance(noise.log(), amplitude, noise), fixed)
    return Hyperparameters(lengthscale.to(o.y).expand(*amplitude.shape, d), amplitude, noise, mean)
