"""How uncertain hyperparameters are: samples of their posterior, found from its maximum (METHOD 10).

Adaptive importance sampling: draws from a Gaussian around the maximum, which is fitted to them anew a few times, and of
all draws as many as are wanted, by their weights. It takes a few hundred likelihoods, all in a few batches.
"""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.infer.gaussian import cholesky
from pesky.model.hyper import (
    Hyperparameters,
    datum_noise,
    marginal_likelihood,
    noise_variance,
    padded_gram,
    typical_amplitude,
)
from pesky.model.kernel import Kernel
from pesky.model.prior import log_bounds, log_prior
from pesky.observations import Observations

ROUNDS, DRAWS = 4, 64
WIDER = 1.3
"""How much wider than fitted a Gaussian is drawn from: what has lighter tails than the posterior misses them."""
STEP = 0.05
"""Of the differences of gradients that give the curvature at the maximum."""
LEAST_PRECISION = 1 / 3
"""Of a combination of the logs of hyperparameters: about that of their prior."""


class _Posterior:
    """The log posterior density of (log lengthscales, log amplitude, log noise) of each row."""

    def __init__(self, kernel: Kernel, o: Observations) -> None:
        self.kernel: Kernel = kernel
        self.o = o
        self.typical, self.infer_noise = typical_amplitude(o.y, o.mask), torch.isnan(o.noise)
        self.lower, self.upper = log_bounds(o.X.shape[-1], o.y)

    def __call__(self, p: Float[Tensor, "m j q"]) -> tuple[Float[Tensor, "m j"], Float[Tensor, "m j q"]]:
        """The density that has its maximum where the fit has its own, and its gradient."""
        o, h = self.o, self.unpack(p)
        e = marginal_likelihood(self.kernel, o.X, o.y, o.mask, h, datum_noise(h.noise, h.amplitude, o.relative_noise))
        prior, by_prior = log_prior(h, self.infer_noise, self.typical)
        by_noise = torch.where(self.infer_noise, e.by_log_noise, 0.0)
        by_data = torch.cat([e.by_log_lengthscale, e.by_log_amplitude[..., None], by_noise[..., None]], -1)
        return e.log_likelihood + prior, by_data + by_prior

    def unpack(self, p: Float[Tensor, "m j q"]) -> Hyperparameters:
        amplitude = p[..., -2].exp()
        noise = noise_variance(p[..., -1], amplitude, self.o.noise)
        return Hyperparameters(p[..., :-2].exp(), amplitude, noise, torch.zeros_like(amplitude))

    def within(self, p: Float[Tensor, "m j q"]) -> Bool[Tensor, "m j"]:
        """Whether they are within the bounds of the search for the maximum."""
        return ((p >= self.lower) & (p <= self.upper)).all(-1)


def sample(
    kernel: Kernel, o: Observations, best: Hyperparameters, count: int, generator: torch.Generator
) -> Hyperparameters:
    """So many samples of the hyperparameters of rows that are numbers; `best` are those of the maximum."""
    posterior = _Posterior(kernel, o)
    p = torch.cat([best.lengthscale.log(), best.amplitude.log()[..., None], best.noise.log()[..., None]], -1)
    p = p.clamp(posterior.lower, posterior.upper)
    is_free = torch.ones_like(p, dtype=torch.bool)
    is_free[..., -1] = posterior.infer_noise
    gaussians, every = [(p, _curvature(posterior, p))], p[None]
    value = torch.nan_to_num(posterior(every)[0])
    log_weight = torch.zeros_like(value)
    for _ in range(ROUNDS):
        center, root = gaussians[-1]
        normal = torch.randn(DRAWS, *p.shape, generator=generator, dtype=p.dtype).to(p)
        drawn = torch.where(is_free, center + WIDER * (root @ normal[..., None])[..., 0], p)
        found = posterior(drawn.clamp(posterior.lower, posterior.upper))[0]
        found = torch.where(posterior.within(drawn) & torch.isfinite(found), found, -torch.inf)
        every, value = torch.cat([every, drawn]), torch.cat([value, found])
        log_weight = value - _log_density(every, gaussians, is_free)
        gaussians.append(_moments(every, log_weight, is_free))
    chosen = _resampled(log_weight, count, generator)
    p = torch.gather(every, 0, chosen[..., None].expand(*chosen.shape, p.shape[-1]))
    return _with_means(kernel, o, posterior.unpack(p), generator)


def _curvature(posterior: _Posterior, p: Float[Tensor, "j q"]) -> Float[Tensor, "j q q"]:
    """A square root of the covariance that the curvature at the maximum stands for."""
    steps = STEP * torch.eye(p.shape[-1], dtype=p.dtype, device=p.device)[:, None]
    ahead, behind = (posterior(p + sign * steps)[1] for sign in (1, -1))
    precision = torch.nan_to_num((behind - ahead) / (2 * STEP)).movedim(0, 1)
    values, vectors = torch.linalg.eigh((precision + precision.mT) / 2)
    return vectors * values.clamp(min=LEAST_PRECISION).rsqrt()[..., None, :]


def _log_density(
    x: Float[Tensor, "m j q"], gaussians: Sequence[tuple[Tensor, Tensor]], is_free: Bool[Tensor, "j q"]
) -> Float[Tensor, "m j"]:
    """Of the mixture of all Gaussians drawn from, up to a constant."""
    each = []
    for center, root in gaussians:
        z = torch.linalg.solve(root, ((x - center) * is_free)[..., None])[..., 0] / WIDER
        each.append(-0.5 * z.square().sum(-1) - torch.linalg.slogdet(root)[1])
    return torch.stack(each).logsumexp(0) - math.log(len(each))


def _moments(
    x: Float[Tensor, "m j q"], log_weight: Float[Tensor, "m j"], is_free: Bool[Tensor, "j q"]
) -> tuple[Float[Tensor, "j q"], Float[Tensor, "j q q"]]:
    """Mean and a root of the covariance of the weighted draws; where few have all the weight, it is spread first."""
    least = 3 * x.shape[-1]
    power = torch.ones_like(log_weight[0])
    for _ in range(12):
        weight = (power * log_weight).softmax(0)
        power = torch.where(weight.square().sum(0) * least > 1, power * 0.7, power)
    weight = (power * log_weight).softmax(0)[..., None]
    center = (weight * x).sum(0)
    apart = x - center
    covariance = torch.einsum("mja,mjb->jab", weight * apart, apart)
    covariance.diagonal(dim1=-2, dim2=-1).add_(torch.where(is_free, 1e-4, 1.0))
    return center, torch.linalg.cholesky(covariance)


def _resampled(log_weight: Float[Tensor, "m j"], count: int, generator: torch.Generator) -> Int[Tensor, "s j"]:
    """Which draws are taken, in proportion to their weights, as evenly as can be; each row in an order of its own."""
    share = log_weight.softmax(0).cumsum(0).mT.contiguous()
    at = (torch.arange(count, dtype=share.dtype, device=share.device) + 0.5) / count
    chosen = torch.searchsorted(share, at.expand(len(share), -1).contiguous()).clamp(max=share.shape[-1] - 1)
    order = torch.rand(chosen.shape, generator=generator).argsort(-1).to(chosen.device)
    return torch.gather(chosen, -1, order).mT


def _with_means(kernel: Kernel, o: Observations, h: Hyperparameters, generator: torch.Generator) -> Hyperparameters:
    """With a constant mean for each sample, drawn from what the data leave open of it."""
    data_noise = datum_noise(h.noise, h.amplitude, o.relative_noise)
    mean = marginal_likelihood(kernel, o.X, o.y, o.mask, h, data_noise).mean
    root = cholesky(padded_gram(kernel, o.X, o.mask, h, data_noise), h.amplitude)
    ones = o.mask.to(mean).expand(root.shape[:-1])
    precision = torch.linalg.solve_triangular(root, ones[..., None], upper=False).square().sum((-2, -1))
    normal = torch.randn(mean.shape, generator=generator, dtype=mean.dtype).to(mean)
    return h._replace(mean=mean + normal * torch.minimum(precision.clamp(min=1e-300).rsqrt(), h.amplitude.sqrt()))
