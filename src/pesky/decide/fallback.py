"""What to measure when nothing seems worth measuring: doubt the model and check what its answer rests on."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from pesky.acquire.base import Context
from pesky.decide.exclusion import Duplicates
from pesky.decide.task_values import TaskOptions
from pesky.model.belief import for_hyper_samples, over_hyper_samples
from pesky.model.hyper import is_noise_free
from pesky.model.moments import moments_of
from pesky.optimum.recommend import recommend

NEGLIGIBLE = 1e-5
"""Gains below this, in nats, tell nothing: the model is sure of the solution. It may be sure of a wrong one, when few
measurements have misled its hyperparameters, and would then never ask the question that shows it."""
COARSELY_NEGLIGIBLE = 1e-2
"""The same of a question that is valued coarsely, to see whether there is another solution than the one whose digits
are sought: joint samples leave no gain below their own error, some 1e-4 where only one solution is seen."""
UNCHECKED = 1e-6
"""A row is unchecked at a point where its variance exceeds this share of the amplitude."""
FINELY_UNCHECKED = 1e-12
"""The same of rows without noise, for every other question: they have digits to gain, but no less is to be learnt of
other solutions."""
CANDIDATES = 256
"""Points all over the space that may be asked once the recommendation is checked."""
ASIDE = 0.1
"""These keep so far, in the cube, from those being measured."""


def fallback(
    context: Context, task_options: TaskOptions, duplicates: Duplicates | None = None
) -> tuple[Int[Tensor, "*w"], Float[Tensor, "*w d"]]:
    """The task whose outcomes are most uncertain per cost: at the recommendation, or anywhere once that is checked.

    No duplicate, if any of the questions that it considers is none.
    """
    belief, seed = context.belief, context.draw_seed()
    advice = recommend(belief, context.space, context.confidence, seed)
    anywhere = context.space.spread(CANDIDATES, seed).to(advice.u)
    is_asked = torch.zeros_like(advice.is_confident)
    if context.pending is not None:
        distance = (torch.cat([advice.u[None], anywhere])[:, None] - context.pending.X).abs().amax(-1).amin(-1)
        is_asked = distance[0] < ASIDE
        anywhere = anywhere[distance[1:] >= min(ASIDE, float(distance[1:].max()))]
    X = torch.cat([advice.u[..., None, :], anywhere], -2)
    with torch.no_grad():
        variance = moments_of(belief, for_hyper_samples(belief, X)).variance / belief.amplitude[..., None]
        unknown = over_hyper_samples(belief, variance, 2).mean(-3)
        # A yes or no leaves its latent function uncertain however often it is measured: it would be asked for ever.
        unknown = torch.where(belief.likelihoods.is_settled_by_repeating[:, None].to(unknown.device), unknown, 0.0)
        shares = task_options.shares.to(unknown)
        value = (shares @ torch.log1p(unknown / UNCHECKED)) / task_options.prices(X).mT
        is_unchecked = shares @ (unknown[..., :1] > _unchecked(context)[..., None]).to(shares) > 0
        if duplicates is not None:
            is_duplicate = duplicates.at(X).mT
            value, is_unchecked = torch.where(is_duplicate, -torch.inf, value), is_unchecked & ~is_duplicate[:, :1]
    is_open = ~is_asked & is_unchecked.any(-2)[..., 0]
    task = torch.where(is_open, value[..., 0].argmax(-1), value[..., 1:].amax(-1).argmax(-1))
    own = torch.gather(value, -2, task[..., None, None].expand(*task.shape, 1, value.shape[-1]))[..., 0, :]
    at = torch.where(is_open, 0, 1 + own[..., 1:].argmax(-1))
    return task, torch.gather(X, -2, at[..., None, None].expand(*at.shape, 1, X.shape[-1]))[..., 0, :]


def _unchecked(context: Context) -> Float[Tensor, "*w j"]:
    """The share of its amplitude above which the variance of each row is to be looked at."""
    belief = context.belief
    is_exact = over_hyper_samples(belief, is_noise_free(belief.noise, belief.amplitude)).all(-2)
    return torch.where(is_exact & (context.asked % 2 == 0), FINELY_UNCHECKED, UNCHECKED)
