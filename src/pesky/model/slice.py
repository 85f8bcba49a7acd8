"""Hyperparameters by slice sampling: S chains of all rows side by side (METHOD 10; Neal 2003).

Chains know nothing of each other, and each is of one row, of one study: all are one long list, and what is computed is
computed for those that still need it.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.model.evidence import log_likelihood
from pesky.model.hyper import Hyperparameters, datum_noise, noise_variance, typical_amplitude
from pesky.model.kernel import Kernel
from pesky.model.prior import log_bounds, log_prior
from pesky.numerics.rng import Source, normal, uniform

STEPS_OUT = 8
MAX_SHRINKS = 40

LogDensity = Callable[[Float[Tensor, "c p"], Int[Tensor, " c"]], Float[Tensor, " c"]]
"""Log density of some chains at a state of each: the states, and which chains they are."""


class Chains(NamedTuple):
    """Where all chains are."""

    state: Float[Tensor, "c p"]
    value: Float[Tensor, " c"]
    """Log density there."""


def slice_along(
    log_density: LogDensity,
    chains: Chains,
    direction: Float[Tensor, "c p"],
    uniforms: Float[Tensor, "c u"],
) -> Chains:
    """Every chain after a univariate slice update with stepping out and shrinkage along `direction`.

    It takes a uniform number for the level, one for the first interval, and one for each proposal.
    """
    state, value = chains
    every = torch.arange(len(state), device=state.device)

    def at(offset: Float[Tensor, " c"], which: Int[Tensor, " c"]) -> Float[Tensor, " c"]:
        return log_density(state[which] + offset[:, None] * direction[which], which)

    level = value + torch.log(uniforms[:, 0].clamp(min=1e-300))
    right = uniforms[:, 1].clone()
    left = right - 1
    for sign, edge in ((-1, left), (1, right)):
        which = every
        for _ in range(STEPS_OUT):
            which = which[at(edge[which], which) > level[which]]
            if not len(which):
                break
            edge[which] += sign
    offset, value, which = torch.zeros_like(left), value.clone(), every
    for i in range(MAX_SHRINKS):
        proposal = left[which] + (right - left)[which] * uniforms[which, 2 + i]
        found = at(proposal, which)
        is_in = found > level[which]
        offset[which[is_in]], value[which[is_in]] = proposal[is_in], found[is_in]
        which, proposal = which[~is_in], proposal[~is_in]
        if not len(which):
            break
        left[which] = torch.where(proposal < 0, proposal, left[which])
        right[which] = torch.where(proposal < 0, right[which], proposal)
    return Chains(state + offset[:, None] * direction, value)


def sample(
    kernel: Kernel,
    X: Float[Tensor, "*w j n d"],
    y: Float[Tensor, "*w j n"],
    mask: Bool[Tensor, "*w j n"],
    noise: Float[Tensor, "*w j"],
    start: Hyperparameters,
    sweeps: int,
    source: Source,
    relative_noise: Float[Tensor, "*w j n"] | None = None,
) -> Hyperparameters:
    """The chains after `sweeps` updates of every hyperparameter; `start` has them, (*w, s, j), w studies in lockstep.

    `relative_noise` is the noise of each datum as a multiple of its row's.
    """
    (n, d), shape = X.shape[-2:], start.amplitude.shape
    row = rows_of_chains(shape, X)
    X, y, mask, noise = (part.flatten(0, mask.dim() - 2)[row] for part in (X, y, mask, noise))
    relative = None if relative_noise is None else relative_noise.reshape(-1, n)[row]
    infer_noise, typical = torch.isnan(noise), typical_amplitude(y, mask)
    low, high = flat_range(y, mask)
    lower, upper = log_bounds(d, typical)

    def unpack(state: Float[Tensor, "c p"], which: Int[Tensor, " c"]) -> Hyperparameters:
        amplitude = state[:, d].exp()
        s2 = noise_variance(state[:, d + 1], amplitude, noise[which])
        return Hyperparameters(state[:, :d].exp(), amplitude, s2, state[:, d + 2])

    def log_density(state: Float[Tensor, "c p"], which: Int[Tensor, " c"]) -> Float[Tensor, " c"]:
        h, p = unpack(state, which), state[:, :-1]
        within = (h.mean >= low[which]) & (h.mean <= high[which]) & ((p >= lower[which]) & (p <= upper[which])).all(-1)
        each = datum_noise(h.noise, h.amplitude, None if relative is None else relative[which])
        value = log_likelihood(kernel, X[which], y[which], mask[which], h, each)
        value = value + log_prior(h, infer_noise[which], typical[which])[0]
        return torch.where(within, value, -torch.inf)

    alone, begun = updated_alone(d, infer_noise), start_state(start, (lower, upper), (low, high))
    state = run(log_density, begun, shape, [d, d + 1, d + 2], alone, sweeps, source)
    h = unpack(state, torch.arange(len(row), device=row.device))
    return Hyperparameters(*(part.view(*shape, *part.shape[1:]) for part in h))


def rows_of_chains(shape: Sequence[int], like: Tensor) -> Int[Tensor, " c"]:
    """Of which row each chain is, where the chains are (*w, s, j) and the rows (*w, j)."""
    *w, _, j = shape
    rows = torch.arange(math.prod(w) * j, device=like.device)
    return rows.view(*w, 1, j).expand(shape).flatten()


def updated_alone(d: int, infer_noise: Bool[Tensor, " c"]) -> list[int]:
    """The parameters that are updated each by itself: lengthscales, and an inferred noise.

    Noise may be anywhere within decades where amplitude and mean are not: along a direction of all three it would
    hardly move.
    """
    return [*range(d), d + 1] if bool(infer_noise.any()) else [*range(d)]


def flat_range(
    y: Float[Tensor, "*s j n"], mask: Bool[Tensor, "j n"]
) -> tuple[Float[Tensor, "*s j"], Float[Tensor, "*s j"]]:
    """Where the prior of the mean is flat: the range of the data and one deviation beyond; around zero without any."""
    seen = torch.cat([y, y.new_zeros(*y.shape[:-1], 1)], -1)
    there = torch.cat([mask, ~mask.any(-1, keepdim=True)], -1)
    low = torch.where(there, seen, torch.inf).amin(-1) - 1
    return low, torch.where(there, seen, -torch.inf).amax(-1) + 1


def start_state(
    h: Hyperparameters, of_logs: tuple[Float[Tensor, "c q"], Float[Tensor, "c q"]], of_mean: tuple[Tensor, Tensor]
) -> Float[Tensor, "c p"]:
    """The state of chains that start at h, or close to it, where the prior has them: logs, and the mean."""
    logs = torch.cat([h.lengthscale.log(), torch.stack([h.amplitude.log(), h.noise.log()], -1)], -1).flatten(0, -2)
    return torch.cat([logs.clamp(*of_logs), h.mean.flatten().clamp(*of_mean)[:, None]], -1)


def run(
    log_density: LogDensity,
    state: Float[Tensor, "c p"],
    shape: Sequence[int],
    together: Sequence[int],
    alone: Sequence[int],
    sweeps: int,
    source: Source,
) -> Float[Tensor, "c p"]:
    """The state after so many sweeps: an update along a random direction of some parameters, then of each other alone.

    The chains are (*w, s, j): each study's random numbers come from its own source.
    """
    chains = Chains(state, log_density(state, torch.arange(len(state), device=state.device)))
    axes = torch.eye(state.shape[-1], dtype=state.dtype, device=state.device)
    for _ in range(sweeps):
        joint = normal(source, *shape, len(together), like=state).flatten(0, -2)
        uniforms = uniform(source, *shape, 1 + len(alone), 2 + MAX_SHRINKS, like=state).flatten(0, -3)
        mixed = (joint / joint.norm(dim=-1, keepdim=True)) @ axes[list(together)]
        for i, direction in enumerate([mixed, *(axes[i].expand_as(state) for i in alone)]):
            chains = slice_along(log_density, chains, direction, uniforms[:, i])
    return chains.state
