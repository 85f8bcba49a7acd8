"""Hyperparameters and warps together, by slice sampling (METHOD 10, 22)."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from pesky.model import slice as slice_sampling
from pesky.model.evidence import log_likelihood
from pesky.model.hyper import Hyperparameters, datum_noise, noise_variance, typical_amplitude
from pesky.model.kernel import Kernel
from pesky.model.prior import log_bounds, log_prior
from pesky.model.slice import flat_range, rows_of_chains, run, start_state, updated_alone
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
    shape, d = warp.strength.shape, data.X.shape[-1]
    data = data.rows(rows_of_chains(shape, data.X))
    infer_noise, sign = torch.isnan(data.noise), warp.strength.sign().flatten()
    lower, upper = (
        torch.cat([of_logs, of_warp], -1)
        for of_logs, of_warp in zip(
            log_bounds(d, typical_amplitude(data.y, data.mask)), warp_bounds(data, sign), strict=True
        )
    )

    def unpack(state: Float[Tensor, "c p"], which: Int[Tensor, " c"]) -> tuple[Hyperparameters, WarpedData]:
        own = data.rows(which)
        w = warp_data(own, sign[which] * state[:, -2].exp(), state[:, -1])
        amplitude = state[:, d].exp()
        noise = noise_variance(state[:, d + 1], amplitude, own.noise * (2 * w.at_reference).exp())
        return Hyperparameters(state[:, :d].exp(), amplitude, noise, state[:, d + 2]), w

    def log_density(state: Float[Tensor, "c p"], which: Int[Tensor, " c"]) -> Float[Tensor, " c"]:
        h, w = unpack(state, which)
        X, mask = data.X[which], data.mask[which]
        low, high = flat_range(w.y, mask)
        p = torch.cat([state[:, : d + 2], state[:, -2:]], -1)
        within = (h.mean >= low) & (h.mean <= high) & ((p >= lower[which]) & (p <= upper[which])).all(-1)
        each = datum_noise(h.noise, h.amplitude, w.relative.exp())
        value = log_likelihood(kernel, X, w.y, mask, h, each) + w.log_jacobian
        value = value + log_prior(h, infer_noise[which], typical_amplitude(w.y, mask))[0]
        value = value + log_warp_prior(sign[which], state[:, -2])
        return torch.where(within, value, -torch.inf)

    p = torch.stack([warp.strength.abs().log(), warp.shift], -1).flatten(0, -2).clamp(lower[:, -2:], upper[:, -2:])
    y = warp_data(data, sign * p[:, 0].exp(), p[:, 1]).y
    begun = start_state(start, (lower[:, :-2], upper[:, :-2]), flat_range(y, data.mask))
    state = torch.cat([begun, p], -1)
    alone = [*updated_alone(d, infer_noise), d + 3, d + 4]
    state = run(log_density, state, shape, [d, d + 1, d + 2], alone, sweeps, generator)
    h, w = unpack(state, torch.arange(len(state), device=state.device))
    drawn = Warp(sign * state[:, -2].exp(), state[:, -1], w.unit, data.reference)
    return (
        Hyperparameters(*(part.view(*shape, *part.shape[1:]) for part in h)),
        Warp(*(part.view(shape) for part in drawn)),
    )


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
