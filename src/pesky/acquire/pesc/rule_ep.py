"""Predictive entropy search as published: expectation propagation conditions each belief on samples of x*."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from pesky.acquire.base import AcquisitionFunction, Context, Rule
from pesky.acquire.pesc.common import at_least, optional, resolution
from pesky.acquire.pesc.gain import InformationGain, information_gain, updated_gain
from pesky.errors import ProblemError, unknown_name
from pesky.model.belief import hyperparameter_samples


@dataclass(frozen=True)
class EntropySearchByEP(Rule):
    """PESC by expectation propagation (METHOD 2 to 8): `EntropySearchByEP.paper()` as in 2015, and otherwise finer.

    Finer are the samples of x*, chosen of many draws, and their neighborhoods, of which EP knows (METHOD 18).
    """

    name: ClassVar[str] = "pesc-ep"
    measures: ClassVar[Literal["each", "together"]] = "each"
    in_nats: ClassVar[bool] = True

    samples: int = 50
    """M: x* samples that EP conditions on."""
    draws: int | None = optional(512, int)
    """Functions drawn; the samples are weighted medoids of their minimizers. None: plain draws, one per sample."""
    local_reach: float | None = optional(0.175, float)
    """Extra points that may not be better than x*: one either side along each axis, this many lengthscales away.
    Against brute force, reaches from 0.15 to 0.2 do alike; 0.3 underestimates the gains, 0.05 and below are worse."""
    fine_from: int = at_least(0, 5)
    """Queries, for each parameter beyond the second, before which draws are plain and x* has no extra points."""
    candidates: int = 512
    """Points at which each draw is evaluated before it is polished, besides the measured ones."""
    polish_steps: int = at_least(0, 6)
    coarse: float | None = optional(1e-3, float)
    """Some queries are valued as if measurements had a noise of at least this share of the prior variance .."""
    coarse_every: int | None = optional(None, int)
    """.. each so-many-th. None: the 4th, the 9th, the 16th and so on, ever fewer but always another."""

    @classmethod
    def paper(cls) -> "EntropySearchByEP":
        """The acquisition of the ICML 2015 paper, its formulas corrected.

        Equally weighted draws of x*, conditioned on the measured points alone. The draws are thinned evenly from four
        times as many, which lowers their noise.
        """
        return cls(draws=None, local_reach=None, fine_from=0, coarse=None)

    @classmethod
    def option_names(cls) -> list[str]:
        """The options as a whole, and each of them: `rule_of("pesc-ep", options="paper", samples=20)`."""
        return ["options", *super().option_names()]

    def to_plain(self) -> dict[str, object]:
        return {"name": self.name, "options": "paper"} if self == self.paper() else super().to_plain()

    def _with(self, given: Mapping[str, Any]) -> "EntropySearchByEP":
        base, own = self, dict(given)
        if (name := own.pop("options", None)) is not None:
            named = {"default": EntropySearchByEP(), "paper": self.paper()}
            if name not in named:
                raise ProblemError(f"the rule {self.name!r}: {unknown_name('options', name, named)}")
            base = named[name]
        return replace(base, **own)

    def at(self, asked: int, parameters: int) -> "EntropySearchByEP":
        """The rule of the query after so many others.

        Extra points make the gain a peak around each x* sample. In many dimensions the samples are too few for their
        peaks to meet, and the highest is one sample's, not the most informative place: METHOD 21, F7.
        """
        is_early = asked < self.fine_from * (parameters - 2)
        return replace(self, draws=None, local_reach=None) if is_early else self

    def per_hyperparameter_sample(self, count: int) -> tuple[int, int | None]:
        """Samples and draws for each of `count` hyperparameter samples: about the same in all (METHOD 4.5)."""
        if count == 1:
            return self.samples, self.draws
        samples = max(math.ceil(self.samples / count), min(self.samples, 8))
        return samples, None if self.draws is None else max(self.draws // count, 4 * samples)

    def acquisition(self, context: Context) -> AcquisitionFunction:
        belief, space = context.belief, context.space
        rule = self.at(context.asked, len(space.parameters))
        with context.timed("x*"):
            samples, draws = rule.per_hyperparameter_sample(hyperparameter_samples(belief))
            optima = context.sample_optima(samples, draws, rule.candidates, rule.polish_steps)
        with context.timed("ep"):
            snap = None if space.is_continuous else space.snap
            return information_gain(
                belief,
                optima,
                rule.local_reach,
                context.generator,
                context.pending,
                snap,
                self.resolution(context.asked),
            )

    def update(self, before: AcquisitionFunction, context: Context) -> AcquisitionFunction:
        """Keep the x* samples and EP sites, and follow the new data (METHOD 20.2)."""
        assert isinstance(before, InformationGain)
        with context.timed("ep"):
            return updated_gain(
                before, context.belief, context.generator, context.pending, self.resolution(context.asked)
            )

    def resolution(self, asked: int) -> float:
        """See `common.resolution`."""
        return resolution(asked, self.coarse, self.coarse_every)
