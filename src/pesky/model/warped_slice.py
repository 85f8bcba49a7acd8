"""Hyperparameters and warps together, by slice sampling (METHOD 10, 22)."""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.model import slice as slice_sampling
from pesky.model.hyper import Hyperparameters, datum_noise, log_likelihood, noise_variance, typical_amplitude
from pesky.model.kernel import Kernel
from pesky.model.slice import clamp_start, flat_range, log_prior, sweep
from pesky.model.warping import RowData, WarpedData, log_warp_prior, warp_bounds, warp_data
from pesky.numerics.warp import Warp
from pesky.observations import Observations


def sample(
    kernel: Kernel, data: RowData, start: Hyperparameters, warp: Warp, sweeps: int, generator: torch.Generator
) -> tuple[Hyperparameters, Warp]:
    """The chains after so many updates of every hyperparameter and both parameters of every warp.

    All rows are warped, in the direction in which they begin: none becomes the identity. `start` and `warp` have the
    chains as their leading dimension.
    """
    infer_noise, d = torch.isnan(data.noise), data.X.shape[-1]
    sign = warp.strength.sign()
    lower, upper = warp_bounds(data, sign)

    def unpack(state: Float[Tensor, "s j p"]) -> tuple[Hyperparameters, WarpedData]:
        w = warp_data(data, sign * state[..., -2].exp(), state[..., -1])
        amplitude = state[..., d].exp()
        noise = noise_variance(state[..., d + 1], amplitude, data.noise * (2 * w.at_reference).exp())
        return Hyperparameters(state[..., :d].exp(), amplitude, noise, state[..., d + 2]), w

    def log_density(state: Float[Tensor, "s j p"]) -> Float[Tensor, "s j"]:
        h, w = unpack(state)
        low, high = flat_range(w.y, data.mask)
        p = state[..., -2:]
        within = (h.mean >= low) & (h.mean <= high) & ((p >= lower) & (p <= upper)).all(-1)
        each = datum_noise(h.noise, h.amplitude, w.relative.exp())
        value = log_likelihood(kernel, data.X, w.y, data.mask, h, each) + w.log_jacobian
        value = value + log_prior(h, infer_noise, typical_amplitude(w.y, data.mask)) + log_warp_prior(sign, p[..., 0])
        return torch.where(within, value, -torch.inf)

    p = torch.stack([warp.strength.abs().log(), warp.shift], -1).clamp(lower, upper)
    y = warp_data(data, sign * p[..., 0].exp(), p[..., 1]).y
    state = torch.cat([clamp_start(start, *flat_range(y, data.mask)), p], -1)
    alone = [*range(d), d + 3, d + 4]
    for _ in range(sweeps):
        state = sweep(log_density, state, [d, d + 1, d + 2], alone, generator)
    h, w = unpack(state)
    return h, Warp(sign * state[..., -2].exp(), state[..., -1], w.unit, data.reference.expand_as(sign))


def sample_rows(
    kernel: Kernel,
    o: Observations,
    data: RowData,
    start: Hyperparameters,
    warp: Warp,
    sweeps: int,
    generator: torch.Generator,
) -> tuple[Hyperparameters, Warp]:
    """The same for rows of which some are warped; `o` has their values, as yet unwarped."""
    is_warped = warp.strength[0] != 0
    h, warps = Hyperparameters(*(part.clone() for part in start)), Warp(*(part.clone() for part in warp))
    if not bool(is_warped.all()):
        plain = o.select(~is_warped)
        found = slice_sampling.sample(
            kernel, plain.X, plain.y, plain.mask, plain.noise, start.rows(~is_warped), sweeps, generator
        )
        for whole, part in zip(h, found, strict=True):
            whole[:, ~is_warped] = part
    if bool(is_warped.any()):
        own = data.rows(is_warped.nonzero()[:, 0])
        found, drawn = sample(kernel, own, start.rows(is_warped), warp.select(is_warped), sweeps, generator)
        for whole, part in zip((*h, *warps), (*found, *drawn), strict=True):
            whole[:, is_warped] = part
    return h, warps
