"""Gaussian process posteriors of all rows at once, by direct linear algebra.

The model is BoTorch's `ModelListGP` of `SingleTaskGP`s (constant mean, scaled ARD kernel, Gaussian noise); rows with
different numbers of measurements are padded so that one batched factorization serves them all, with studies in lockstep
and hyperparameter samples as leading dimensions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from pesky.infer.gaussian import cholesky
from pesky.likelihood import Likelihoods
from pesky.likelihood.gaussian import GaussianLikelihood
from pesky.model.belief import Anchored, Evaluator, PosteriorMoments, for_hyper_samples, union
from pesky.model.hyper import Hyperparameters, is_noise_free, padded_gram
from pesky.model.kernel import (
    Kernel,
    bend,
    correlation_and_slope,
    correlations,
    frequencies,
    lower_correlations,
    squared_distance,
)
from pesky.model.moments import Expansion, Moments, Slopes
from pesky.model.parts import AT_ONCE, in_parts
from pesky.model.paths import RandomFeaturePaths
from pesky.numerics.rng import Source, normal

VARIANCE_FLOOR = 1e-10
ERROR_FLOOR = 1e-13
"""Share of the amplitude below which rounding may be all of an error's variance."""
JITTER = 1e-14
"""Of the factor of the data's covariance, as a share of the amplitude."""
EVERY = slice(None)
FEATURES = 512
"""Random features of a draw: half as many frequencies, each as cosine and sine."""


@dataclass(frozen=True)
class GaussianProcess:
    """The belief of rows whose data are measurements with Gaussian noise; see `Belief` for what it answers.

    Rows of other likelihoods have pseudo-measurements of their latent function for data, each with a noise of its own.
    """

    kernel: Kernel
    X: Float[Tensor, "*w j n d"]
    y: Float[Tensor, "*b j n"]
    mask: Bool[Tensor, "*w j n"]
    hyperparameters: Hyperparameters
    snap: Callable[[Tensor], Tensor] | None = None
    """Rounds points to what can be measured, so that the belief is constant between lattice points."""
    kinds: tuple[str, ...] | None = None
    """The kind of each row's likelihood; None: all are Gaussian."""
    data_noise: Float[Tensor, "*b j n"] | None = None
    """Noise variance of each datum; None: that of its row."""

    @property
    def amplitude(self) -> Float[Tensor, "*b j"]:
        return self.hyperparameters.amplitude

    @property
    def lengthscale(self) -> Float[Tensor, "*b j d"]:
        return self.hyperparameters.lengthscale

    @property
    def noise(self) -> Float[Tensor, "*b j"]:
        return self.hyperparameters.noise

    @property
    def likelihoods(self) -> Likelihoods:
        return self._likelihoods

    @cached_property
    def _likelihoods(self) -> Likelihoods:
        return Likelihoods((GaussianLikelihood.kind,) * self.mask.shape[-2] if self.kinds is None else self.kinds)

    @property
    def prior_mean(self) -> Float[Tensor, "*b j"]:
        return self.hyperparameters.mean

    @property
    def points(self) -> Float[Tensor, "*w n d"]:
        return self._distinct

    @cached_property
    def _distinct(self) -> Float[Tensor, "*w n d"]:
        return union(self.X, self.mask)

    def of(self, some: Bool[Tensor, " w"]) -> GaussianProcess:
        """The belief of some of the studies in lockstep."""
        picked = {name: getattr(self, name)[some] for name in ("X", "y", "mask")}
        noise = None if self.data_noise is None else self.data_noise[some]
        each = Hyperparameters(*(part[some] for part in self.hyperparameters))
        return replace(self, **picked, hyperparameters=each, data_noise=noise)

    def select_rows(self, index: Int[Tensor, " r"]) -> GaussianProcess:
        """The belief of some of the rows, with what was computed of them."""
        some = replace(self, **self._of_rows(index))
        vars(some).update(
            _distinct=self.points, root=self.root.index_select(-3, index), weights=self.weights.index_select(-2, index)
        )
        return some

    def _of_rows(self, index: Int[Tensor, " r"]) -> dict[str, Any]:
        """What the belief of some of the rows has of its own."""
        lengthscale, *others = self.hyperparameters
        each = Hyperparameters(lengthscale.index_select(-2, index), *(part.index_select(-1, index) for part in others))
        return {
            "X": self.X.index_select(-3, index),
            "y": self.y.index_select(-2, index),
            "mask": self.mask.index_select(-2, index),
            "hyperparameters": each,
            "kinds": None if self.kinds is None else tuple(self.kinds[row] for row in index.tolist()),
            "data_noise": None if self.data_noise is None else self.data_noise.index_select(-2, index),
        }

    def _for_samples(self, part: Shaped[Tensor, ...], dims: int) -> Shaped[Tensor, ...]:
        """What is of each study, (*w, ..), beside hyperparameters that have samples after w."""
        w, more = part.shape[: part.dim() - dims], self.amplitude.dim() - 1 - (part.dim() - dims)
        return part.view(*w, *(1,) * more, *part.shape[len(w) :]) if w and more > 0 else part

    @cached_property
    def _inputs(self) -> Float[Tensor, "*#b j n d"]:
        return self._for_samples(self.X, 3)

    @cached_property
    def _values(self) -> Float[Tensor, "*#b j n"]:
        return self._for_samples(self.y, 2)

    @cached_property
    def _there(self) -> Bool[Tensor, "*#b j n"]:
        return self._for_samples(self.mask, 2)

    @cached_property
    def _is_full(self) -> bool:
        """Whether all rows have as many data, so that none is padded."""
        return bool(self.mask.all())

    @cached_property
    def scaled_inputs(self) -> Float[Tensor, "*b j n d"]:
        return self._scale(self._inputs)

    @cached_property
    def root(self) -> Float[Tensor, "*b j n n"]:
        """Lower Cholesky factor of the noisy prior covariance of the data; identity where padded."""
        shape, n = self.amplitude.shape, self.X.shape[-2]
        if self.X.is_cuda or shape.numel() * n * n <= AT_ONCE["cpu"]:
            gram = padded_gram(self.kernel, self._inputs, self._there, self.hyperparameters, self.data_noise)
            return cholesky(gram, self.amplitude, jitter=JITTER)
        root = self.y.new_empty(*shape, n, n)
        noise = self.noise[..., None] if self.data_noise is None else self.data_noise
        given = (self._inputs, self._values, self._there, self.hyperparameters, noise)
        flat, at = root.view(-1, n, n), 0
        for part in in_parts(*given):
            factors = self._factors_of_some(*part)
            count, m = factors.shape[:2]
            own = flat[at : at + count]
            own[:, :m, :m], own[:, :m, m:], own[:, m:, :m] = factors, 0.0, 0.0
            own[:, m:, m:] = torch.eye(n - m, dtype=own.dtype)
            at += count
        return root

    def _factors_of_some(
        self,
        X: Float[Tensor, "i m d"],
        _: Float[Tensor, "i m"],
        mask: Bool[Tensor, "i m"],
        h: Hyperparameters,
        noise: Float[Tensor, "*i #m"],
    ) -> Float[Tensor, "i m m"]:
        """Those of some rows; of a single one, whose matrix is large, from its lower half unless that fails."""
        if len(X) == 1 and bool(mask.all()):
            gram = lower_correlations(self.kernel, ((X - 0.5) / h.lengthscale[..., None, :])[0]).mul_(h.amplitude)
            gram.diagonal().add_(noise[0] + JITTER * h.amplitude)
            factor, failed = torch.linalg.cholesky_ex(gram)
            if not bool(failed):
                return factor[None]
        gram = padded_gram(self.kernel, X, mask, h, noise.expand(mask.shape))
        return cholesky(gram, h.amplitude, jitter=JITTER)

    @cached_property
    def weights(self) -> Float[Tensor, "*b j n"]:
        residual = torch.where(self._there, self._values - self.prior_mean[..., None], 0.0)
        return self._solve(residual[..., None])[..., 0]

    def _solve(self, right: Float[Tensor, "*b j n k"]) -> Float[Tensor, "*b j n k"]:
        """By the noisy prior covariance of the data.

        Unlike `cholesky_solve`, whatever the order of the factor's entries this copies nothing: of thousands of data a
        twentieth of the time.
        """
        half = torch.linalg.solve_triangular(self.root, right, upper=False)
        return torch.linalg.solve_triangular(self.root.mT, half, upper=True)

    def _scale(self, X: Float[Tensor, "*#b #j n d"]) -> Float[Tensor, "*b j n d"]:
        # Centred, so that the squared norms in the distances stay small.
        return (X - 0.5) / self.lengthscale[..., None, :]

    def _rows(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x d"]:
        return self._scale((self.snap(X) if self.snap else X)[..., None, :, :])

    def _prior(self, X: Float[Tensor, "*b j x d"], Z: Float[Tensor, "*b j z d"]) -> Float[Tensor, "*b j x z"]:
        scale, found = self.amplitude[..., None, None], correlations(self.kernel, X, Z)
        return scale * found if found.requires_grad else found.mul_(scale)

    def _to_data(self, X: Float[Tensor, "*b j x d"]) -> Float[Tensor, "*b j n x"]:
        prior = self._prior(self.scaled_inputs, X)
        return prior if self._is_full else prior * self._there[..., None]

    def mean(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x"]:
        return self._mean(self._to_data(self._rows(X)))

    @cached_property
    def mean_at_points(self) -> Float[Tensor, "*b j n"]:
        """The mean at `points`: where these are the data of every row, it is read off these.

        With weights a and noise S, (K + S) a is what the data are above the prior mean, and K a what the mean is; up to
        the jitter, where the factor needed more than `JITTER`.
        """
        is_own = self.X.dim() == 3 and self.points.shape == self.X.shape[1:] and self._is_full
        if not is_own or not torch.equal(self.X, self.points.expand_as(self.X)):
            return self.mean(for_hyper_samples(self, self.points))
        return self._values - self._noise_of_weights

    @property
    def _noise_of_weights(self) -> Float[Tensor, "*b j n"]:
        """S a."""
        noise = self.noise[..., None] if self.data_noise is None else self.data_noise
        return (noise + JITTER * self.amplitude[..., None]) * self.weights

    def _drawn_noise(self, normal: Float[Tensor, "*b j n m"]) -> Float[Tensor, "*b j n m"]:
        """Noise of all data, by standard normal numbers."""
        variance = self.noise[..., None] if self.data_noise is None else self.data_noise
        return variance.sqrt()[..., None] * normal

    def _mean(self, to_data: Float[Tensor, "*b j n x"]) -> Float[Tensor, "*b j x"]:
        return self.prior_mean[..., None] + (self.weights[..., None, :] @ to_data)[..., 0, :]

    def variance(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x"]:
        return self._variance(self._half(self._to_data(self._rows(X))))

    def _half(self, to_data: Float[Tensor, "*b j n x"]) -> Float[Tensor, "*b j n x"]:
        """What, multiplied with its like, is the covariance that the data explain."""
        return torch.linalg.solve_triangular(self.root, to_data, upper=False)

    def _variance(self, half: Float[Tensor, "*b j n x"]) -> Float[Tensor, "*b j x"]:
        # Rounding leaves an error of this share of the amplitude, of either sign.
        least = VARIANCE_FLOOR * self.amplitude[..., None]
        return torch.maximum(self.amplitude[..., None] - half.square().sum(-2), least)

    def moments(self, X: Float[Tensor, "*b x d"]) -> Moments:
        """Mean, and variance of its error: of data without noise less than `variance` (METHOD 12.7)."""
        to_data = self._to_data(self._rows(X))
        return Moments(self._mean(to_data), self._error(self._explaining(to_data)))

    def _explaining(self, prior: Float[Tensor, "*b i n x"], rows: slice = EVERY) -> Float[Tensor, "*b i m x"]:
        """What, squared and summed, is the variance that the data explain of what has this covariance with them.

        Data without noise are believed with that of the floor, S, lest their matrix K be singular. The mean is a sum of
        them with weights K^-1 k, and its error has the variance amplitude - k' K^-1 k - k' K^-1 S K^-1 k. `rows` are
        those that `prior` is of.
        """
        root = self.root[..., rows, :, :]
        half = torch.linalg.solve_triangular(root, prior, upper=False)
        if self._assumed_noise is None:
            return half
        solved = torch.linalg.solve_triangular(root.mT, half, upper=True)
        return torch.cat([half, self._assumed_noise[..., rows, :].sqrt()[..., None] * solved], -2)

    def _explained_by(self, explaining: Float[Tensor, "*b j m x"]) -> Float[Tensor, "*b j n x"]:
        """The transpose of `_explaining`."""
        half, *assumed = explaining.split(self.X.shape[-2], -2)
        if self._assumed_noise is not None:
            weighted = self._assumed_noise.sqrt()[..., None] * assumed[0]
            half = half + torch.linalg.solve_triangular(self.root, weighted, upper=False)
        return torch.linalg.solve_triangular(self.root.mT, half, upper=True)

    def _error(self, explaining: Float[Tensor, "*b j m x"]) -> Float[Tensor, "*b j x"]:
        """The variance that is left."""
        least = ERROR_FLOOR * self.amplitude[..., None]
        return torch.maximum(self.amplitude[..., None] - explaining.square().sum(-2), least)

    @cached_property
    def _assumed_noise(self) -> Float[Tensor, "*b j #n"] | None:
        """The noise variance of each datum that has none; None where all have noise."""
        noise = self.noise[..., None] if self.data_noise is None else self.data_noise
        is_assumed = is_noise_free(noise, self.amplitude[..., None])
        return torch.where(is_assumed, noise, 0.0) if bool(is_assumed.any()) else None

    def expand(self, X: Float[Tensor, "*b x d"], axes: Int[Tensor, " e"]) -> Expansion:
        """The moments near x along these axes, of which none is to be differentiated further.

        With k_i = k(x, x_i), the mean is sum_i w_i k_i and the variance amplitude - |E k|^2, where E k is what explains
        it. Their gradients are sums of dk_i / dx with weights w_i and -2 [E' E k]_i; their second derivatives sums of
        those of k_i with the same weights, and of the variance -2 (E dk/dx)' E dk/dx besides. In scaled coordinates
        dk_i / dx is the slope times x_i - x, and the second derivatives are the bend times (x - x_i)(x - x_i)' less the
        slope times the unit matrix.
        """
        with torch.no_grad():
            here = self._rows(X)
            d2 = squared_distance(self.scaled_inputs, here)
            correlations, slopes = correlation_and_slope(self.kernel, d2)
            scale = (
                self.amplitude[..., None, None]
                if self._is_full
                else self._there[..., None] * self.amplitude[..., None, None]
            )
            to_data, slopes = correlations.mul_(scale), slopes.mul_(scale)
            explaining = self._explaining(to_data)
            moments = Moments(self._mean(to_data), self._error(explaining))
            is_free = moments.variance > ERROR_FLOOR * self.amplitude[..., None]
            of_mean = self.weights[..., None]
            of_variance = (-2 * is_free.to(X))[..., None, :] * self._explained_by(explaining)
            here, inputs, unit = (each[..., axes] for each in (here, self.scaled_inputs, self._by_cube))
            # the sum of weights (x_i - x), for both weights, and with a column of ones that of the weights
            pulls = torch.stack([slopes * of_mean, slopes * of_variance]).mT
            pulls = pulls @ torch.cat([inputs, torch.ones_like(inputs[..., :1])], -1)
            by_x = (pulls[..., :-1] - pulls[..., -1:] * here) * unit

        def curvatures(by_mean: Tensor, by_variance: Tensor) -> Tensor:
            weight = by_mean[..., None, :] * of_mean + by_variance[..., None, :] * of_variance
            apart = here[..., :, None, :] - inputs[..., None, :, :]
            found = (apart * (scale * weight * bend(self.kernel, d2)).mT[..., None]).mT @ apart
            found.diagonal(dim1=-2, dim2=-1).sub_((weight * slopes).sum(-2)[..., None])
            # of the objective the mean alone counts, unless it has limits
            own = slice(0 if bool(by_variance[..., 0, :].any()) else 1, None)
            pulls = (slopes[..., own, :, :].mT[..., None] * apart[..., own, :, :, :]).transpose(-3, -2)
            each = self._explaining(pulls.flatten(-2), own).unflatten(-1, here.shape[-2:]).transpose(-3, -2)
            found[..., own, :, :, :].sub_((2 * by_variance[..., own, :])[..., None, None] * (each.mT @ each))
            column = unit[..., None]
            return (column.mT * found * column).sum(-4)

        return Expansion(moments, Slopes(*by_x), curvatures)

    @cached_property
    def _by_cube(self) -> Float[Tensor, "*b j 1 d"]:
        """Derivatives of scaled coordinates by those of the cube, zero along those that are not free."""
        return torch.where(self._free, 1 / self.lengthscale, 0.0)[..., None, :]

    def covariance(self, X: Float[Tensor, "*b x d"], Z: Float[Tensor, "*b z d"]) -> Float[Tensor, "*b j x z"]:
        X, Z = self._rows(X), self._rows(Z)
        return self._prior(X, Z) - self._half(self._to_data(X)).mT @ self._half(self._to_data(Z))

    def anchored(self, P: Float[Tensor, "*b p d"]) -> Anchored:
        P = self._rows(P)
        to_data = self._to_data(P)
        half = self._half(to_data)
        here = PosteriorMoments(self._mean(to_data), self._variance(half), self._prior(P, P) - half.mT @ half)
        return Anchored(here, self._evaluator(P, half))

    def evaluator(self, P: Float[Tensor, "*b p d"]) -> Evaluator:
        P = self._rows(P)
        return self._evaluator(P, self._half(self._to_data(P)))

    def _evaluator(self, P: Float[Tensor, "*b j p d"], half: Float[Tensor, "*b j n p"]) -> Evaluator:
        """Looks from these points, of which half is known."""
        solved = torch.linalg.solve_triangular(self.root.mT, half, upper=True)
        combined = torch.cat([solved.mT, self.weights[..., None, :]], -2)
        fixed = torch.cat([self.scaled_inputs.expand(*P.shape[:-2], -1, -1), P], -2)
        n = self.X.shape[-2]

        def evaluate(X: Float[Tensor, "*b x d"]) -> PosteriorMoments:
            prior = self._prior(fixed, self._rows(X))
            to_data = prior[..., :n, :]
            to_data = to_data if self._is_full else to_data * self._there[..., None]
            explained = combined @ to_data
            mean = self.prior_mean[..., None] + explained[..., -1, :]
            variance = self._variance(self._half(to_data))
            return PosteriorMoments(mean, variance, prior[..., n:, :] - explained[..., :-1, :])

        return evaluate

    def paths(self, count: int, source: Source) -> RandomFeaturePaths:
        shape, pairs, d = tuple(self.amplitude.shape), FEATURES // 2, self.X.shape[-1]

        def draw(width: int, widths: list[int] | None = None) -> Tensor:
            # Drawn in single precision, at a third of the time: seven digits of a random number are enough.
            return normal(source, *shape, count, width, like=self.y, dtype=torch.float32, widths=widths)

        frequency = self._for_rows(frequencies(self.kernel, pairs, d, source).to(self.y))
        scale = (self.amplitude / pairs).sqrt()[..., None, None]
        cosine, sine = scale * draw(pairs), scale * draw(pairs)
        phase = self.scaled_inputs @ frequency.mT
        prior = phase.cos() @ cosine.mT + phase.sin() @ sine.mT
        noise = self._drawn_noise(draw(self.X.shape[-2], self._data_of_each()).flip(-1).mT)
        residual = (self._values - self.prior_mean[..., None])[..., None] - prior - noise
        solved = self._solve(torch.where(self._there[..., None], residual, 0.0))
        return RandomFeaturePaths(
            kernel=self.kernel,
            inputs=self.scaled_inputs,
            lengthscale=self.lengthscale,
            prior_mean=self.prior_mean,
            frequency=frequency,
            cosine=cosine,
            sine=sine,
            correction=self.amplitude[..., None, None] * solved.mT,
            snap=self.snap,
            free=self._free,
        )

    def _for_rows(self, frequency: Float[Tensor, "*w r d"]) -> Float[Tensor, "*#f r d"]:
        """Each study's frequencies, for all of its hyperparameter samples and rows."""
        w = frequency.shape[:-2]
        return frequency.view(*w, *(1,) * (self.amplitude.dim() - len(w)), *frequency.shape[-2:]) if w else frequency

    def _data_of_each(self) -> list[int] | None:
        """How many data, which come first, each of the studies in lockstep has; None of a single one: all that are."""
        return self.mask.sum(-1).amax(-1).tolist() if self.mask.dim() > 2 else None

    @cached_property
    def _free(self) -> Bool[Tensor, " d"]:
        """Dimensions along which the belief varies smoothly: those whose gradient passes the rounding."""
        middle = self.X.new_full((self.X.shape[-1],), 0.5)
        if self.snap is None:
            return torch.ones_like(middle, dtype=torch.bool)
        with torch.enable_grad():
            middle = middle.requires_grad_()
            (gradient,) = torch.autograd.grad(self.snap(middle[None]).sum(), middle)
        return gradient != 0
