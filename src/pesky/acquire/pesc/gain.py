"""The information that one measurement gives about x*, per row (METHOD 2 to 9)."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.acquire.base import AcquisitionFunction
from pesky.acquire.fantasy import Fantasies, FantasyMoments, Pending
from pesky.acquire.pesc.options import FINEST
from pesky.infer import ep
from pesky.infer.predict import Knowledge, Prediction, learn, predict, to_objective_differences
from pesky.likelihood import Likelihoods
from pesky.model.belief import Belief, for_samples, over_samples
from pesky.numerics.rng import Source
from pesky.optimum.sample import Optima

RELEVANT = 1e-3
"""Points whose factor moves nothing by this many deviations are left out of EP (METHOD 9): it changes the gains by less
than 1e-4, in rare places by 1e-3."""
MOST_POINTS = 64
"""Of the others, at most this many per x* sample are kept, the most relevant first."""
TOO_CLOSE = 1e-3
"""Points this close to x*, in lengthscales, say nothing and make the covariance singular."""


class Conditioning(NamedTuple):
    """Where the factors of each x* sample are, and the sites that EP found for them."""

    points: Float[Tensor, "*b p d"]
    which: Int[Tensor, "*b m n"]
    """Each sample's points among them, its x* last."""
    active: Bool[Tensor, "*b m s"]
    sites: ep.Sites


class InformationGain(AcquisitionFunction):
    """Expected gains in nats, one per row.

    Slightly negative values can occur (Monte Carlo and EP error) and are left as they are.
    """

    def __init__(
        self,
        belief: Belief,
        evaluate: Callable[[Tensor], FantasyMoments],
        knowledge: Knowledge,
        gather: Int[Tensor, " g"],
        optima: Optima,
        info: ep.Info,
        conditioning: Conditioning,
        resolution: float = FINEST,
    ) -> None:
        super().__init__(belief, *search_near(belief, optima), optima)
        self.evaluate, self.knowledge, self.gather = evaluate, knowledge, gather
        self.optima: Optima = optima  # pyright: ignore[reportIncompatibleVariableOverride] (it always has some)
        self.amplitude, self.info, self.conditioning = belief.amplitude, info, conditioning
        self.noise = torch.maximum(belief.noise, resolution * belief.amplitude)
        self.is_coarse = resolution > FINEST and bool((self.noise > belief.noise).any())
        self.memory_per_point = knowledge.weight.numel()

    def forward(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x"]:
        moments = self.evaluate(X)
        cross = moments.covariance.reshape(-1, X.shape[-2]).index_select(0, self.gather)
        cross = cross.view(*self.knowledge.weight.shape, X.shape[-2])
        given_minimum = predict(self.knowledge, moments.mean, moments.variance[..., None, :], cross, self.amplitude)
        return gains(moments, given_minimum, self.optima.chosen.weight, self.noise, self.belief.likelihoods)


def search_near(belief: Belief, optima: Optima) -> tuple[Float[Tensor, "*w c d"], Bool[Tensor, "*w c"]]:
    """The samples of x*, of whichever hyperparameter sample, and which of them have any weight."""
    x, weight = over_samples(belief, optima.chosen.x, 2), over_samples(belief, optima.chosen.weight)
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
    generator: Source,
    pending: Pending | None = None,
    snap: Callable[[Tensor], Tensor] | None = None,
    resolution: float = FINEST,
) -> InformationGain:
    """EP for every x* sample, ready to say what a measurement at any x is worth.

    The values of the draws behind the samples serve as fantasies at the pending points. `resolution` is the least noise
    that a measurement is taken to have, as a share of the prior variance.
    """
    chosen, paths = optima.chosen, optima.paths
    batch = belief.amplitude.shape[:-1]
    fantasies = Fantasies(belief, pending, paths, generator)
    smallest = belief.lengthscale.amin(-2)
    shared = for_samples(belief, belief.points if pending is None else torch.cat([belief.points, pending.X]))
    m, d = chosen.x.shape[-2:]
    local = (
        neighbors(chosen.x, local_reach * smallest, snap)
        if local_reach is not None
        else chosen.x.new_zeros(*batch, m, 0, d)
    )
    points = torch.cat([shared, chosen.x, local.flatten(-3, -2)], -2)

    evaluate = fantasies.evaluator(points)
    moments = evaluate(points)
    index, active = relevant_points(moments, chosen.x, points, smallest, shared.shape[-2], local.shape[-2])
    prior, values_covariance = priors(moments, index, active, belief.amplitude)
    state, info = ep.run(prior)
    conditioning = Conditioning(points, index, active, state.sites)
    return _ready(belief, evaluate, optima, state, values_covariance, info, conditioning, resolution)


def refresh(
    before: InformationGain,
    belief: Belief,
    generator: Source,
    pending: Pending | None = None,
    resolution: float = FINEST,
) -> InformationGain:
    """The gains after more was measured or asked, with the same x* samples and EP sites (METHOD 20.2).

    The belief must have the hyperparameters and units of the one before. Points measured since carry no factor.
    """
    points, which, active, sites = before.conditioning
    evaluate = Fantasies(belief, pending, before.optima.paths, generator).evaluator(points)
    prior, values_covariance = priors(evaluate(points), which, active, belief.amplitude)
    state = ep.resume(prior, sites)
    conditioning = before.conditioning._replace(sites=state.sites)
    return _ready(belief, evaluate, before.optima, state, values_covariance, before.info, conditioning, resolution)


def _ready(
    belief: Belief,
    evaluate: Callable[[Tensor], FantasyMoments],
    optima: Optima,
    state: ep.EPState,
    values_covariance: Float[Tensor, "q j n n"],
    info: ep.Info,
    conditioning: Conditioning,
    resolution: float,
) -> InformationGain:
    """What EP has learnt, with the sample dimension behind the rows, ready for any x."""
    learnt = learn(state, values_covariance)
    *batch, m, n = conditioning.which.shape

    def rows_first(t: Tensor) -> Tensor:
        return t.view(*batch, m, *t.shape[1:]).transpose(len(batch), len(batch) + 1).contiguous()

    knowledge = Knowledge(
        rows_first(learnt.weight),
        rows_first(learnt.reduction),
        learnt.with_minimum.view(*batch, m, n),
        learnt.minimum_mean.view(*batch, m),
        learnt.minimum_variance.view(*batch, m),
    )
    gather = _flat_index(conditioning.which, belief.amplitude.shape[-1], conditioning.points.shape[-2])
    return InformationGain(belief, evaluate, knowledge, gather, optima, info, conditioning, resolution)


def neighbors(
    x: Float[Tensor, "*b m d"], reach: Float[Tensor, "*b d"], snap: Callable[[Tensor], Tensor] | None
) -> Float[Tensor, "*b m n d"]:
    """Points one reach either side of each x along each axis, reflected at the cube's faces."""
    steps = torch.diag_embed(reach)
    moved = torch.cat([x[..., None, :] + steps[..., None, :, :], x[..., None, :] - steps[..., None, :, :]], -2)
    moved = torch.where(moved > 1, 2 - moved, moved).abs().clamp(max=1.0)
    return snap(moved) if snap else moved


def relevant_points(
    moments: FantasyMoments,
    x: Float[Tensor, "*b m d"],
    points: Float[Tensor, "*b p d"],
    lengthscale: Float[Tensor, "*b d"],
    shared: int,
    local: int,
) -> tuple[Int[Tensor, "*b m n"], Bool[Tensor, "*b m s"]]:
    """Indices of each sample's points in `points`, its x* last, and which of them carry a factor.

    `points` are the `shared` ones, then the samples, then `local` ones per sample.
    """
    m = x.shape[-2]
    sample = torch.arange(m, device=x.device)
    at_x = shared + sample
    own = shared + m + sample[:, None] * local + torch.arange(local, device=x.device)
    batch = x.shape[:-2]
    own, at_x = own.expand(*batch, m, local), at_x.expand(*batch, m)

    mean, covariance = moments.mean.expand(*moments.mean.shape[:-2], m, -1), moments.covariance
    variance = covariance.diagonal(dim1=-2, dim2=-1).clamp(min=1e-300)
    own_row = torch.arange(m, device=x.device)
    f, c = mean[..., 0, :, :shared], mean[..., 1:, :, :shared]
    f_at_x = mean[..., 0, own_row, shared + own_row][..., None]
    to_x = covariance[..., 0, shared : shared + m, :shared]
    v_x = variance[..., 0, shared : shared + m]
    spread = (variance[..., 0, None, :shared] + v_x[..., None] - 2 * to_x).clamp(min=1e-300)
    a0 = (f - f_at_x) / spread.sqrt()
    ac = c / variance[..., 1:, None, :shared].sqrt()
    score = ep.relevance(torch.cat([a0[..., None, :, :], ac], -3).flatten(-2)).view_as(a0)

    scaled = points / lengthscale[..., None, :]
    scaled_x = x / lengthscale[..., None, :]
    close = torch.cdist(scaled_x, scaled[..., :shared, :], compute_mode="donot_use_mm_for_euclid_dist") < TOO_CLOSE
    # Of studies in lockstep, those with fewer points than others have their first one again.
    again = (points[..., :shared, None, :] == points[..., None, :shared, :]).all(-1).tril(-1).any(-1)
    score = torch.where(close | again[..., None, :], 0.0, torch.nan_to_num(score))
    kept = (score >= RELEVANT).sum(-1)
    most = min(int(kept.max()) if kept.numel() else 0, MOST_POINTS)
    top = torch.topk(score, most, dim=-1)
    own_points = torch.gather(scaled, -2, own.flatten(-2)[..., None].expand(*batch, m * local, x.shape[-1]))
    apart = (own_points.view(*batch, m, local, x.shape[-1]) - scaled_x[..., None, :]).norm(dim=-1) >= TOO_CLOSE
    index = torch.cat([top.indices, own, at_x[..., None]], -1)
    return index, torch.cat([top.values >= RELEVANT, apart], -1)


def priors(
    moments: FantasyMoments,
    index: Int[Tensor, "*b m n"],
    active: Bool[Tensor, "*b m s"],
    amplitude: Float[Tensor, "*b j"],
) -> tuple[ep.Prior, Float[Tensor, "q j n n"]]:
    """What EP starts from, for all q samples of all batches, and the covariance of the values at each one's points."""
    *batch, m, n = index.shape
    rows, size = amplitude.shape[-1], moments.covariance.shape[-1]
    flat = _flat_index(index, rows, size).view(-1, m, n)
    flat_mean = moments.mean.expand(*moments.mean.shape[:-2], m, size).reshape(-1, size)
    owner = torch.arange(flat_mean.shape[0], device=flat.device).view(-1, m, 1)
    column = index[..., None, :, :].expand(*batch, rows, m, n).reshape(-1, m, n)
    mean = flat_mean[owner, column].view(*batch, rows, m, n).transpose(-3, -2)
    block = moments.covariance.reshape(-1, size)[flat[..., :, None], column[..., None, :]]
    covariance = block.view(*batch, rows, m, n, n).transpose(-4, -3)

    mean, values_covariance = mean.reshape(-1, rows, n), covariance.reshape(-1, rows, n, n)
    prior_mean, prior_covariance = to_objective_differences(mean, values_covariance)
    scale = amplitude[..., None, :].expand(*batch, m, rows).reshape(-1, rows)
    return ep.prior(prior_mean, prior_covariance, scale, active.reshape(mean.shape[0], n - 1)), values_covariance


def _flat_index(index: Int[Tensor, "*b m n"], rows: int, size: int) -> Int[Tensor, " g"]:
    """Where each sample's points stand once (batch, row, point) is one dimension."""
    count = index.shape[:-2].numel() * rows
    offset = size * torch.arange(count, device=index.device).view(*index.shape[:-2], rows, 1, 1)
    return (index[..., None, :, :] + offset).flatten()
