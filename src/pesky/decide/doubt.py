"""What to measure when nothing seems worth measuring: doubt the model and check what its answer rests on."""

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.pending import Pending
from pesky.decide.menu import Menu
from pesky.model.belief import Belief
from pesky.optimum.recommend import recommend
from pesky.space import Space

NEGLIGIBLE = 1e-5
"""Gains below this, in nats, tell nothing: the model is sure of the solution. It may be sure of a wrong one, when few
measurements have misled its hyperparameters, and would then never ask the question that shows it."""
UNCHECKED = 1e-6
"""A row is unchecked at a point where its variance exceeds this share of the amplitude."""

APART = 0.1
"""Questions keep this far, in the cube, from those being measured."""


def doubt(
    belief: Belief,
    space: Space,
    menu: Menu,
    confidence: Float[Tensor, " k"],
    seed: int,
    pending: Pending | None = None,
) -> tuple[int, Float[Tensor, " d"]]:
    """The task whose outcomes are most uncertain per cost: at the recommendation, or anywhere once that is checked."""
    advice = recommend(belief, space, confidence, seed)
    anywhere = space.spread(256, seed).to(advice.u)
    is_asked = False
    if pending is not None:
        distance = (torch.cat([advice.u[None], anywhere])[:, None] - pending.X).abs().amax(-1).amin(-1)
        is_asked = bool(distance[0] < APART)
        anywhere = anywhere[distance[1:] >= min(APART, float(distance[1:].max()))]
    X = torch.cat([advice.u[None], anywhere])
    batch = belief.amplitude.shape[:-1]
    with torch.no_grad():
        variance = belief.variance(X.expand(*batch, *X.shape)) / belief.amplitude[..., None]
        unknown = variance.reshape(-1, *variance.shape[-2:]).mean(0)
        # A yes or no leaves its latent function uncertain however often it is measured: it would be asked for ever.
        unknown = torch.where(belief.binary[:, None], 0.0, unknown)
        value = (menu.shares @ torch.log1p(unknown / UNCHECKED)) / menu.prices(X).mT
    if not is_asked and bool((menu.shares @ unknown[:, 0] > UNCHECKED).any()):
        return int(value[:, 0].argmax()), advice.u
    task = int(value[:, 1:].amax(-1).argmax())
    return task, anywhere[value[task, 1:].argmax()]
