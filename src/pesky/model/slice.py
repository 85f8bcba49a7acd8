"""Hyperparameters by slice sampling: S chains of all rows side by side (METHOD 10; Neal 2003)."""

import math
from collections.abc import Callable, Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.model.hyper import Hyperparameters, datum_noise, log_likelihood, noise_variance, typical_amplitude
from pesky.model.kernel import Kernel

MAX_LENGTHSCALE = 2.0
NOISE_SCALE = 0.1
STEPS_OUT = 8
MAX_SHRINKS = 40


def log_prior(
    h: Hyperparameters, infer_noise: Bool[Tensor, " j"], typical: Float[Tensor, "*#b j"]
) -> Float[Tensor, "*b j"]:
    """Log prior of the logs: lengthscales uniform on (0, 2], noise of horseshoe type, amplitude log-normal.

    The amplitude's prior has deviation 1 around the `typical` one.
    """
    log_l, log_a, s2 = h.lengthscale.log(), h.amplitude.log() - typical.log(), h.noise
    within = (h.lengthscale <= MAX_LENGTHSCALE).all(-1) & (log_l > math.log(1e-3)).all(-1)
    horseshoe = torch.log(torch.log1p((NOISE_SCALE / s2).square())) + s2.log()
    noise = torch.where(infer_noise, horseshoe, 0.0)
    within = within & (~infer_noise | (s2 > 1e-9))
    return torch.where(within, log_l.sum(-1) - 0.5 * log_a.square() + noise, -torch.inf)


def slice_along(
    log_density: Callable[[Tensor], Tensor],
    state: Float[Tensor, "s j p"],
    direction: Float[Tensor, "s j p"],
    generator: torch.Generator,
) -> Float[Tensor, "s j p"]:
    """Next state of every chain: a univariate slice update with stepping out and shrinkage along `direction`."""

    def uniform() -> Tensor:
        return torch.rand(state.shape[:2], generator=generator, dtype=state.dtype).to(state.device)

    def at(offset: Tensor) -> Tensor:
        return log_density(state + offset[..., None] * direction)

    level = log_density(state) + torch.log(uniform().clamp(min=1e-300))
    right = uniform()
    left = right - 1
    for sign, edge in ((-1, left), (1, right)):
        for _ in range(STEPS_OUT):
            inside = at(edge) > level
            if not bool(inside.any()):
                break
            edge += sign * inside
    offset = torch.zeros_like(left)
    waiting = torch.ones_like(left, dtype=torch.bool)
    for _ in range(MAX_SHRINKS):
        proposal = left + (right - left) * uniform()
        accepted = waiting & (at(proposal) > level)
        offset = torch.where(accepted, proposal, offset)
        waiting = waiting & ~accepted
        if not bool(waiting.any()):
            break
        left = torch.where(waiting & (proposal < 0), proposal, left)
        right = torch.where(waiting & (proposal >= 0), proposal, right)
    return state + offset[..., None] * direction


def sample(
    kernel: Kernel,
    X: Float[Tensor, "j n d"],
    y: Float[Tensor, "j n"],
    mask: Bool[Tensor, "j n"],
    noise: Float[Tensor, " j"],
    start: Hyperparameters,
    sweeps: int,
    generator: torch.Generator,
    relative_noise: Float[Tensor, "j n"] | None = None,
) -> Hyperparameters:
    """The chains after `sweeps` updates of every hyperparameter; `start` has the chains as its leading dimension.

    `relative_noise` is the noise of each datum as a multiple of its row's.
    """
    infer_noise, typical = torch.isnan(noise), typical_amplitude(y, mask)
    d = X.shape[-1]
    low, high = flat_range(y, mask)

    def unpack(state: Tensor) -> Hyperparameters:
        amplitude = state[..., d].exp()
        s2 = noise_variance(state[..., d + 1], amplitude, noise)
        return Hyperparameters(state[..., :d].exp(), amplitude, s2, state[..., d + 2])

    def log_density(state: Tensor) -> Tensor:
        h = unpack(state)
        within = (h.mean >= low) & (h.mean <= high)
        each = datum_noise(h.noise, h.amplitude, relative_noise)
        value = log_prior(h, infer_noise, typical) + log_likelihood(kernel, X, y, mask, h, each)
        return torch.where(within, value, -torch.inf)

    state = clamp_start(start, low, high)
    for _ in range(sweeps):
        state = sweep(log_density, state, [d, d + 1, d + 2], list(range(d)), generator)
    return unpack(state)


def flat_range(
    y: Float[Tensor, "*s j n"], mask: Bool[Tensor, "j n"]
) -> tuple[Float[Tensor, "*s j"], Float[Tensor, "*s j"]]:
    """Where the prior of the mean is flat: the range of the data and one deviation beyond; around zero without any."""
    seen = torch.cat([y, y.new_zeros(*y.shape[:-1], 1)], -1)
    there = torch.cat([mask, ~mask.any(-1, keepdim=True)], -1)
    low = torch.where(there, seen, torch.inf).amin(-1) - 1
    return low, torch.where(there, seen, -torch.inf).amax(-1) + 1


def clamp_start(
    h: Hyperparameters, low: Float[Tensor, "*#s j"], high: Float[Tensor, "*#s j"]
) -> Float[Tensor, "s j p"]:
    """The state of chains that start at h, or close to it, where the prior has them: logs, and the mean."""
    mean = torch.minimum(torch.maximum(h.mean, low), high)
    logs = torch.stack([h.amplitude.log(), h.noise.clamp(min=1e-8).log(), mean], -1)
    return torch.cat([h.lengthscale.clamp(max=0.999 * MAX_LENGTHSCALE).log(), logs], -1)


def sweep(
    log_density: Callable[[Tensor], Tensor],
    state: Float[Tensor, "s j p"],
    together: Sequence[int],
    alone: Sequence[int],
    generator: torch.Generator,
) -> Float[Tensor, "s j p"]:
    """The state after one update along a random direction of some parameters, and one of each other by itself."""
    joint = torch.randn(*state.shape[:2], len(together), generator=generator, dtype=state.dtype).to(state.device)
    direction = torch.zeros_like(state)
    direction[..., together] = joint / joint.norm(dim=-1, keepdim=True)
    state = slice_along(log_density, state, direction, generator)
    for i in alone:
        direction = torch.zeros_like(state)
        direction[..., i] = 1.0
        state = slice_along(log_density, state, direction, generator)
    return state
