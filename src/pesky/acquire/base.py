"""What a rule is: it makes an acquisition function, what measuring at any x is worth, of a decision's context."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.acquire.maximize import Effort
from pesky.data.pending import Pending
from pesky.errors import ProblemError, unknown_name
from pesky.model.belief import Belief, for_hyper_samples, over_hyper_samples
from pesky.numerics.rng import Seed, Source, draw_seed, normal, uniform
from pesky.numerics.runtime import Timings
from pesky.optimum.assessment import Facts
from pesky.optimum.measured import best_measured
from pesky.optimum.sample import Optima, sample_cells, sample_optima
from pesky.problem.fields import figure
from pesky.space import Space

FINEST = 1e-10
"""The least noise, as a share of the prior variance: beyond it are rounding errors."""
CHUNK = {"cpu": 2_000_000, "cuda": 400_000_000}
"""Numbers in the largest tensor of one evaluation, on each kind of device; more points are taken in turns."""


MOVED_FROM, MOST_MOVED = 8, 128
"""Of so many of the best measured points the discrete moves are candidates as well, and at most so many of them .."""
FOLLOWED, REACH = 3, 0.3
""".. each so many times more with its numbers of many values elsewhere, up to this far, most of them much nearer."""


@dataclass(frozen=True)
class Context:
    """All that a rule may look at for one decision.

    Of one study, or of several in lockstep, none of which awaits anything.
    """

    belief: Belief
    space: Space
    confidence: Float[Tensor, " k"]
    """The probability with which each constraint must hold at what is recommended."""
    generator: Source
    """Of this question alone; one for each of the studies in lockstep."""
    pending: Pending | None = None
    asked: int = 0
    """Questions so far, measured or not."""
    seed: Seed = 0
    """Of the whole study: the same for every question."""
    facts: Facts | None = None
    """Where constraints surely hold or not."""
    timings: Timings = field(default_factory=Timings)
    """How long the stages of this decision took."""

    def timed(self, stage: str) -> AbstractContextManager[None]:
        """Counts what happens within it as the time of this stage: `with context.timed("x*"):`."""
        return self.timings.timed(stage, self.belief.amplitude)

    def draw_seed(self) -> Seed:
        """A seed for what makes its own random numbers."""
        return draw_seed(self.generator)

    def spread(self, count: int) -> Float[Tensor, "*w count d"]:
        """Points all over the space, others at every call."""
        return self.space.spread(count, self.draw_seed()).to(self.belief.points)

    def sample_cells(self, count: int, draws: int, candidates: int, polish_steps: int) -> Optima:
        """Where x* may be; see `sample_cells`. `candidates` is at how many points each draw is evaluated first."""
        return sample_cells(self.belief, count, draws, self._candidates(candidates), polish_steps, self.generator)

    def sample_optima(self, samples: int, draws: int | None, candidates: int, polish_steps: int) -> Optima:
        """Samples of x*; see `sample_optima`. `candidates` is at how many points each draw is evaluated first."""
        return sample_optima(self.belief, samples, draws, self._candidates(candidates), polish_steps, self.generator)

    def _candidates(self, count: int) -> Float[Tensor, "*w n d"]:
        """Points all over the space, the measured ones, and what discrete moves lead to from the best of them."""
        near = [] if self.space.is_continuous or self.belief.points.dim() > 2 else [self._moved()]
        return torch.cat([self.spread(count), self._measured, *near], -2)

    def _moved(self) -> Float[Tensor, "n d"]:
        """The points a discrete move away from the best measured ones, as they are and with their numbers elsewhere.

        Minimizers of draws are sought by steps along the real columns alone: the others' values are those of
        candidates, of which few of those all over the space have any one combination.
        """
        good = best_measured(self.belief, MOVED_FROM)
        near = torch.cat([good[:0], *(self.space.neighbors(u) for u in good)])[:MOST_MOVED]
        graded = self.space.graded.to(near.device)
        if not bool(graded.any()):
            return near
        others = near.repeat(FOLLOWED, 1)
        reach = REACH * 10 ** (-3 * uniform(self.generator, len(others), 1, like=near))
        step = reach * normal(self.generator, *others.shape, like=near) * graded
        return self.space.snap(torch.cat([near, (others + step).clamp(0.0, 1.0)]))

    @cached_property
    def _measured(self) -> Float[Tensor, "*w n d"]:
        return best_measured(self.belief)


class AcquisitionFunction(ABC):
    """What measuring at x is worth, a function of x with everything else fixed.

    v values at each point: one gain per row, or a single value of measuring all rows together. Leading dimensions b
    are those of the belief.
    """

    is_log: bool = False
    """Whether the values are logarithms, because what is worth anything at all may differ by hundreds of decades."""
    memory_per_point: int = 1
    """Numbers that one point takes in the largest tensor on the way."""
    is_coarse: bool = False
    """Whether it values the measurements as if they were noisier than they are, to see past what they would tell."""

    def __init__(
        self,
        belief: Belief,
        search_centers: Float[Tensor, "*w c d"],
        search_mask: Bool[Tensor, "*w c"] | None = None,
        optima: Optima | None = None,
    ) -> None:
        self.belief = belief
        self.search_centers = search_centers
        """Points near which it is probably large: where the search looks closer."""
        everywhere = torch.ones_like(search_centers[..., 0], dtype=torch.bool)
        self.search_mask = everywhere if search_mask is None else search_mask
        """Which of the search centers are none of those before: of studies in lockstep some have fewer."""
        self.optima = optima
        """The samples of x* behind it, if it has any."""

    @property
    def batch(self) -> torch.Size:
        return self.belief.amplitude.shape[:-1]

    @property
    def effort(self) -> Effort:
        """How hard the search for its largest value climbs."""
        return Effort()

    @abstractmethod
    def forward(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b v x"]:
        """The values at points of their own for every batch element, differentiable in X."""

    def rough(self) -> "AcquisitionFunction | None":
        """What is good enough to leave a few of many points, in less time; None where nothing is."""
        return None

    def __call__(self, X: Float[Tensor, "*w x d"]) -> Float[Tensor, "*w x v"]:
        """The values at each point, averaged over hyperparameter samples."""
        chunks = X.split(max(1, CHUNK[X.device.type] // self.memory_per_point), -2)
        return torch.cat([self._averaged(chunk) for chunk in chunks], -2) if len(chunks) > 1 else self._averaged(X)

    def _averaged(self, X: Float[Tensor, "*w x d"]) -> Float[Tensor, "*w x v"]:
        each = over_hyper_samples(self.belief, self.forward(for_hyper_samples(self.belief, X)), 2)
        return (each.logsumexp(-3) - math.log(each.shape[-3]) if self.is_log else each.mean(-3)).mT


class PointPreference(AcquisitionFunction):
    """Of a rule that has made up its mind about the point: largest there, and falling with the distance.

    `weight` is what measuring each row there is worth.
    """

    def __init__(self, belief: Belief, u: Float[Tensor, "*w d"], weight: Float[Tensor, "*w v"]) -> None:
        super().__init__(belief, u[..., None, :])
        self.u, self.weight = u, weight

    def forward(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b v x"]:
        u, weight = (
            for_hyper_samples(self.belief, self.u[..., None, :]),
            for_hyper_samples(self.belief, self.weight[..., None]),
        )
        return weight * (-(X - u).square().sum(-1)).exp()[..., None, :]


_PLAIN = (bool, int, float, str)
"""What an option may be to be stored."""


class Rule(ABC):
    """How the next question is chosen; a frozen dataclass, whose fields are what can be set.

    A subclass has a `name`, says what it `measures`, "each" or "together", and whether its values are `in_nats`, and
    overrides `acquisition`, which does all that does not depend on x. What is pending in the context is its business:
    `with_pending(context.belief, context.pending)` is the belief as it will be, if the results come out as expected.
    """

    name: ClassVar[str]
    measures: ClassVar[Literal["each", "together"]]
    """Whether it says what each row is worth by itself, so that outcomes may be measured separately, or only what all
    of them are worth together."""
    in_nats: ClassVar[bool]
    """Whether its values are expected information."""
    learns: ClassVar[bool] = True
    """Whether its questions depend on what was told: one that does not asks no questions but its own, either."""

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        if missing := [name for name in ("name", "measures", "in_nats") if not hasattr(cls, name)]:
            raise TypeError(
                f"the rule {cls.__name__} lacks {', '.join(missing)}: every rule has these class variables."
            )

    def __post_init__(self) -> None:
        given = {each.name: getattr(self, each.name) for each in fields(self)}  # pyright: ignore[reportArgumentType]
        for name, value in self._checked(given).items():
            object.__setattr__(self, name, value)

    def _checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """What was given for these fields; a ProblemError if it is of the wrong kind."""
        known = {each.name: each for each in fields(self)}  # pyright: ignore[reportArgumentType] (a dataclass)
        return {
            name: figure(f"the rule {self.name!r}: {name}", value, known[name].default, known[name].metadata)
            for name, value in given.items()
        }

    @classmethod
    def option_names(cls) -> list[str]:
        """What can be set by name, as in a study file."""
        return [each.name for each in fields(cls)]  # pyright: ignore[reportArgumentType]

    def configured(self, given: Mapping[str, Any]) -> "Rule":
        """The same rule with these options; a ProblemError if one is unknown or of the wrong kind."""
        for name in given:
            if name not in self.option_names():
                raise ProblemError(f"the rule {self.name!r}: {unknown_name('option', name, self.option_names())}")
        return self._with(given)

    def _with(self, given: Mapping[str, Any]) -> "Rule":
        return replace(self, **self._checked(given))  # pyright: ignore[reportArgumentType, reportReturnType]

    def to_plain(self) -> dict[str, object]:
        """Its name and its options as plain data, from which `rule_of` makes an equal one."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}  # pyright: ignore[reportArgumentType]
        return {"name": self.name, **{name: v for name, v in given.items() if v is None or isinstance(v, _PLAIN)}}

    def check(self, dim: int, constraints: int) -> None:  # noqa: B027 (most rules take any problem)
        """Nothing, or a ProblemError that says why the rule does not suit such a problem."""

    @abstractmethod
    def acquisition(self, context: Context) -> AcquisitionFunction:
        """What measuring at any x is worth, in this context."""

    def once_more(self, before: AcquisitionFunction, context: Context) -> AcquisitionFunction:
        """The same for the next question of a batch: since `before` was made, nothing was told, and more is pending.

        It is no worse than one that is made anew; a rule says here what of the last one it need not compute again.
        """
        return self.acquisition(context)

    def independent(self, before: AcquisitionFunction, context: Context) -> AcquisitionFunction:
        """The same by other random numbers, so that what `before` chose is not flattered; itself without any.

        The largest of many noisy estimates is too large, and the more so the cheaper the task that it is compared for.
        """
        return before

    def update(self, before: AcquisitionFunction, context: Context) -> AcquisitionFunction:
        """The same, in haste: at the hyperparameters that `before` was made for, with more data or questions."""
        return self.acquisition(context)
