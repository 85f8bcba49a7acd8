"""Expectation propagation: a Gaussian that knows "the constrained minimum is at x*" (METHOD 5 and 6).

Per x*, the objective's row stacks (d_1..d_N, f(x*)) with d_n = f(u_n) - f(x*), a constraint's row stacks
(c_k(u_1)..c_k(u_N), c_k(x*)). Site n of all rows together approximates "u_n is not a better feasible point";
the last site of a constraint's row approximates c_k(x*) >= 0; the last site of the objective's row is zero.
All sites are univariate: exp(-tau w^2 / 2 + nu w). Where rows have limits besides (METHOD 24), the sites at x* say that
the values there are within them, and so does that of the objective.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pesky.infer.factors import no_better
from pesky.infer.gaussian import Sites, cholesky, log_cdf, truncation
from pesky.infer.interval import interval_moments, standardize
from pesky.infer.limits import Limits, log_reach

DAMPING_DECAY = 0.99
MAX_HALVINGS = 30
IRRELEVANT = 1e-14
"""Sites weaker than this are set to zero: their denormals would slow the linear algebra twentyfold (METHOD 12.4)."""


class Approximation(NamedTuple):
    """The approximation in marginals, with the transpose R of a root of its covariance, R^T R."""

    mean: Float[Tensor, "b j n"]
    variance: Float[Tensor, "b j n"]
    root_transposed: Float[Tensor, "b j n n"]


class EPState(NamedTuple):
    sites: Sites
    q: Approximation
    damping: Float[Tensor, " b"]


class Info(NamedTuple):
    """What happened to each x*."""

    iterations: Int[Tensor, " b"]
    halvings: Int[Tensor, " b"]
    converged: Bool[Tensor, " b"]
    stopped: Bool[Tensor, " b"]
    """No step kept the covariance positive definite: the last good sites were kept."""


class Prior(NamedTuple):
    """The beliefs' joint Gaussian before anything is said of x*."""

    mean: Float[Tensor, "b j n"]
    root: Float[Tensor, "b j n n"]
    """Lower Cholesky factor of its covariance."""
    active: Bool[Tensor, "b s"]
    """Which of the s = n - 1 points carry a factor."""
    limits: Limits | None = None
    """Of the rows that have any besides zero."""
    log_reach: Float[Tensor, "b s"] | None = None
    """Where the objective has a lower limit: that a better value at each point is above it."""

    def at(self, some: Tensor) -> "Prior":
        """That of some of the samples."""
        limits = None if self.limits is None else self.limits.at(some)
        reach = None if self.log_reach is None else self.log_reach[some]
        return Prior(self.mean[some], self.root[some], self.active[some], limits, reach)


def prior(
    mean: Float[Tensor, "b j n"],
    covariance: Float[Tensor, "b j n n"],
    amplitude: Float[Tensor, "b j"],
    active: Bool[Tensor, "b s"],
    limits: Limits | None = None,
) -> Prior:
    """The prior with its covariance factorized."""
    root = cholesky(covariance, amplitude)
    if limits is None or not bool(torch.isfinite(limits.low).any()):
        return Prior(mean, root, active, limits)
    d, f = mean[:, 0, :-1], mean[:, 0, -1:]
    spread, minimum = covariance[:, 0, :-1, :-1].diagonal(dim1=-2, dim2=-1), covariance[:, 0, -1:, -1]
    both, floor = covariance[:, 0, :-1, -1], 1e-10 * amplitude[:, :1]
    spread, variance = torch.maximum(spread, floor), torch.maximum(spread + minimum + 2 * both, floor)
    reach = log_reach(limits.low[:, None], d + f, variance, d, spread, spread + both)
    return Prior(mean, root, active, limits, reach)


def absorb(p: Prior, sites: Sites) -> tuple[Approximation, Bool[Tensor, " b"]]:
    """Prior times sites, and whether its covariance is positive definite (METHOD 5, form G).

    Sites may have negative precision, so sqrt(tau) is not available: G = I + L^T T L is factorized instead.
    """
    weighted = p.root.mT @ (sites.tau[..., None] * p.root)
    weighted.diagonal(dim1=-2, dim2=-1).add_(1.0)
    factor, failed = torch.linalg.cholesky_ex(weighted)
    root_transposed = torch.linalg.solve_triangular(factor, p.root.mT, upper=False)
    residual = (sites.nu - sites.tau * p.mean)[..., None]
    mean = p.mean + (root_transposed.mT @ (root_transposed @ residual))[..., 0]
    return Approximation(mean, root_transposed.square().sum(-2), root_transposed), (failed == 0).all(-1)


def match(
    q: Approximation,
    sites: Sites,
    active: Bool[Tensor, "b s"],
    limits: Limits | None = None,
    log_reach: Float[Tensor, "b s"] | None = None,
) -> Sites:
    """Sites whose product with their cavities has the moments of the exact factors (METHOD 6.1 to 6.3)."""
    left = 1 - sites.tau * q.variance
    proper = (left > 1e-8) & (q.variance > 0)
    left = torch.where(proper, left, 1.0)
    variance = torch.where(proper, q.variance / left, 1.0)
    mean = torch.where(proper, (q.mean - q.variance * sites.nu) / left, 0.0)
    deviation = variance.sqrt()
    a = mean / deviation

    if limits is None:
        h = no_better(a[..., :-1])
        at_minimum = a[..., 1:, -1:]
        g_shift, g_remaining = truncation(at_minimum, log_cdf(at_minimum))
        untouched = torch.zeros_like(a[..., :1, -1:])
        g_shift, g_remaining = torch.cat([untouched, g_shift], -2), torch.cat([untouched + 1, g_remaining], -2)
    else:
        ends = limits.ends(mean[..., 1:, :], deviation[..., 1:, :])
        h = no_better(a[..., :-1], ends[..., :-1], log_reach)
        own = (standardize(end[:, None], mean[:, 0, -1:], deviation[:, 0, -1:]) for end in (limits.low, limits.high))
        low, high = (torch.cat(pair, -1)[..., None] for pair in zip(own, (-a[:, 1:, -1], ends[..., -1]), strict=True))
        g_shift, g_remaining = interval_moments(low, high)
    shift = torch.cat([h.shift, g_shift], -1)
    remaining = torch.cat([h.remaining, g_remaining], -1).clamp(min=1e-12)

    gamma = 1 - remaining
    tau = gamma / (variance * remaining)
    nu = (shift / deviation + mean * gamma / variance) / remaining
    irrelevant = ((tau * variance).abs() < IRRELEVANT) & ((nu * deviation).abs() < IRRELEVANT)
    usable = torch.isfinite(tau) & torch.isfinite(nu) & proper
    # A point's sites stand or fall together; the site at x* of each constraint stands alone.
    together = usable[..., :-1].all(-2, keepdim=True) & active[:, None, :]
    usable = torch.cat([together.expand_as(usable[..., :-1]), usable[..., -1:]], -1)
    tau, nu = torch.where(irrelevant, 0.0, tau), torch.where(irrelevant, 0.0, nu)
    return Sites(torch.where(usable, tau, sites.tau), torch.where(usable, nu, sites.nu))


def init(p: Prior) -> EPState:
    """No sites yet: the approximation is the prior."""
    zeros = torch.zeros_like(p.mean)
    q = Approximation(p.mean, p.root.square().sum(-1), p.root.mT)
    return EPState(Sites(zeros, zeros), q, torch.ones_like(p.mean[:, 0, 0]))


def step(p: Prior, state: EPState) -> tuple[EPState, Int[Tensor, " b"], Bool[Tensor, " b"]]:
    """One damped parallel update; also the halvings of the step that it took, and where none was good enough."""
    old, proposed = state.sites, match(state.q, state.sites, p.active, p.limits, p.log_reach)
    damping = state.damping

    def combine(eps: Tensor, rows: Tensor | slice) -> Sites:
        weight = eps[rows, None, None]
        return Sites(*(torch.lerp(o[rows], n[rows], weight) for o, n in zip(old, proposed, strict=True)))

    sites = combine(damping, slice(None))
    q, good = absorb(p, sites)
    halvings = torch.zeros_like(damping, dtype=torch.long)
    for _ in range(MAX_HALVINGS):
        if bool(good.all()):
            break
        rows = (~good).nonzero()[:, 0]
        damping = damping.index_put((rows,), damping[rows] / 2)
        halvings[rows] += 1
        retried = combine(damping, rows)
        q_rows, good_rows = absorb(p.at(rows), retried)
        sites = Sites(*(s.index_put((rows,), r) for s, r in zip(sites, retried, strict=True)))
        q = Approximation(*(s.index_put((rows,), r) for s, r in zip(q, q_rows, strict=True)))
        good = good.index_put((rows,), good_rows)
    bad = ~good
    if bool(bad.any()):
        where = bad[:, None, None]
        sites = Sites(*(torch.where(where, o, n) for o, n in zip(old, sites, strict=True)))
        q = Approximation(
            torch.where(where, state.q.mean, q.mean),
            torch.where(where, state.q.variance, q.variance),
            torch.where(where[..., None], state.q.root_transposed, q.root_transposed),
        )
    return EPState(sites, q, damping * DAMPING_DECAY), halvings, bad


def run(p: Prior, tolerance: float = 5e-3, max_iterations: int = 200) -> tuple[EPState, Info]:
    """Updates until no mean or variance moves by `tolerance` prior deviations or variances.

    What comes out for an x* does not depend on the others: each is kept as it is when it is finished. The finished
    leave the batch once they are a quarter of it, so that the slowest do not hold up all.
    """
    now = init(p)
    count = p.mean.shape[0]
    kept = _map(torch.empty_like, now)
    iterations, halvings = (torch.zeros(count, dtype=torch.long, device=p.mean.device) for _ in range(2))
    converged, stopped = (
        torch.zeros_like(iterations, dtype=torch.bool),
        torch.zeros_like(iterations, dtype=torch.bool),
    )
    variance_scale = now.q.variance.clamp(min=torch.finfo(p.mean.dtype).tiny)
    mean_scale = variance_scale.sqrt()

    running = torch.arange(count, device=p.mean.device)
    fresh = torch.ones_like(converged)
    batch = p
    for i in range(max_iterations):
        before = now.q
        now, halved, bad = step(batch, now)
        change_mean = ((now.q.mean - before.mean).abs() / mean_scale[running]).flatten(1).amax(1)
        change_variance = ((now.q.variance - before.variance).abs() / variance_scale[running]).flatten(1).amax(1)
        settled = torch.maximum(change_mean, change_variance) < tolerance
        iterations[running] += fresh.long()
        halvings[running] += halved * fresh
        done = fresh & (settled | bad) if i < max_iterations - 1 else fresh
        rows = running[done]
        stopped[rows] = bad[done]
        converged[rows] = (settled & ~bad)[done]
        for whole, part in zip(_parts(kept), _parts(now), strict=True):
            whole[rows] = part[done]
        fresh = fresh & ~done
        left = int(fresh.sum())
        if not left:
            break
        if left * 4 < fresh.numel() * 3:
            running, batch = running[fresh], batch.at(fresh)
            now, fresh = _map(lambda part, some=fresh: part[some], now), fresh[fresh]
    return kept, Info(iterations, halvings, converged, stopped)


def resume(p: Prior, sites: Sites) -> EPState:
    """Sites found on another prior, taken over as they are: what one more measurement costs is one factorization.

    Sites may have negative precision, and where they do not fit the new prior they are halved, in the end left out.
    """
    q, good = absorb(p, sites)
    for _ in range(MAX_HALVINGS):
        if bool(good.all()):
            break
        weight = torch.where(good, 1.0, 0.5).to(sites.tau)[:, None, None]
        sites = Sites(*(weight * part for part in sites))
        q, good = absorb(p, sites)
    weight = good.to(sites.tau)[:, None, None]
    sites = Sites(*(weight * part for part in sites))
    if not bool(good.all()):
        q, _ = absorb(p, sites)
    return EPState(sites, q, torch.ones_like(p.mean[:, 0, 0]))


def _parts(state: EPState) -> tuple[Tensor, ...]:
    return (*state.sites, *state.q, state.damping)


def _map(function: Callable[[Tensor], Tensor], state: EPState) -> EPState:
    """The state with all of its tensors replaced."""
    tau, nu, *q, damping = map(function, _parts(state))
    return EPState(Sites(tau, nu), Approximation(*q), damping)


def relevance(a: Float[Tensor, "*b j s"], ends: Float[Tensor, "*b k s"] | None = None) -> Float[Tensor, "*b s"]:
    """How far each point's factor would move any row at the start, in standard deviations (METHOD 9, pruning)."""
    return no_better(a, ends).shift.abs().amax(-2)
