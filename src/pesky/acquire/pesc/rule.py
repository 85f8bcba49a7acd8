"""Predictive entropy search with constraints: the information about where the constrained minimum is."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from pesky.acquire.base import AcquisitionFunction, Context, Rule
from pesky.acquire.pesc.gain import InformationGain, information_gain, refresh
from pesky.acquire.pesc.options import DEFAULT, PescOptions
from pesky.model.belief import hyperparameter_samples
from pesky.numerics.runtime import now


@dataclass(frozen=True)
class PredictiveEntropySearch(Rule):
    """PESC (Hernandez-Lobato et al., 2015): samples of x*, and EP for what knowing each of them would tell."""

    name: ClassVar[str] = "pesc"
    measures: ClassVar[Literal["each", "together"]] = "each"
    in_nats: ClassVar[bool] = True

    setting: PescOptions = DEFAULT

    def prepare(self, context: Context) -> InformationGain:
        belief = context.belief
        setting = self.setting.at(context.asked, len(context.space.parameters))
        began = now(belief.amplitude)
        samples, draws = setting.per_hyperparameter_sample(hyperparameter_samples(belief))
        optima = context.sample_optima(samples, draws, setting.candidates, setting.polish_steps)
        drawn = now(belief.amplitude)
        snap = None if context.space.is_continuous else context.space.snap
        resolution = setting.resolution(context.asked)
        acquisition = information_gain(
            belief, optima, setting.local_reach, context.generator, context.pending, snap, resolution
        )
        acquisition.seconds = {"x*": drawn - began, "ep": now(belief.amplitude) - drawn}
        return acquisition

    def refresh(self, before: AcquisitionFunction, context: Context) -> InformationGain:
        """With the x* samples and the EP sites of before (METHOD 20.2)."""
        assert isinstance(before, InformationGain)
        began = now(context.belief.amplitude)
        resolution = self.setting.resolution(context.asked)
        acquisition = refresh(before, context.belief, context.generator, context.pending, resolution)
        acquisition.seconds = {"x*": 0.0, "ep": now(context.belief.amplitude) - began}
        return acquisition
