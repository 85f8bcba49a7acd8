"""The most informative affordable question: which task, at which point."""

import time
from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.information import information_gain
from pesky.acquire.maximize import maximize
from pesky.acquire.pending import Pending
from pesky.acquire.settings import Setting
from pesky.decide.doubt import NEGLIGIBLE, doubt
from pesky.infer import ep
from pesky.model.belief import Belief
from pesky.optimum.sample import Optima, sample_optima
from pesky.space import Space

CANDIDATES = 256
"""Points at which the gains are looked at before the ascent."""


class Decision(NamedTuple):
    task: int
    u: Float[Tensor, " d"]
    gain: float
    """Expected information of the task's outcomes there, in nats."""
    per_task: Float[Tensor, " t"]
    """Best gain of every task, each at its own best point."""
    optima: Optima
    ep: ep.Info
    seconds: dict[str, float]
    """CPU time of each stage."""


def choose(
    belief: Belief,
    space: Space,
    shares: Float[Tensor, "t j"],
    costs: Float[Tensor, " t"],
    setting: Setting,
    confidence: Float[Tensor, " k"],
    generator: torch.Generator,
    pending: Pending | None = None,
) -> Decision:
    """The task and point of most gain per cost.

    `shares` says how much of each row's gain a task gets, `confidence` what is asked of each constraint at the
    recommendation, which is checked once nothing else seems worth measuring.
    """
    clock = time.process_time
    began = clock()
    measured = belief.points
    points = torch.cat([space.spread(setting.candidates, _seed(generator)).to(measured), measured])
    samples, draws = setting.per_hyperparameter_sample(belief.amplitude.shape[:-1].numel())
    optima = sample_optima(belief, samples, draws, points, setting.polish_steps, generator)
    drawn = clock()
    snap = None if space.is_continuous else space.snap
    information = information_gain(
        belief, optima.chosen, optima.paths, setting.local_reach, generator, pending, snap
    )  # fmt: skip
    conditioned = clock()
    flat = optima.chosen.x.flatten(0, -2)
    spread = space.spread(CANDIDATES, _seed(generator)).to(flat)
    candidates = torch.cat([spread, flat, cloud(flat, belief, 64, generator, space.snap)])
    neighbors: Callable[[Tensor], Tensor] | None = None if space.is_continuous else space.neighbors
    best = maximize(information.gains, shares / costs[:, None], candidates, neighbors)
    gains = best.value * costs
    task = int(best.value.argmax())
    u, gain = space.snap(best.x[task]), float(gains[task])
    if float(gains.max()) < NEGLIGIBLE:
        task, u = doubt(belief, space, shares, costs, confidence, _seed(generator), pending)
        gain = float(information.gains(u[None])[0] @ shares[task])
    seconds = {"x*": drawn - began, "ep": conditioned - drawn, "maximize": clock() - conditioned}
    return Decision(task, u, gain, gains, optima, information.info, seconds)


def cloud(
    centers: Float[Tensor, "n d"],
    belief: Belief,
    count: int,
    generator: torch.Generator,
    snap: Callable[[Tensor], Tensor],
) -> Float[Tensor, "count d"]:
    """Points scattered around `centers`, at distances from a thousandth of to a whole lengthscale."""
    pick = torch.randint(centers.shape[0], (count,), generator=generator)
    lengthscale = belief.lengthscale.amin(-2).reshape(-1, centers.shape[-1]).amin(0)
    reach = 10 ** (-3 * torch.rand(count, 1, generator=generator, dtype=centers.dtype))
    step = torch.randn(count, centers.shape[-1], generator=generator, dtype=centers.dtype)
    return snap((centers[pick] + (reach * step).to(centers.device) * lengthscale).clamp(0.0, 1.0))


def _seed(generator: torch.Generator) -> int:
    return int(torch.randint(2**31, (1,), generator=generator))
