"""Predictive entropy search with constraints: the information about where the constrained minimum is."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from pesky.acquire.information import InformationGain, information_gain, refresh
from pesky.acquire.rule import Rule, Scene, Worth
from pesky.acquire.settings import DEFAULT, Setting
from pesky.clock import now
from pesky.model.belief import hyperparameter_samples


@dataclass(frozen=True)
class PredictiveEntropySearch(Rule):
    """PESC (Hernandez-Lobato et al., 2015): samples of x*, and EP for what knowing each of them would tell."""

    name: ClassVar[str] = "pesc"
    measures: ClassVar[Literal["each", "together"]] = "each"
    in_nats: ClassVar[bool] = True

    setting: Setting = DEFAULT

    def prepare(self, scene: Scene) -> InformationGain:
        belief = scene.belief
        setting = self.setting.at(scene.asked, len(scene.space.parameters))
        began = now(belief.amplitude)
        samples, draws = setting.per_hyperparameter_sample(hyperparameter_samples(belief))
        optima = scene.sample_optima(samples, draws, setting.candidates, setting.polish_steps)
        drawn = now(belief.amplitude)
        snap = None if scene.space.is_continuous else scene.space.snap
        resolution = setting.resolution(scene.asked)
        worth = information_gain(belief, optima, setting.local_reach, scene.generator, scene.pending, snap, resolution)
        worth.seconds = {"x*": drawn - began, "ep": now(belief.amplitude) - drawn}
        return worth

    def refresh(self, before: Worth, scene: Scene) -> InformationGain:
        """With the x* samples and the EP sites of before (METHOD 20.2)."""
        assert isinstance(before, InformationGain)
        began = now(scene.belief.amplitude)
        resolution = self.setting.resolution(scene.asked)
        worth = refresh(before, scene.belief, scene.generator, scene.pending, resolution)
        worth.seconds = {"x*": 0.0, "ep": now(scene.belief.amplitude) - began}
        return worth
