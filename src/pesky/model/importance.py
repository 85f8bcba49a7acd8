"""How uncertain hyperparameters are: samples of their posterior, found from its maximum (METHOD 10).

Of few data by adaptive importance sampling: draws from a Gaussian around the maximum, which is fitted to them anew, and
of all draws as many as are wanted, by their weights. Of more, draws from that Gaussian itself.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.model.evidence import marginal_likelihood, profile_likelihood
from pesky.model.hyper import Hyperparameters, datum_noise, noise_variance, typical_amplitude
from pesky.model.kernel import Kernel
from pesky.model.prior import log_bounds, log_prior, prior_precision
from pesky.numerics.rng import Source, normal, uniform
from pesky.observations import Observations

ROUNDS, DRAWS = 2, 256
"""Draws of each round. Two leave what a few samples are by to chance, six say of intervals what any more would."""
WIDER = 1.4
"""How much wider than its curvature says a Gaussian is drawn from: it has lighter tails than the posterior."""
MANY_DATA, SOME_DATA = 16, 192
"""With more values of every row the posterior is taken for the Gaussian that its curvature at the maximum stands for:
intervals have the truth as often, and the more hyperparameters there are the fewer draws have all the weight (METHOD
10). Of many values some, evenly chosen, tell the curvature: that of the likelihood grows with their number."""
LEAST_PRECISION = 1 / 3
"""Of a combination of the logs of hyperparameters: about that of their prior."""


NOWHERE = -1e300
"""The log density of what is out of bounds: no weight beside any other, and still a number where all are."""


class _Looked(NamedTuple):
    """Hyperparameters that were looked at."""

    p: Float[Tensor, "m j q"]
    value: Float[Tensor, "m j"]
    """Their log density, up to a constant."""
    mean: Float[Tensor, "m j"]
    """The constant mean of largest likelihood, and how well the data tell it."""
    mean_precision: Float[Tensor, "m j"]

    def of_each_row(self, which: Int[Tensor, "s j"]) -> "_Looked":
        """Some of them, others for each row."""
        p = torch.gather(self.p, 0, which[..., None].expand(*which.shape, self.p.shape[-1]))
        return _Looked(p, *(torch.gather(part, 0, which) for part in self[1:]))


class _Posterior:
    """The log posterior density of (log lengthscales, log amplitude, log noise) of each row."""

    def __init__(self, kernel: Kernel, o: Observations, counts: Float[Tensor, " j"]) -> None:
        """The likelihood of each row counts so many times."""
        self.kernel: Kernel = kernel
        self.o, self.counts = o, counts
        self.typical, self.infer_noise = typical_amplitude(o.y, o.mask), torch.isnan(o.noise)
        self.lower, self.upper = log_bounds(o.X.shape[-1], self.typical, o.least_noise)

    def __call__(self, p: Float[Tensor, "m j q"]) -> _Looked:
        """The density, with what the data say of the mean.

        The fit takes the best mean for the true one. The density is an integral over all means: that is a factor of the
        deviation which the data leave of it, and without it three values would be as if they were two.
        """
        o, h = self.o, self.unpack(p.clamp(self.lower, self.upper))
        e = profile_likelihood(self.kernel, o.X, o.y, o.mask, h, datum_noise(h.noise, h.amplitude, o.relative_noise))
        of_mean = torch.where(o.mask.any(-1), -0.5 * e.mean_precision.clamp(min=1e-300).log(), 0.0)
        value = self.counts * e.log_likelihood + of_mean + log_prior(h, self.infer_noise, self.typical)[0]
        is_there = ((p >= self.lower) & (p <= self.upper)).all(-1) & torch.isfinite(value)
        return _Looked(p, torch.where(is_there, value, NOWHERE), e.mean, e.mean_precision)

    def free(self, p: Float[Tensor, "m j q"], best: Float[Tensor, "j q"]) -> Float[Tensor, "m j q"]:
        """The same, with the noise of the maximum where it is given."""
        noise = torch.where(self.infer_noise, p[..., -1], best[..., -1])
        return torch.cat([p[..., :-1], noise[..., None]], -1)

    def precision(self, p: Float[Tensor, "j q"]) -> Float[Tensor, "j q q"]:
        """About minus the second derivatives: the average information of the data, and that of the prior."""
        o, h = self.o, self.unpack(p)
        noise = datum_noise(h.noise, h.amplitude, o.relative_noise)
        e = marginal_likelihood(self.kernel, o.X, o.y, o.mask, h, noise, is_informed=True)
        free = torch.ones_like(p)
        free[..., -1] = self.infer_noise
        of_data = free[..., :, None] * e.information * free[..., None, :]
        return self.counts[:, None, None] * of_data + prior_precision(h, self.infer_noise).diag_embed()

    def unpack(self, p: Float[Tensor, "m j q"]) -> Hyperparameters:
        amplitude = p[..., -2].exp()
        noise = noise_variance(p[..., -1], amplitude, self.o.noise)
        return Hyperparameters(p[..., :-2].exp(), amplitude, noise, torch.zeros_like(amplitude))


@dataclass(frozen=True)
class _Gaussian:
    """One that draws come from, of each row."""

    center: Float[Tensor, "j q"]
    root: Float[Tensor, "j q q"]
    """Of the covariance."""

    @cached_property
    def _factors(self) -> tuple[Tensor, Tensor]:
        """Of the root: with hundreds of options this takes longest, and is done once."""
        return torch.linalg.lu_factor(self.root)

    def at(self, z: Float[Tensor, "m j q"]) -> Float[Tensor, "m j q"]:
        """Where standard normal numbers are to be."""
        return self.center + (self.root @ z.movedim(0, -1)).movedim(-1, 0)

    def log_density(self, x: Float[Tensor, "m j q"]) -> Float[Tensor, "m j"]:
        """Up to a constant."""
        z = torch.linalg.lu_solve(*self._factors, (x - self.center).movedim(0, -1))
        log_root = self._factors[0].diagonal(dim1=-2, dim2=-1).abs().log().sum(-1)
        return -0.5 * z.square().sum(-2).mT - log_root

    def wider(self) -> "_Gaussian":
        return _Gaussian(self.center, WIDER * self.root)


def sample(
    kernel: Kernel, o: Observations, best: Hyperparameters, count: int, source: Source, rounds: int = ROUNDS
) -> Hyperparameters:
    """So many samples, (*w, s, j), of the hyperparameters of rows that are numbers; `best` are those of the maximum."""
    *w, j = best.amplitude.shape
    own = _in_a_row(o)
    counts = own.mask.sum(-1)
    are_many = bool((counts > MANY_DATA).all())
    some = own.thinned(SOME_DATA) if are_many else own
    posterior = _Posterior(kernel, some, counts / some.mask.sum(-1).clamp(min=1))
    p = torch.cat([best.lengthscale.log(), best.amplitude.log()[..., None], best.noise.log()[..., None]], -1)
    p = p.flatten(0, -2).clamp(posterior.lower, posterior.upper)
    around = _Gaussian(p, _curvature(posterior, p))

    def normals(*size: int) -> Tensor:
        return normal(source, *w, *size, like=p).movedim(len(w), 0).flatten(1, len(w) + 1)

    if are_many:
        z = normals(-(-count // 2), j, p.shape[-1])
        # on either side: their mean is the maximum, however few they are
        drawn = posterior.free(around.wider().at(torch.cat([z, -z])[:count]), p)
        chosen = posterior(drawn.clamp(posterior.lower, posterior.upper))
    else:
        every, log_weight = _weighted(posterior, around, lambda: normals(DRAWS, j, p.shape[-1]), rounds)
        order = uniform(source, *w, j, count, like=p).flatten(0, -2).argsort(-1)
        chosen = every.of_each_row(_resampled(log_weight, count, order))
    h = posterior.unpack(chosen.p)
    # a constant mean for each, drawn from what the data leave open of it
    deviation = torch.minimum(chosen.mean_precision.clamp(min=1e-300).rsqrt(), h.amplitude.sqrt())
    return _in_studies(h._replace(mean=chosen.mean + normals(count, j) * deviation), w, count)


def _weighted(
    posterior: _Posterior, around: _Gaussian, normals: Callable[[], Float[Tensor, "m j q"]], rounds: int
) -> tuple[_Looked, Float[Tensor, "m j"]]:
    """The maximum and draws around it with log weights that make them draws of the posterior, up to a constant.

    All draws weigh as those of the mixture of all Gaussians that they come from.
    """
    p = around.center
    gaussians, drawn = [around.wider()], [p[None]]
    looked: list[_Looked] = []
    densities: list[Tensor] = []  # of each Gaussian at all draws so far
    while True:
        drawn.append(posterior.free(gaussians[-1].at(normals()), p))
        looked.append(posterior(torch.cat(drawn)))
        every, drawn = _Looked(*map(torch.cat, zip(*looked, strict=True))), []
        news = zip(gaussians, densities, strict=False)
        densities = [torch.cat([known, each.log_density(looked[-1].p)]) for each, known in news]
        densities.append(gaussians[-1].log_density(every.p))
        log_weight = every.value - torch.stack(densities).logsumexp(0) + math.log(len(gaussians))
        if len(gaussians) == rounds:
            return every, log_weight
        gaussians.append(_fitted(every.p, log_weight, posterior.infer_noise).wider())


def _in_studies(h: Hyperparameters, w: Sequence[int], count: int) -> Hyperparameters:
    """Samples of all rows, (s, w j), as (*w, s, j)."""
    return Hyperparameters(*(part.view(count, *w, -1, *part.shape[2:]).movedim(0, len(w)) for part in h))


def _in_a_row(o: Observations) -> Observations:
    """The rows of all studies as those of one, as far as they are looked at here."""
    return replace(
        o,
        X=o.X.flatten(0, -3),
        y=o.y.flatten(0, -2),
        mask=o.mask.flatten(0, -2),
        noise=o.noise.flatten(),
        relative_noise=None if o.relative_noise is None else o.relative_noise.flatten(0, -2),
        least_noise=None if o.least_noise is None else o.least_noise.flatten(),
    )


def _curvature(posterior: _Posterior, p: Float[Tensor, "j q"]) -> Float[Tensor, "j q q"]:
    """A square root of the covariance that the curvature at the maximum stands for."""
    values, vectors = torch.linalg.eigh(torch.nan_to_num(posterior.precision(p)))
    return vectors * values.clamp(min=LEAST_PRECISION).rsqrt()[..., None, :]


def _fitted(x: Float[Tensor, "m j q"], log_weight: Float[Tensor, "m j"], infer_noise: Bool[Tensor, " j"]) -> _Gaussian:
    """That of the moments of weighted draws; where few have all the weight, it is spread first."""
    least = 3 * x.shape[-1]
    power = torch.ones_like(log_weight[0])
    for _ in range(12):
        are_few = (power * log_weight).softmax(0).square().sum(0) * least > 1
        if not bool(are_few.any()):
            break
        power = torch.where(are_few, power * 0.7, power)
    weight = (power * log_weight).softmax(0)[..., None]
    center = (weight * x).sum(0)
    apart = x - center
    covariance = torch.einsum("mja,mjb->jab", weight * apart, apart)
    least_variance = torch.full_like(center, 1e-4)
    least_variance[..., -1] = torch.where(infer_noise, 1e-4, 1.0)  # a noise that is given does not vary
    covariance.diagonal(dim1=-2, dim2=-1).add_(least_variance)
    return _Gaussian(center, torch.linalg.cholesky(covariance))


def _resampled(log_weight: Float[Tensor, "m j"], count: int, order: Int[Tensor, "j s"]) -> Int[Tensor, "s j"]:
    """Which draws are taken, in proportion to their weights, as evenly as can be; each row in an order of its own."""
    share = log_weight.softmax(0).cumsum(0).mT.contiguous()
    at = (torch.arange(count, dtype=share.dtype, device=share.device) + 0.5) / count
    chosen = torch.searchsorted(share, at.expand(len(share), -1).contiguous()).clamp(max=share.shape[-1] - 1)
    return torch.gather(chosen, -1, order).mT
