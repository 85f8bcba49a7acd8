"""The scale on which each row is most like a Gaussian process: a warp, where the data speak for one (METHOD 22).

It is fitted inside the penalized likelihood, with the Jacobian of the values, beside the hyperparameters; the identity
is a hypothesis of its own, which a warp has to beat by `EVIDENCE`.
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.model.evidence import MarginalLikelihood, marginal_likelihood, profile_likelihood
from pesky.model.fit import CLOSE, CLOSE_AGAIN
from pesky.model.hyper import NOISE_FLOOR, Hyperparameters, datum_noise, noise_variance, typical_amplitude
from pesky.model.kernel import Kernel
from pesky.model.prior import log_bounds, log_prior, prior_precision
from pesky.numerics import newton
from pesky.numerics.warp import Warp, log_slope, warped
from pesky.observations import Observations

EVIDENCE = 3.0
"""Nats of penalized likelihood that a warp must be ahead of the identity. Of Gaussian processes one in thirty is."""
ENOUGH = 8
"""Fewer values than this say nothing of their scale."""
LOG_STRENGTH = {1: (0.0, 2.0), -1: (math.log(0.2), 1.0)}
"""Mean and deviation of the prior of log |a|, for values of unit deviation: of what compresses, and of what expands."""
STRENGTH = (0.1, 1e3)
WIDEST = 6.0
"""The largest |a| (max - min) that expands: then the slope varies tenfold on either side."""
STARTS = ((1.5, None), (8.0, None), (50.0, None), (8.0, 0.0), (50.0, 0.0), (-0.7, 0.5))
"""Strength, and shift as a share of the way from the least to the largest value; None: zero."""
PROMISING = 0.0
"""Nats ahead of the identity, at its hyperparameters, from which on the best start is followed: of rows that are
Gaussian processes a third are."""
AHEAD = 1e-4
"""How far ahead the values are taken that tell how they change with a warp, as far as its curvature is concerned."""
STEPS, MORE_STEPS = 8, 40
"""Of the search, until it is decided whether there is a warp; and beyond, where there is one."""


class Warped(NamedTuple):
    """The warp of each row, and the hyperparameters of the warped values."""

    warp: Warp
    h: Hyperparameters
    evidence: Float[Tensor, " j"]
    """Penalized log likelihood of the values before they were warped; NaN where there are too few to be warped."""


class RowData(NamedTuple):
    """What is known of some rows: points, scaled values, given noise (NaN: inferred), where the noise is stated.

    An inferred noise is the `least` one at the least.
    """

    X: Float[Tensor, "j n d"]
    y: Float[Tensor, "j n"]
    mask: Bool[Tensor, "j n"]
    noise: Float[Tensor, " j"]
    reference: Float[Tensor, " j"]
    expected: Float[Tensor, "j n"]
    """The values without their noise, about: where the slope is taken that their noise is carried over by. Were it that
    at the values themselves, it would depend on the noise, and warps would explain noise: of Gaussian processes with a
    tenth of noise, half would be warped."""

    least: Float[Tensor, " j"]

    def rows(self, chosen: Int[Tensor, " r"]) -> "RowData":
        """Those of the chosen rows."""
        return RowData(*(part[chosen] for part in self))


class WarpedData(NamedTuple):
    """The values of rows as a warp makes them."""

    y: Float[Tensor, "*b j n"]
    log_jacobian: Float[Tensor, "*b j"]
    relative: Float[Tensor, "*b j n"]
    """Log of the noise variance of each datum, as a multiple of the row's."""
    at_reference: Float[Tensor, "*b j"]
    """Log of the slope at the reference, where the noise of the row is stated."""
    unit: Float[Tensor, "*b j"]


def warp_data(given: RowData, a: Float[Tensor, "*b j"], b: Float[Tensor, "*b j"]) -> WarpedData:
    """The values, of unit deviation again, and what their Jacobian and noise are; differentiable by a and b."""
    y, mask = given.y, given.mask
    count = mask.sum(-1).clamp(min=1)
    w = torch.where(mask, warped(y, a[..., None], b[..., None]), 0.0)
    center = w.sum(-1, keepdim=True) / count[..., None]
    unit = (torch.where(mask, w - center, 0.0).square().sum(-1) / count).clamp(min=1e-12).sqrt()
    slopes = torch.where(mask, log_slope(y, a[..., None], b[..., None]) - unit.log()[..., None], 0.0)
    at_reference = log_slope(given.reference, a, b)
    at_expected = log_slope(given.expected, a[..., None], b[..., None])
    relative = torch.where(mask, 2 * (at_expected - at_reference[..., None]), 0.0)
    at_reference = at_reference - unit.log()
    return WarpedData(w / unit[..., None], slopes.sum(-1), relative, at_reference, unit)


def warped_objective(
    kernel: Kernel, given: RowData, sign: Float[Tensor, "s j"], p: Float[Tensor, "s j p"]
) -> tuple[Float[Tensor, "s j"], Float[Tensor, "s j p"], Float[Tensor, "s j p p"]]:
    """Penalized log likelihood of the unwarped values at p, its gradient, and about minus its second derivatives.

    p = (log lengthscales, log amplitude, log noise, log |a|, b); the noise is that at the reference.
    """
    X, mask, noise = given.X, given.mask, given.noise
    infer_noise = torch.isnan(noise)
    with torch.enable_grad():
        q = p[..., -2:].detach().requires_grad_()
        data = warp_data(given, sign * q[..., 0].exp(), q[..., 1])
        least_inferred = given.least.log() + 2 * data.at_reference
        log_row = torch.where(
            infer_noise, torch.maximum(p[..., -3], least_inferred), noise.log() + 2 * data.at_reference
        )
        log_noise = log_row[..., None] + data.relative
        typical = typical_amplitude(data.y, mask)
    amplitude = p[..., -4].exp()
    least = NOISE_FLOOR * amplitude
    each = torch.maximum(log_noise.detach().exp(), least[..., None])
    row = torch.maximum(log_row.detach().exp(), least)
    h = Hyperparameters(p[..., :-4].exp(), amplitude, row, torch.zeros_like(row))
    y = data.y.detach()
    log_a, b = p[..., -2], p[..., -1]
    by_a = warp_data(given, sign * (log_a + AHEAD).exp(), b).y - y
    by_b = warp_data(given, sign * log_a.exp(), b + AHEAD).y - y
    moves = torch.stack([by_a, by_b], -1) / AHEAD
    e = marginal_likelihood(kernel, X, y, mask, h, each, moves, is_informed=True)
    penalty, by_penalty = log_prior(h, infer_noise, typical.detach())
    center, spread = _strength_prior(sign)
    z = (p[..., -2] - center) / spread
    by_datum = torch.where(each > least[..., None], e.by_log_datum_noise, 0.0)
    with torch.enable_grad():
        # what the likelihood and the prior are to first order in all that depends on the warp
        around = (e.by_value * data.y).sum(-1) + data.log_jacobian
        around = around - 0.5 * (h.amplitude.log() - typical.log()).square()
        around = around + torch.where(by_datum != 0, by_datum * log_noise, 0.0).sum(-1)
        (by_warp,) = torch.autograd.grad(around.sum(), q)
    by_warp = by_warp - torch.stack([z / spread, torch.zeros_like(z)], -1)
    infer_noise = infer_noise & (p[..., -3] >= least_inferred.detach())
    by_noise = torch.where(infer_noise, by_datum.sum(-1), 0.0)
    by_data = torch.cat([e.by_log_lengthscale, e.by_log_amplitude[..., None], by_noise[..., None]], -1)
    value = e.log_likelihood + data.log_jacobian.detach() + penalty - 0.5 * z.square()
    free = torch.ones_like(p)
    free[..., -3] = infer_noise
    of_prior = torch.cat([prior_precision(h, infer_noise), spread[..., None] ** -2, torch.ones_like(z)[..., None]], -1)
    curvature = free[..., :, None] * e.information * free[..., None, :] + of_prior.diag_embed()
    return value, torch.cat([by_data + by_penalty, by_warp], -1), curvature


def promise_of(
    kernel: Kernel, given: RowData, sign: Float[Tensor, "s j"], p: Float[Tensor, "s j p"]
) -> tuple[Float[Tensor, "s j"], Float[Tensor, "s j"]]:
    """Penalized log likelihood at the best amplitude, with the noise in proportion, and that amplitude over p's.

    The priors of these two matter little here, and are those at p.
    """
    data = warp_data(given, sign * p[..., -2].exp(), p[..., -1])
    amplitude = p[..., -4].exp()
    row = _row_noise(p[..., -3], amplitude, given, data)
    h = Hyperparameters(p[..., :-4].exp(), amplitude, row, torch.zeros_like(row))
    each = datum_noise(row, amplitude, data.relative.exp())
    e = profile_likelihood(kernel, given.X, data.y, given.mask, h, each)
    penalty, _ = log_prior(h, torch.isnan(given.noise), typical_amplitude(data.y, given.mask))
    value = e.log_likelihood + data.log_jacobian + penalty + log_warp_prior(sign, p[..., -2])
    n = given.mask.sum(-1).to(value)
    ratio = (e.square / n).clamp(min=1e-12)
    return value + 0.5 * (e.square - n - n * ratio.log()), ratio


def _row_noise(
    log_noise: Float[Tensor, "*b j"], amplitude: Float[Tensor, "*b j"], given: RowData, data: WarpedData
) -> Float[Tensor, "*b j"]:
    """The noise variance of each row at the reference, in warped units."""
    slope = (2 * data.at_reference).exp()
    return noise_variance(torch.maximum(log_noise, (given.least * slope).log()), amplitude, given.noise * slope)


def log_warp_prior(sign: Float[Tensor, "*b j"], log_strength: Float[Tensor, "*b j"]) -> Float[Tensor, "*b j"]:
    """Log prior of log |a|, up to a constant; that of b is flat."""
    center, spread = _strength_prior(sign)
    return -0.5 * ((log_strength - center) / spread).square()


def _strength_prior(sign: Float[Tensor, "*b j"]) -> tuple[Float[Tensor, "*b j"], Float[Tensor, "*b j"]]:
    """Mean and deviation of log |a|."""
    first, second = (
        torch.where(sign > 0, *pair).to(sign) for pair in zip(LOG_STRENGTH[1], LOG_STRENGTH[-1], strict=True)
    )
    return first, second


def warp_bounds(data: RowData, sign: Float[Tensor, "*b j"]) -> tuple[Float[Tensor, "*b j 2"], Float[Tensor, "*b j 2"]]:
    """The least and the largest (log |a|, b) of each row."""
    low, high = _range(data)
    spread = high - low
    most = torch.where(sign > 0, STRENGTH[1], torch.minimum(WIDEST / spread, torch.full_like(spread, STRENGTH[1])))
    least = torch.minimum(torch.full_like(most, STRENGTH[0]), most / 2)
    shifts = (each.expand_as(most) for each in (low - spread / 2, high + spread / 2))
    lower, upper = (torch.stack([a.log(), b], -1) for a, b in zip((least, most), shifts, strict=True))
    return lower, upper


def row_data(
    kernel: Kernel,
    o: Observations,
    plain: Hyperparameters,
    has_objective: bool,
    fitted: MarginalLikelihood | None = None,
) -> RowData:
    """The data of rows that are numbers, as yet unwarped, and what they are without noise at the `plain` fit.

    The noise of a constraint is stated at its threshold, that of the objective where it is lowest: there it matters.
    `fitted` is the likelihood of the plain fit, where it is at hand.
    """
    fitted = marginal_likelihood(kernel, o.X, o.y, o.mask, plain) if fitted is None else fitted
    expected = torch.where(o.mask, o.y + plain.noise[..., None] * fitted.by_value, 0.0)
    lowest = torch.where(o.mask, expected, torch.inf).amin(-1)
    is_objective = torch.arange(len(lowest), device=lowest.device) == (0 if has_objective else -1)
    reference = torch.where(is_objective & o.mask.any(-1), lowest, 0.0)
    least = torch.zeros_like(reference) if o.least_noise is None else o.least_noise
    return RowData(o.X, o.y, o.mask, o.noise, reference, expected, least)


def choose(
    kernel: Kernel, data: RowData, plain: Hyperparameters, previous: Warped | None = None, *, is_sure: bool = False
) -> Warped:
    """The warp of each row, the identity where nothing speaks against it; `plain` are the hyperparameters without.

    If `is_sure`, no warps are tried but the previous ones.
    """
    found = Warped(
        Warp.identity(data.noise)._replace(reference=data.reference), plain, torch.full_like(data.noise, math.nan)
    )
    count = data.mask.sum(-1)
    low, high = _range(data)
    may = (count >= ENOUGH) & (high > low)
    if is_sure and previous is not None:
        may = may & (previous.warp.strength != 0)
    able = may.nonzero()[:, 0]
    if not len(able):
        return found
    own = data.rows(able)
    h = Hyperparameters(*(part[able] for part in plain))
    likelihood = profile_likelihood(kernel, own.X, own.y, own.mask, h).log_likelihood
    unwarped = likelihood + log_prior(h, torch.isnan(own.noise), typical_amplitude(own.y, own.mask))[0]
    found = found._replace(evidence=found.evidence.index_copy(0, able, unwarped))
    sign, start = _starts(own, _pack(h))
    tried = len(sign)
    if previous is not None:
        sign, start = _with_previous(sign, start, previous, able)
        if is_sure:
            sign, start, tried = sign[-1:], start[-1:], 0
    promise, ratio = promise_of(kernel, own, sign, start)
    promise = promise - unwarped
    start[..., -4:-2] += ratio.clamp(1e-3, 1e3).log()[..., None]
    best = promise.argmax(0)
    followed = (promise.amax(0) > PROMISING).nonzero()[:, 0]
    if not len(followed):
        return found
    sign, start = sign[best[followed], followed], start[best[followed], followed]
    p, value = _maximize(kernel, own.rows(followed), sign, start, STEPS, is_sure)
    better = (value > unwarped[followed] + EVIDENCE).nonzero()[:, 0]
    if not len(better):
        return found
    sign, rows, p, value = sign[better], followed[better], p[better], value[better]
    new = (best[rows] < tried).nonzero()[:, 0]  # the others began where the last search ended
    if len(new):
        p[new], value[new] = _maximize(kernel, own.rows(rows[new]), sign[new], p[new], MORE_STEPS)
    return _merged(kernel, data, found, able[rows], sign, p, value)


def _range(data: RowData) -> tuple[Float[Tensor, " j"], Float[Tensor, " j"]]:
    """The least and the largest value of each row."""
    there, y = data.mask, data.y
    return torch.where(there, y, torch.inf).amin(-1), torch.where(there, y, -torch.inf).amax(-1)


def _pack(h: Hyperparameters) -> Float[Tensor, "j p"]:
    return torch.cat([h.lengthscale.log(), h.amplitude.log()[..., None], h.noise.log()[..., None]], -1)


def _starts(data: RowData, p: Float[Tensor, "j p"]) -> tuple[Float[Tensor, "s j"], Float[Tensor, "s j q"]]:
    """Whether each start compresses (+1) or expands (-1), and its parameters."""
    low, high = _range(data)
    signs, starts = [], []
    for strength, share in STARTS:
        shift = torch.zeros_like(low) if share is None else low + share * (high - low)
        log_strength = torch.full_like(low, math.log(abs(strength)))
        signs.append(torch.full_like(low, math.copysign(1.0, strength)))
        starts.append(torch.cat([p, log_strength[:, None], shift[:, None]], -1))
    return torch.stack(signs), torch.stack(starts)


def _with_previous(
    sign: Float[Tensor, "s j"], start: Float[Tensor, "s j q"], previous: Warped, rows: Int[Tensor, " j"]
) -> tuple[Float[Tensor, "t j"], Float[Tensor, "t j q"]]:
    """The starts, and what the rows had before where it was a warp."""
    a, b = previous.warp.strength[rows], previous.warp.shift[rows]
    h = Hyperparameters(*(part[rows] for part in previous.h))
    last = torch.cat([_pack(h), _not_zero(a).abs().log()[:, None], b[:, None]], -1)
    last = torch.where((a != 0)[:, None], last, start[0])
    return torch.cat([sign, torch.where(a != 0, a.sign(), sign[0])[None]]), torch.cat([start, last[None]])


def _not_zero(a: Tensor) -> Tensor:
    return torch.where(a == 0, 1.0, a)


def _maximize(
    kernel: Kernel,
    data: RowData,
    sign: Float[Tensor, " j"],
    start: Float[Tensor, "j q"],
    steps: int,
    goes_on: bool = False,
) -> tuple[Float[Tensor, "j q"], Float[Tensor, " j"]]:
    """The best parameters from one start for each row, and their penalized likelihood."""
    d = data.X.shape[-1]
    bounds = zip(log_bounds(d, typical_amplitude(data.y, data.mask)), warp_bounds(data, sign), strict=True)
    lower, upper = (torch.cat([own, of_warp], -1) for own, of_warp in bounds)

    def evaluate(p: Tensor, some: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        value, gradient, curvature = warped_objective(kernel, data.rows(some), sign[some][None], p[None])
        return -value[0], -gradient[0], curvature[0]

    tolerance = CLOSE_AGAIN if goes_on else CLOSE
    found = newton.minimize(evaluate, start, lower, upper, steps=steps, tolerance=tolerance)
    return found.x, torch.where(torch.isfinite(found.values), -found.values, -torch.inf)


def _merged(
    kernel: Kernel,
    data: RowData,
    found: Warped,
    rows: Int[Tensor, " r"],
    sign: Float[Tensor, " r"],
    p: Float[Tensor, "r q"],
    value: Float[Tensor, " r"],
) -> Warped:
    """What was found, with the warps and hyperparameters of these rows in it."""
    own = data.rows(rows)
    a, b = sign * p[:, -2].exp(), p[:, -1]
    w = warp_data(own, a, b)
    amplitude = p[:, -4].exp()
    noise = _row_noise(p[:, -3], amplitude, own, w)
    h = Hyperparameters(p[:, :-4].exp(), amplitude, noise, torch.zeros_like(noise))
    each = datum_noise(noise, amplitude, w.relative.exp())
    h = h._replace(mean=marginal_likelihood(kernel, own.X, w.y, own.mask, h, each).mean)
    warp = zip(found.warp, (a, b, w.unit, own.reference), strict=True)
    return Warped(
        Warp(*(whole.index_copy(0, rows, part) for whole, part in warp)),
        Hyperparameters(*(whole.index_copy(0, rows, part) for whole, part in zip(found.h, h, strict=True))),
        found.evidence.index_copy(0, rows, value),
    )
