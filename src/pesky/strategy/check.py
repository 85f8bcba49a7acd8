"""CheckModel: where nothing seems worth measuring, doubt the model and check what its answer rests on."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.acquire.base import Context
from pesky.acquire.improvement.eic import ExpectedImprovement
from pesky.data.pending import Pending
from pesky.model.belief import for_hyper_samples, over_hyper_samples
from pesky.model.hyper import is_noise_free
from pesky.model.moments import moments_of
from pesky.optimum.recommend import recommend
from pesky.strategy.masks import Duplicates, Masks
from pesky.strategy.select import NEGLIGIBLE, Decision, best_of_each_task, take
from pesky.strategy.step import Step
from pesky.strategy.task_values import TaskOptions, TaskValues

if TYPE_CHECKING:
    from pesky.strategy.query import Query
    from pesky.strategy.situation import Situation

UNCHECKED = 1e-6
"""A row is unchecked at a point where its variance exceeds this share of the amplitude."""
FINELY_UNCHECKED = 1e-12
"""The same of rows without noise, for every other question: they have digits to gain, but no less is to be learnt of
other solutions."""
CANDIDATES = 256
"""Points all over the space, of which the least known may be asked."""
ASIDE = 0.1
"""What is closer than this to a point of the cube that is being measured will be known by that."""

_CHECK = "a check of the model, since the rule expects to learn nothing"


@dataclass(frozen=True)
class CheckModel(Step):
    """Where the rule expects to learn nothing: what is least known at the recommendation, or else elsewhere.

    The model may be sure of a wrong solution, when few measurements have misled its hyperparameters, and would then
    never ask the question that shows it.
    """

    kinds: ClassVar = {
        "check": f"{_CHECK}: what is least known at the recommendation",
        "check-better": f"{_CHECK}: where a better point may be",
        "check-unknown": "a check of the model, since a coarse look finds nothing to learn: where least is known",
    }

    gain: float = NEGLIGIBLE
    """Nats below which a query tells nothing."""
    coarse_gain: float = 1e-2
    """The same of a query that is valued coarsely, to see whether there is another solution than the one whose digits
    are sought: joint samples leave no gain below their own error, some 1e-4 where only one solution is seen."""

    def propose(self, situation: "Situation") -> "Query | None":
        if situation.level == "thompson" or not situation.rule.in_nats or situation.min_probability is not None:
            return None
        values, best = situation.values, situation.best
        if not bool(self.is_sure(best)):
            return None
        checked, is_checked, is_answer = self.checked(best, values, situation.masks(values.context))
        kind = "check" if bool(is_answer) else "check-unknown" if best.acquisition.is_coarse else "check-better"
        return situation.query(values, checked, kind) if bool(is_checked) else None

    def is_sure(self, best: Decision) -> Bool[Tensor, "*w"]:
        """Whether the model is so sure that nothing is worth measuring."""
        return best.estimate < (self.coarse_gain if best.acquisition.is_coarse else self.gain)

    def checked(
        self, best: Decision, values: TaskValues, masks: Masks
    ) -> tuple[Decision, Bool[Tensor, "*w"], Bool[Tensor, "*w"]]:
        """The decision, or what checks the model where it is sure; where that is so, and where it is at the answer.

        A coarse look has no use for digits nor for what the model knows of: it goes where least is known.
        """
        context, _, acquisition, task_options = values
        duplicates, is_fine, is_sure = masks.duplicates, not acquisition.is_coarse, self.is_sure(best)
        with context.timed("maximize"):
            unknown = partial(least_known, context, task_options, duplicates)
            elsewhere = partial(_improving, values, masks) if is_fine else unknown
            task, u, is_answer = fallback(context, task_options, elsewhere, duplicates, is_fine=is_fine)
            if duplicates is not None:
                is_sure = is_sure & ~duplicates.at(u[None])[0, task]
            with torch.no_grad():
                here = u[..., None, :]
                prices = task_options.prices(here)[..., 0, :]
                value = take(values.without_cost(values.per_cost(here)[..., 0, :], prices), task)
            found = best._replace(
                task=torch.where(is_sure, task, best.task),
                u=torch.where(is_sure[..., None], u, best.u),
                value=torch.where(is_sure, value, best.value),
                price=torch.where(is_sure, take(prices, task), best.price),
            )
        found = found._replace(gain=values.in_nats(found.value), seconds=dict(context.timings.seconds))
        return found, is_sure, is_answer


def _improving(values: TaskValues, masks: Masks) -> Float[Tensor, "*w d"]:
    """Where a better point is most to be expected: expected improvement with constraints."""
    by_improvement = TaskValues.of(values.context, ExpectedImprovement(), values.task_options)
    best = best_of_each_task(by_improvement, masks, is_quick=False)
    return values.context.space.snap(take(best.x, best.value.argmax(-1)))


def fallback(
    context: Context,
    task_options: TaskOptions,
    elsewhere: Callable[[], Float[Tensor, "*w d"]],
    duplicates: Duplicates | None = None,
    *,
    is_fine: bool = True,
) -> tuple[Int[Tensor, "*w"], Float[Tensor, "*w d"], Bool[Tensor, "*w"]]:
    """The task whose outcomes are most uncertain per cost: at the recommendation, or `elsewhere` once that is checked.

    Finely, for the sake of digits, or not. No duplicate, if any task is none at the point. The last of the three says
    whether the point is the recommendation.
    """
    here = recommend(context.belief, context.space, context.confidence, context.draw_seed()).u[..., None, :]
    unknown = _unknown(context, here)
    value = _per_cost(unknown, task_options, here, duplicates)[..., 0]
    least = _unchecked(context) if is_fine and context.asked % 2 == 0 else UNCHECKED
    is_unchecked = (unknown[..., 0] > least).to(unknown) @ task_options.shares.mT.to(unknown) > 0
    is_open = (is_unchecked & torch.isfinite(value)).any(-1)
    if context.pending is not None:
        is_open = is_open & _is_aside(here, context.pending)[..., 0]
    if bool(is_open.all()):
        return value.argmax(-1), here[..., 0, :], is_open
    there = elsewhere()[..., None, :]
    value_there = _per_cost(_unknown(context, there), task_options, there, duplicates)[..., 0]
    task = torch.where(is_open, value.argmax(-1), value_there.argmax(-1))
    return task, torch.where(is_open[..., None, None], here, there)[..., 0, :], is_open


def least_known(
    context: Context, task_options: TaskOptions, duplicates: Duplicates | None = None
) -> Float[Tensor, "*w d"]:
    """Of points all over the space, the one where any task has the most uncertain outcomes per cost."""
    X = context.spread(CANDIDATES)
    value = _per_cost(_unknown(context, X), task_options, X, duplicates).amax(-2)
    if context.pending is not None:
        is_aside = _is_aside(X, context.pending)
        value = torch.where(is_aside | ~is_aside.any(-1, keepdim=True), value, -torch.inf)
    at = value.argmax(-1)
    return torch.gather(X, -2, at[..., None, None].expand(*at.shape, 1, X.shape[-1]))[..., 0, :]


def _is_aside(X: Float[Tensor, "*w x d"], pending: Pending) -> Bool[Tensor, "*w x"]:
    """Whether nothing is being measured close to each point."""
    return (X[..., None, :] - pending.X).abs().amax(-1).amin(-1) >= ASIDE


def _unknown(context: Context, X: Float[Tensor, "*w x d"]) -> Float[Tensor, "*w j x"]:
    """The variance of every row at each point, as a share of its amplitude."""
    belief = context.belief
    with torch.no_grad():
        variance = moments_of(belief, for_hyper_samples(belief, X)).variance / belief.amplitude[..., None]
    unknown = over_hyper_samples(belief, variance, 2).mean(-3)
    # A yes or no leaves its latent function uncertain however often it is measured: it would be asked for ever.
    return torch.where(belief.likelihoods.is_settled_by_repeating[:, None].to(unknown.device), unknown, 0.0)


def _per_cost(
    unknown: Float[Tensor, "*w j x"],
    task_options: TaskOptions,
    X: Float[Tensor, "*w x d"],
    duplicates: Duplicates | None,
) -> Float[Tensor, "*w t x"]:
    """How uncertain what each task measures is, for its price; nothing is gained by a duplicate."""
    with torch.no_grad():
        value = (task_options.shares.to(unknown) @ torch.log1p(unknown / UNCHECKED)) / task_options.prices(X).mT
    return value if duplicates is None else torch.where(duplicates.at(X).mT, -torch.inf, value)


def _unchecked(context: Context) -> Float[Tensor, "*w j"]:
    """The share of its amplitude above which the variance of each row is to be looked at, for the sake of digits."""
    belief = context.belief
    is_exact = over_hyper_samples(belief, is_noise_free(belief.noise, belief.amplitude)).all(-2)
    return torch.where(is_exact, FINELY_UNCHECKED, UNCHECKED)
