"""Predictive entropy search with constraints: the information about where the constrained minimum is."""

import time
from dataclasses import dataclass
from typing import ClassVar, Literal

from pesky.acquire.information import InformationGain, information_gain, refresh
from pesky.acquire.rule import Rule, Scene, Worth
from pesky.acquire.settings import DEFAULT, Setting


@dataclass(frozen=True)
class PredictiveEntropySearch(Rule):
    """PESC (Hernandez-Lobato et al., 2015): samples of x*, and EP for what knowing each of them would tell."""

    name: ClassVar[str] = "pesc"
    measures: ClassVar[Literal["each", "together"]] = "each"
    in_nats: ClassVar[bool] = True

    setting: Setting = DEFAULT

    def prepare(self, scene: Scene) -> InformationGain:
        began = time.process_time()
        belief, setting = scene.belief, self.setting
        samples, draws = setting.per_hyperparameter_sample(belief.amplitude.shape[:-1].numel())
        optima = scene.sample_optima(samples, draws, setting.candidates, setting.polish_steps)
        drawn = time.process_time()
        snap = None if scene.space.is_continuous else scene.space.snap
        worth = information_gain(belief, optima, setting.local_reach, scene.generator, scene.pending, snap)
        worth.seconds = {"x*": drawn - began, "ep": time.process_time() - drawn}
        return worth

    def refresh(self, before: Worth, scene: Scene) -> InformationGain:
        """With the x* samples and the EP sites of before (METHOD 20.2)."""
        assert isinstance(before, InformationGain)
        began = time.process_time()
        worth = refresh(before, scene.belief, scene.generator, scene.pending)
        worth.seconds = {"x*": 0.0, "ep": time.process_time() - began}
        return worth
