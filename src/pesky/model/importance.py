"""How uncertain hyperparameters are: samples of their posterior, found from its maximum (METHOD 10).

Adaptive importance sampling: draws from a Gaussian around the maximum, which is fitted to them anew a few times, and of
all draws as many as are wanted, by their weights. It takes a few hundred likelihoods, all in a few batches.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.model.evidence import marginal_likelihood, profile_likelihood
from pesky.model.hyper import Hyperparameters, datum_noise, noise_variance, typical_amplitude
from pesky.model.kernel import Kernel
from pesky.model.prior import log_bounds, log_prior, prior_precision
from pesky.numerics.rng import Source, normal, uniform
from pesky.observations import Observations

ROUNDS, DRAWS, MOST_DRAWS = 2, 64, 256
"""So many draws where there are most data, and the more the fewer there are: these leave more open, and cost less."""
WIDER = 1.3
"""How much wider than fitted a Gaussian is drawn from: what has lighter tails than the posterior misses them."""
MANY_DATA, SOME_DATA = 64, 192
"""With more values of every row the posterior is taken for the Gaussian that its curvature at the maximum stands for,
and of many values some, evenly chosen, tell the curvature: that of the likelihood grows with their number."""
LEAST_PRECISION = 1 / 3
"""Of a combination of the logs of hyperparameters: about that of their prior."""


class _Posterior:
    """The log posterior density of (log lengthscales, log amplitude, log noise) of each row."""

    def __init__(self, kernel: Kernel, o: Observations, counts: Float[Tensor, " j"]) -> None:
        """The likelihood of each row counts so many times."""
        self.kernel: Kernel = kernel
        self.o, self.counts = o, counts
        self.typical, self.infer_noise = typical_amplitude(o.y, o.mask), torch.isnan(o.noise)
        self.lower, self.upper = log_bounds(o.X.shape[-1], self.typical, o.least_noise)

    def __call__(self, p: Float[Tensor, "m j q"]) -> Float[Tensor, "m j"]:
        """The density.

        The fit takes the best mean for the true one. The density is an integral over all means: that is a factor of the
        deviation which the data leave of it, and without it three values would be as if they were two.
        """
        o, h = self.o, self.unpack(p)
        e = profile_likelihood(self.kernel, o.X, o.y, o.mask, h, datum_noise(h.noise, h.amplitude, o.relative_noise))
        of_mean = torch.where(o.mask.any(-1), -0.5 * e.mean_precision.clamp(min=1e-300).log(), 0.0)
        return self.counts * e.log_likelihood + of_mean + log_prior(h, self.infer_noise, self.typical)[0]

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

    def within(self, p: Float[Tensor, "m j q"]) -> Bool[Tensor, "m j"]:
        """Whether they are within the bounds of the search for the maximum."""
        return ((p >= self.lower) & (p <= self.upper)).all(-1)


def sample(kernel: Kernel, o: Observations, best: Hyperparameters, count: int, source: Source) -> Hyperparameters:
    """So many samples, (*w, s, j), of the hyperparameters of rows that are numbers; `best` are those of the maximum."""
    *w, j = best.amplitude.shape
    own = _in_a_row(o)
    counts = own.mask.sum(-1)
    are_many = bool((counts > MANY_DATA).all())
    some = own.thinned(SOME_DATA) if are_many else own
    posterior = _Posterior(kernel, some, counts / some.mask.sum(-1).clamp(min=1))
    p = torch.cat([best.lengthscale.log(), best.amplitude.log()[..., None], best.noise.log()[..., None]], -1)
    p = p.flatten(0, -2).clamp(posterior.lower, posterior.upper)
    is_free = torch.ones_like(p, dtype=torch.bool)
    is_free[..., -1] = posterior.infer_noise
    gaussians, every = [(p, _curvature(posterior, p))], p[None]
    if are_many:
        drawn = normal(source, *w, -(-count // 2), j, p.shape[-1], like=p).movedim(len(w), 0).flatten(1, -2)
        drawn = torch.cat([drawn, -drawn])[:count]  # on either side: their mean is the maximum, however few they are
        drawn = torch.where(is_free, p + (gaussians[0][1] @ drawn[..., None])[..., 0], p)
        found = posterior.unpack(drawn.clamp(posterior.lower, posterior.upper))
        at_random = normal(source, *w, count, j, like=p).movedim(len(w), 0).flatten(1)
        return _in_studies(_with_means(kernel, some, found, at_random), w, count)
    value = torch.nan_to_num(posterior(every))
    log_weight = torch.zeros_like(value)
    draws = min(MOST_DRAWS, DRAWS * MANY_DATA // max(1, own.y.shape[-1]))
    for _ in range(ROUNDS):
        center, root = gaussians[-1]
        drawn = normal(source, *w, draws, j, p.shape[-1], like=p).movedim(len(w), 0).flatten(1, -2)
        drawn = torch.where(is_free, center + WIDER * (root @ drawn[..., None])[..., 0], p)
        found = posterior(drawn.clamp(posterior.lower, posterior.upper))
        found = torch.where(posterior.within(drawn) & torch.isfinite(found), found, -torch.inf)
        every, value = torch.cat([every, drawn]), torch.cat([value, found])
        log_weight = value - _log_density(every, gaussians, is_free)
        gaussians.append(_moments(every, log_weight, is_free))
    order = uniform(source, *w, j, count, like=p).flatten(0, -2).argsort(-1)
    chosen = _resampled(log_weight, count, order)
    p = torch.gather(every, 0, chosen[..., None].expand(*chosen.shape, p.shape[-1]))
    at_random = normal(source, *w, count, j, like=p).movedim(len(w), 0).flatten(1)
    return _in_studies(_with_means(kernel, own, posterior.unpack(p), at_random), w, count)


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


def _resampled(log_weight: Float[Tensor, "m j"], count: int, order: Int[Tensor, "j s"]) -> Int[Tensor, "s j"]:
    """Which draws are taken, in proportion to their weights, as evenly as can be; each row in an order of its own."""
    share = log_weight.softmax(0).cumsum(0).mT.contiguous()
    at = (torch.arange(count, dtype=share.dtype, device=share.device) + 0.5) / count
    chosen = torch.searchsorted(share, at.expand(len(share), -1).contiguous()).clamp(max=share.shape[-1] - 1)
    return torch.gather(chosen, -1, order).mT


def _with_means(
    kernel: Kernel, o: Observations, h: Hyperparameters, at_random: Float[Tensor, "s j"]
) -> Hyperparameters:
    """With a constant mean for each sample, drawn from what the data leave open of it."""
    e = profile_likelihood(kernel, o.X, o.y, o.mask, h, datum_noise(h.noise, h.amplitude, o.relative_noise))
    deviation = torch.minimum(e.mean_precision.clamp(min=1e-300).rsqrt(), h.amplitude.sqrt())
    return h._replace(mean=e.mean + at_random * deviation)
