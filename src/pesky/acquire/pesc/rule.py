"""Predictive entropy search with constraints: the information about where the constrained minimum is."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from pesky.acquire.base import AcquisitionFunction, Context, Rule
from pesky.acquire.grouped.gain import GroupedGain
from pesky.acquire.pesc.gain import InformationGain, information_gain, updated_gain
from pesky.acquire.pesc.options import DEFAULT, OPTIONS, PescOptions
from pesky.acquire.pesc.sampled import gain_beside, gain_on_cells, sampled_gain
from pesky.errors import ProblemError, unknown_name
from pesky.model.belief import hyperparameter_samples


@dataclass(frozen=True)
class PredictiveEntropySearch(Rule):
    """PESC (Hernandez-Lobato et al., 2015): what a measurement tells about x*, the constrained minimizer.

    The options "default" take it from joint samples of all outcomes (METHOD 9.1), "ep" and "paper" from EP.
    """

    name: ClassVar[str] = "pesc"
    measures: ClassVar[Literal["each", "together"]] = "each"
    in_nats: ClassVar[bool] = True

    options: PescOptions = DEFAULT
    """Or their name, "default", "ep" or "paper"."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", self._named(self.options))

    @classmethod
    def option_names(cls) -> list[str]:
        """The options as a whole, and each of them: `rule_of("pesc", options="paper", samples=20)`."""
        return ["options", *PescOptions.names()]

    def to_plain(self) -> dict[str, object]:
        name = next((name for name, options in OPTIONS.items() if options == self.options), None)
        return {"name": self.name, **({"options": name} if name is not None else vars(self.options))}

    def _with(self, given: Mapping[str, Any]) -> "PredictiveEntropySearch":
        single = {name: value for name, value in given.items() if name != "options"}
        PescOptions.check(single)
        return replace(self, options=self._named(given.get("options", self.options)).changed(single))

    def _named(self, given: object) -> PescOptions:
        """The options, which may be given by their name."""
        options = OPTIONS.get(given) if isinstance(given, str) else given
        if not isinstance(options, PescOptions):
            raise ProblemError(f"the rule {self.name!r}: {unknown_name('options', given, OPTIONS)}")
        return options

    def acquisition(self, context: Context) -> AcquisitionFunction:
        belief, space = context.belief, context.space
        if self.options.cells is not None:
            return sampled_gain(context, self.options)
        options = self.options.at(context.asked, len(space.parameters))
        with context.timed("x*"):
            samples, draws = options.per_hyperparameter_sample(hyperparameter_samples(belief))
            optima = context.sample_optima(samples, draws, options.candidates, options.polish_steps)
        with context.timed("ep"):
            snap = None if space.is_continuous else space.snap
            resolution = options.resolution(context.asked)
            return information_gain(
                belief, optima, options.local_reach, context.generator, context.pending, snap, resolution
            )

    def once_more(self, before: AcquisitionFunction, context: Context) -> AcquisitionFunction:
        if isinstance(before, GroupedGain):
            return gain_beside(before, context, self.options)
        return self.acquisition(context)

    def independent(self, before: AcquisitionFunction, context: Context) -> AcquisitionFunction | None:
        if isinstance(before, GroupedGain) and before.optima is not None:
            return gain_on_cells(context, self.options, before.optima)
        return None

    def update(self, before: AcquisitionFunction, context: Context) -> AcquisitionFunction:
        """Keep the cells, or the x* samples and EP sites, and follow the new data (METHOD 20.2)."""
        if isinstance(before, GroupedGain) and before.optima is not None:
            return gain_on_cells(context, self.options, before.optima)
        if not isinstance(before, InformationGain):
            return self.acquisition(context)
        with context.timed("ep"):
            resolution = self.options.resolution(context.asked)
            return updated_gain(before, context.belief, context.generator, context.pending, resolution)


@dataclass(frozen=True)
class UnconstrainedEntropySearch(PredictiveEntropySearch):
    """PES (Hernandez-Lobato et al., 2014): the same where nothing is constrained."""

    name: ClassVar[str] = "pes"

    def check(self, dim: int, constraints: int) -> None:
        if constraints:
            raise ProblemError(
                f"the rule 'pes' is for problems without constraints, and this one has {constraints}: use 'pesc'."
            )
