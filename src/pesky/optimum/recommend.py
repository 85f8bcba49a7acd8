"""The point to use: lowest expected objective where every constraint holds with its confidence (METHOD 11)."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from pesky import sqp
from pesky.infer.gaussian import log_cdf
from pesky.model.belief import Belief
from pesky.optimum.starts import spread_out
from pesky.space import Space

STARTS = 6
STEPS = 25
CANDIDATES = 1024
HOPELESS = math.log(1e-6)
"""Log probability of feasibility below which one point is no more probable than another."""
INSIDE = 1e-7
"""The margin aimed at, in prior deviations, so that a rounding error does not end outside."""


class Advice(NamedTuple):
    u: Float[Tensor, " d"]
    mean: float
    """Expected objective, in scaled units."""
    probabilities: Float[Tensor, " k"]
    """Probability that each constraint holds."""
    is_confident: bool
    """Whether every constraint reaches its confidence; if not, `u` is the point most probably feasible."""


class Standing(NamedTuple):
    mean: Float[Tensor, " x"]
    margin: Float[Tensor, "k x"]
    """How far each constraint is beyond its confidence, in units of the constraint."""
    log_probability: Float[Tensor, "k x"]
    shortfall: Float[Tensor, "k x"]
    """How far the mean of each constraint is from feasible, in prior deviations."""


def standing(belief: Belief, X: Float[Tensor, "x d"], confidence: Float[Tensor, " k"]) -> Standing:
    """Objective and safety at each point, averaged over hyperparameter samples.

    P(c >= 0) >= confidence is written as mean - z deviation >= 0, which is smooth where P saturates. Of a yes/no row it
    is the answer that must be the wanted one, P = Phi(mean / sqrt(1 + variance)): METHOD 20.3.
    """
    batch = belief.amplitude.shape[:-1]
    samples = max(1, batch.numel())
    here = X.expand(*batch, *X.shape)
    rows = belief.amplitude.shape[-1]
    mean = belief.mean(here).reshape(samples, rows, X.shape[0])
    variance = belief.variance(here).reshape(samples, rows, X.shape[0])[:, 1:]
    deviation = (variance + belief.binary[1:, None].to(variance.dtype)).sqrt()
    u = mean[:, 1:] / deviation
    log_p = log_cdf(u).logsumexp(0) - math.log(samples)
    if samples > 1:
        bounded = log_p.exp().clamp(1e-15, 1 - 1e-15)
        u = torch.special.ndtri(bounded)[None]
    z = torch.special.ndtri(confidence)[:, None]
    shortfall = (-mean[:, 1:].mean(0)).clamp(min=0.0) / _deviation(belief)[1:, None]
    return Standing(mean[:, 0].mean(0), (u[0] - z) * deviation.mean(0), log_p, shortfall)


def recommend(belief: Belief, space: Space, confidence: Float[Tensor, " k"], seed: int) -> Advice:
    """The best point anywhere in the space, not only among the measured ones."""
    measured = belief.points
    X = torch.cat([space.spread(CANDIDATES, seed).to(measured), measured])
    with torch.no_grad():
        now = standing(belief, X, confidence)
    deviation = _deviation(belief)
    short = ((-now.margin).clamp(min=0.0) / deviation[1:, None]).sum(0)
    # A region that qualifies may lie between the candidates: points that nearly qualify are starts as well.
    starts = [spread_out(X, -now.mean / deviation[0] - 3 * short, STARTS)]
    if bool((short == 0).any()):
        starts.append(spread_out(X, torch.where(short == 0, -now.mean, -torch.inf), STARTS))
    else:
        starts.append(_safest(belief, spread_out(X, _hope(now), STARTS), confidence))
    start = torch.cat(starts)
    best = _best(belief, space.snap(torch.cat([start, _lowest(belief, start, confidence)])), confidence)
    while not space.is_continuous:
        nearby = _best(belief, torch.cat([best.u[None], space.neighbors(best.u)]), confidence)
        if bool((nearby.u == best.u).all()):
            break
        best = nearby
    return best


def _best(belief: Belief, X: Float[Tensor, "x d"], confidence: Float[Tensor, " k"]) -> Advice:
    """The lowest of the points that qualify, or the most probably feasible of all."""
    with torch.no_grad():
        now = standing(belief, X, confidence)
    good = (now.margin >= 0).all(0)
    rank = torch.where(good, -now.mean, -torch.inf) if bool(good.any()) else _hope(now)
    best = int(rank.argmax())
    return Advice(X[best], float(now.mean[best]), now.log_probability[:, best].exp(), bool(good.any()))


def _hope(now: Standing) -> Float[Tensor, " x"]:
    """Log probability that all constraints hold; or, where all are hopeless, how little they are missed by.

    The most probable of hopeless points are those that nothing is known of: far from what nearly qualified.
    """
    log_p = now.log_probability.sum(0)
    if now.margin.shape[0] and bool(log_p.max() < HOPELESS):
        return -now.shortfall.sum(0)
    return log_p


def _deviation(belief: Belief) -> Float[Tensor, " j"]:
    """Prior deviation of each row."""
    return belief.amplitude.sqrt().reshape(-1, belief.amplitude.shape[-1]).mean(0)


def _lowest(belief: Belief, starts: Float[Tensor, "s d"], confidence: Float[Tensor, " k"]) -> Float[Tensor, "n d"]:
    """The lowest points found from the starts on the safe side of every margin."""
    deviation = _deviation(belief)

    def evaluate(x: Tensor) -> tuple[Tensor, Tensor]:
        x = x.detach().requires_grad_()
        s = standing(belief, x, confidence)
        values = torch.cat([s.mean[None], s.margin - INSIDE * deviation[1:, None]])
        gradients = [torch.autograd.grad(row.sum(), x, retain_graph=True)[0] for row in values]
        return values.detach().mT, torch.stack(gradients, 1)

    zero, one = torch.zeros_like(starts[0]), torch.ones_like(starts[0])
    scale = deviation.expand(starts.shape[0], -1)
    found = sqp.minimize(evaluate, starts, zero, one, radius=0.02, scale=scale, steps=STEPS, tolerance=1e-9).x
    # The last step may still end a little outside: points short of it, towards the start, are offered as well.
    back = torch.tensor([0.0, 1e-6, 1e-4, 1e-2, 1e-1], dtype=starts.dtype, device=starts.device)[:, None, None]
    return torch.lerp(found, starts, back).flatten(0, 1)


def _safest(belief: Belief, starts: Float[Tensor, "s d"], confidence: Float[Tensor, " k"]) -> Float[Tensor, "n d"]:
    """The starts, and the points most probably feasible found from them."""

    def evaluate(x: Tensor) -> tuple[Tensor, Tensor]:
        x = x.detach().requires_grad_()
        value = -_hope(standing(belief, x, confidence))
        return value.detach()[:, None], torch.autograd.grad(value.sum(), x)[0][:, None]

    zero, one = torch.zeros_like(starts[0]), torch.ones_like(starts[0])
    return torch.cat([starts, sqp.minimize(evaluate, starts, zero, one, radius=0.02, steps=STEPS).x])
