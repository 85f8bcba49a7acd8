"""Hamiltonian Monte Carlo under a budget: how many effective samples settings give, and whether it converged.

The budget is one of leapfrog steps, 20,000 a trace, and stands for a second of one thread of a CPU of today
(a step of a trace takes 40 microseconds): so another program on the machine does not change what a setting is worth. A
transition of L steps takes L + 3 of it, since all that is not a step (momenta, the density, whether to accept) was
measured to take about as long as three.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from .diagnostics import compared, effective_samples, geweke, rhat
from .posterior import german_credit
from .sampler import Integrator, Target, sample

BUDGET = 20_000
"""Leapfrog steps that a trace may take."""
OVERHEAD = 3
"""What a transition costs beside its steps, in steps."""
FEWEST = 40
"""Draws of a trace below which no diagnostic means anything: Geweke's first tenth would be fewer than 4."""
SPREAD = 1.0
"""Standard deviation of the starts: about ten times that of the posterior, as convergence is judged from afar."""


class SamplerFailure(RuntimeError):
    """The traces are of no use: the integration diverged, a chain did not move, or there were too few draws."""


def traces(
    params: Mapping[str, Any],
    chains: int,
    seed: int | None = None,
    *,
    target: Target | None = None,
    budget: int | None = None,
) -> np.ndarray:
    """The draws after burn-in, (chains, n, d), after the budget of each chain; a SamplerFailure if none."""
    rng = torch.Generator()
    rng.manual_seed(seed) if seed is not None else rng.seed()
    target = german_credit() if target is None else target
    integrator = Integrator(params["step_size"], int(params["steps"]), params["mass"])
    transitions = (BUDGET if budget is None else budget) // (integrator.steps + OVERHEAD)
    kept = transitions - round(params["burn_in"] * transitions)
    if kept < FEWEST:
        raise SamplerFailure(f"{kept} draws of each trace after burn-in: {FEWEST} are the fewest that can be judged")
    start = SPREAD * torch.randn(chains, target.dim, generator=rng, dtype=torch.float64)
    threads = torch.get_num_threads()
    torch.set_num_threads(
        1
    )  # so small are its matrices that a second thread only waits, for long beside other programs
    try:
        trace = sample(target, start, integrator, transitions, rng)
    finally:
        torch.set_num_threads(threads)
    if trace.has_diverged:
        raise SamplerFailure(f"the integration diverged in transition {len(trace.draws)}")
    if not all(part.any(0).all() for part in compared(trace.accepted[-kept:])):
        raise SamplerFailure("a chain did not move at the beginning or at the end of its trace")
    return trace.draws[-kept:].movedim(1, 0).contiguous().numpy()


def measure(params: Mapping[str, Any], seed: int | None = None, **how: Any) -> dict[str, float]:
    """Two traces: the effective samples of both, the larger Geweke score, and R-hat."""
    draws = traces(params, 2, seed, **how)
    return {"effective": effective_samples(draws), "geweke": geweke(draws), "rhat": rhat(draws)}


def measure_one(params: Mapping[str, Any], seed: int | None = None, **how: Any) -> dict[str, float]:
    """One trace, at half the price: twice its effective samples, and its Geweke score. R-hat needs two."""
    draws = traces(params, 1, seed, **how)
    return {"effective": 2 * effective_samples(draws), "geweke": geweke(draws)}
