"""Measurements that the others contradict: which are suspect, and whether one is an outlier (METHOD 23).

A datum is suspect if it is far from what the fit that is there anyway expects of it without it. It is an outlier if the
others are explained so much better without it that a value from anywhere is the better explanation, and if neither a
cliff at the edge of what was measured nor the roughness of the function itself would explain it.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.model import fit
from pesky.model.gp import GaussianProcess
from pesky.model.hyper import Hyperparameters, typical_amplitude
from pesky.model.surrogate import GP, Fitted
from pesky.observations import Observations

SUSPECT = 3.2
"""Deviations, by the spread of the others, from which on a datum is looked at: of rows that are Gaussian processes, one
in ten has one."""
SUSPECT_WARPED = 2.5
"""The same of a row that is warped, which may be warped because of it: a warp pulls in what is far from all others."""
EVIDENCE = math.log(99) + math.log(100)
"""Nats by which the others must be explained better without it: one datum in a hundred is an outlier, and that this is
one must be a hundred times as probable as that it is not."""
CONTRADICTED = 5.0
"""Deviations from what the others expect, by a fit to them alone."""
ROUGHEST = 3.0
"""How many times the largest error of the others, each predicted by the rest, its own must be. Beside a step all errors
are large."""
CLOSE = 0.05
"""Times the root of the number of columns: how close something must have been measured to the best value of an
objective, for that to be doubted. It is what a study looks for."""
SHARE = 10
"""One value in so many may be an outlier."""


MOST_DATA = 500
"""Values of a row from which on none is doubted: one among so many moves nothing, and to look for it takes longer than
to fit them."""


def least_data(columns: int) -> int:
    """The number of values below which none is doubted."""
    return max(10, 2 * columns + 3)


def suspects(fitted: Fitted, rows: Bool[Tensor, " j"]) -> list[list[int]]:
    """The suspect data of each row, the most suspect first; none of rows other than `rows`."""
    warp = fitted.observations.warp
    least = torch.full(rows.shape, SUSPECT)
    if warp is not None:
        is_warped = (warp.strength != 0).reshape(-1, len(rows)).any(0).cpu()
        least = torch.where(is_warped, SUSPECT_WARPED, least)
    size = torch.where(rows[:, None], studentized(fitted.belief).cpu(), 0.0)
    order = size.argsort(dim=-1, descending=True, stable=True).tolist()
    return [
        [i for i in each if float(row[i]) > bound] for row, each, bound in zip(size, order, least.tolist(), strict=True)
    ]


def studentized(belief: GaussianProcess) -> Float[Tensor, "j n"]:
    """How many deviations each datum is from what the others of its row expect, over hyperparameter samples on average.

    By residuals that leave one out, y_i - mu_{-i} = [K^-1 r]_i / [K^-1]_ii, over a deviation that leaves it out, too:
    were it that of all, no residual of n would exceed (n - 1) / sqrt(n) deviations.
    """
    inverse = torch.cholesky_inverse(belief.root)
    z = belief.weights / inverse.diagonal(dim1=-2, dim2=-1).sqrt()
    n = belief.mask.sum(-1, keepdim=True).to(z)
    z = z * ((n - 2).clamp(min=0) / (n - z.square()).clamp(min=1e-6)).sqrt()
    size = torch.where(belief.mask, z.abs(), 0.0)
    return size.flatten(0, -3).mean(0) if size.dim() > 2 else size


class Explained(NamedTuple):
    """The values of one row, and how well a model explains them."""

    fitted: Fitted
    evidence: float
    """Penalized log likelihood of the values in their own units."""


def explain(model: GP, o: Observations, is_objective: bool, start: Fitted | None = None) -> Explained:
    """The best explanation of the only row of some observations, whatever was fitted before."""
    model = replace(model, hyperparameters="maximum")
    fitted = model.fit_warped(o, ("row",), None, start, torch.Generator().manual_seed(0), is_objective)
    if fitted.warped is not None:
        evidence = fitted.warped.evidence
    else:
        h = fitted.belief.hyperparameters
        p = torch.cat([h.lengthscale.log(), h.amplitude.log()[..., None], h.noise.log()[..., None]], -1)
        evidence = fit.objective(model.kernel, o.X, o.y, o.mask, o.noise, typical_amplitude(o.y, o.mask), p[None])[0][0]
    return Explained(fitted, float(evidence) - int(o.mask.sum()) * math.log(float(o.scale)))


def is_outlier(model: GP, whole: Observations, rest: Observations, datum: int, value: float, minimized: bool) -> bool:
    """Whether a datum of one row is an outlier, beside the `rest`: the same row without it, in units of its own.

    `value` is that of the datum as its user told it; `minimized` says whether the row is the objective.
    """
    X, y = whole.X[0][whole.mask[0]], whole.y[0][whole.mask[0]]
    others = torch.arange(len(y), device=y.device) != datum
    if is_at_edge(X[others], X[datum]):  # which needs no fit
        return False
    is_best = minimized and bool(y[datum] < y[others].min())
    if is_best and float((X[others] - X[datum]).norm(dim=-1).min()) > CLOSE * math.sqrt(X.shape[-1]):
        return False
    without = explain(model, rest, minimized)
    if not _is_contradicted(without.fitted, X[datum], value) or _is_beyond_cliff(without.fitted, X, y, datum, whole):
        return False
    from_anywhere = -math.log(float(y.max() - y.min()) * float(whole.scale))
    least = without.evidence + from_anywhere - EVIDENCE
    if explain(model, whole, minimized).evidence > least:
        return False
    # The search may have missed the best explanation of all, where that of the others leads to it.
    return explain(model, whole, minimized, _start(without.fitted, rest, whole)).evidence <= least


def is_at_edge(others: Float[Tensor, "n d"], x: Float[Tensor, " d"]) -> bool:
    """Whether nothing else was measured as far out in the direction of some column, or of two at once.

    There may be a cliff between it and all the others.
    """
    a, b = torch.triu_indices(len(x), len(x), 1)
    along = torch.cat([others, others[:, a] + others[:, b], others[:, a] - others[:, b]], -1)
    here = torch.cat([x, x[a] + x[b], x[a] - x[b]])
    return bool(((here > along.amax(0)) | (here < along.amin(0))).any())


def _is_contradicted(fitted: Fitted, x: Float[Tensor, " d"], value: float) -> bool:
    """Whether what the others expect there is far from the value, by its deviation and by their own errors."""
    belief, o = fitted.belief, fitted.observations
    error = (o.from_user(0, torch.tensor(value, dtype=x.dtype)) - belief.mean(x[None])[0, 0]).abs()
    deviation = (belief.variance(x[None])[0, 0] + belief.noise[0]).sqrt()
    inverse = torch.cholesky_inverse(belief.root)
    errors = torch.where(belief.mask, belief.weights / inverse.diagonal(dim1=-2, dim2=-1), 0.0).abs()
    return bool((error > CONTRADICTED * deviation) & (error > ROUGHEST * errors.max()))


def _is_beyond_cliff(
    fitted: Fitted, X: Float[Tensor, "n d"], y: Float[Tensor, " n"], datum: int, units: Observations
) -> bool:
    """Whether a step would explain it: among its neighbors, or between it and those that have other values.

    That is, whether its 3 d + 1 nearest neighbors differ by twice its own error; or it is at the edge of the others but
    for those that are as far from what is expected of it, or nearly.
    """
    mean = fitted.belief.mean(X[datum][None])[0, 0]
    expected = units.from_user(0, fitted.observations.to_user(0, mean))
    distance = (X - X[datum]).norm(dim=-1).index_fill(0, torch.tensor(datum, device=X.device), torch.inf)
    near = y[distance.argsort()[: 1 + 3 * X.shape[-1]]]
    if (y[datum] - expected).abs() < (near.max() - near.min()) / 2:
        return True
    differ = ((y - expected) / (y[datum] - expected)) < 0.5
    return not bool(differ.any()) or is_at_edge(X[differ], X[datum])


def _start(fitted: Fitted, units: Observations, others: Observations) -> Fitted:
    """Hyperparameters of unwarped values in other units."""
    h = fitted.belief.hyperparameters if fitted.plain is None else fitted.plain
    ratio = (units.scale / others.scale).square()
    plain = Hyperparameters(h.lengthscale, h.amplitude * ratio, h.noise * ratio, h.mean)
    return Fitted(replace(fitted.belief, hyperparameters=plain), others, plain)
