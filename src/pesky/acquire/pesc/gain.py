"""The information that one measurement gives about x*, per row (METHOD 2 and 8)."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.acquire.base import FINEST, AcquisitionFunction
from pesky.acquire.fantasy import Fantasies, FantasyMoments
from pesky.acquire.pesc.conditioning import Conditioning, FactorPoints, condition, factor_points, limits_of, recondition
from pesky.data.pending import Pending
from pesky.infer.predict import Prediction, predict
from pesky.likelihood import Likelihoods
from pesky.model.belief import Belief, over_hyper_samples
from pesky.numerics.rng import Source
from pesky.optimum.sample import Optima


class InformationGain(AcquisitionFunction):
    """Expected gains in nats, one per row.

    Slightly negative values can occur (Monte Carlo and EP error) and are left as they are.
    """

    def __init__(
        self,
        belief: Belief,
        optima: Optima,
        points: FactorPoints,
        evaluate: Callable[[Tensor], FantasyMoments],
        conditioning: Conditioning,
        resolution: float = FINEST,
    ) -> None:
        """`evaluate` is the belief at any x, and its covariance with all of the points."""
        super().__init__(belief, *search_near(belief, optima), optima)
        self.optima: Optima = optima  # pyright: ignore[reportIncompatibleVariableOverride] (it always has some)
        self.points, self.evaluate, self.conditioning = points, evaluate, conditioning
        self.noise = torch.maximum(belief.noise, resolution * belief.amplitude)
        self.is_coarse = resolution > FINEST and bool((self.noise > belief.noise).any())
        self.memory_per_point = conditioning.knowledge.weight.numel()
        self._own = own_rows(conditioning.factors.which, belief.amplitude.shape[-1], points.all.shape[-2])

    def forward(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x"]:
        moments = self.evaluate(X)
        given_minimum = self.predict(moments)
        return gains(moments, given_minimum, self.optima.chosen.weight, self.noise, self.belief.likelihoods)

    def predict(self, moments: FantasyMoments) -> Prediction:
        """What each row would be at x, if each sample of x* were the minimum."""
        knowledge = self.conditioning.knowledge
        # One row of numbers per (batch element, row, point): to gather them would take sixteen times as long.
        rows = moments.covariance.reshape(-1, moments.covariance.shape[-1])
        cross = rows.index_select(0, self._own).view(*knowledge.weight.shape, -1)
        variance, limits = moments.variance[..., None, :], limits_of(self.belief)
        return predict(knowledge, moments.mean, variance, cross, self.belief.amplitude, limits)


def own_rows(which: Int[Tensor, "*b m n"], rows: int, points: int) -> Int[Tensor, " g"]:
    """Of the numbers from 0 on of all (batch element, row, point), those of each sample's points, by (*b, j, m, n)."""
    *batch, m, n = which.shape
    shape = torch.Size((*batch, rows, points))
    number = torch.arange(shape.numel(), device=which.device).view(shape)[..., None, :].expand(*batch, rows, m, points)
    return number.gather(-1, which[..., None, :, :].expand(*batch, rows, m, n)).flatten()


def search_near(belief: Belief, optima: Optima) -> tuple[Float[Tensor, "*w c d"], Bool[Tensor, "*w c"]]:
    """The samples of x*, of whichever hyperparameter sample, and which of them have any weight."""
    x, weight = over_hyper_samples(belief, optima.chosen.x, 2), over_hyper_samples(belief, optima.chosen.weight)
    return x.flatten(-3, -2), weight.flatten(-2) > 0


def gains(
    moments: FantasyMoments,
    given: Prediction,
    weight: Float[Tensor, "*b m"],
    noise: Float[Tensor, "*b j"],
    likelihoods: Likelihoods,
) -> Float[Tensor, "*b j x"]:
    """By how much knowing each sample lowers the entropy of a measurement of each row, on average over the samples."""
    before = likelihoods.entropy(moments.mean, moments.variance[..., None, :], noise)
    after = likelihoods.entropy(given.mean, given.variance, noise)
    weight = weight[..., None, :, None]
    # With pending points the belief before, too, is each sample's own, and so may be its entropy.
    before = before[..., 0, :] if before.shape[-2] == 1 else (weight * before).sum(-2)
    return before - (weight * after).sum(-2)


def information_gain(
    belief: Belief,
    optima: Optima,
    local_reach: float | None,
    source: Source,
    pending: Pending | None = None,
    snap: Callable[[Tensor], Tensor] | None = None,
    resolution: float = FINEST,
) -> InformationGain:
    """What a measurement at any x tells about x*, of which these are samples.

    The values of the draws behind the samples serve as fantasies at the pending points. `resolution` is the least noise
    that a measurement is taken to have, as a share of the prior variance.
    """
    points = factor_points(belief, optima.chosen.x, pending, local_reach, snap)
    evaluate = Fantasies(belief, pending, optima.paths, source).evaluator(points.all)
    conditioning = condition(belief, points, evaluate(points.all))
    return InformationGain(belief, optima, points, evaluate, conditioning, resolution)


def updated_gain(
    before: InformationGain,
    belief: Belief,
    source: Source,
    pending: Pending | None = None,
    resolution: float = FINEST,
) -> InformationGain:
    """The same after more was measured or asked, with the same x* samples and EP sites (METHOD 20.2).

    The belief must have the hyperparameters and units of the one before. Points measured since carry no factor.
    """
    points, optima = before.points, before.optima
    evaluate = Fantasies(belief, pending, optima.paths, source).evaluator(points.all)
    conditioning = recondition(before.conditioning, belief, evaluate(points.all))
    return InformationGain(belief, optima, points, evaluate, conditioning, resolution)
