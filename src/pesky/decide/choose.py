"""The most informative affordable question: which task, at which point."""

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.information import InformationGain, information_gain, refresh
from pesky.acquire.maximize import Effort, maximize
from pesky.acquire.pending import Pending
from pesky.acquire.settings import Setting
from pesky.decide.doubt import NEGLIGIBLE, doubt
from pesky.decide.menu import Menu, task_gains
from pesky.decide.recommend import standing
from pesky.infer import ep
from pesky.model.belief import Belief
from pesky.optimum.sample import Optima, sample_optima
from pesky.space import Space

CANDIDATES = 256
"""Points at which the gains are looked at before the ascent."""
QUICK_CANDIDATES, QUICK = 64, Effort(starts=2, steps=3)
"""The same where deciding must not take longer than measuring."""
APART = 1e-3
"""Points closer than this, in the unit cube, are the same question."""


class Analysis(NamedTuple):
    """What deciding starts from: a belief, samples of x*, and what they make a measurement worth."""

    belief: Belief
    optima: Optima
    information: InformationGain
    is_full: bool
    """Whether x* and EP are of this belief, or of one that knew less."""
    seconds: dict[str, float]
    """CPU time of each stage."""


class Decision(NamedTuple):
    task: int
    u: Float[Tensor, " d"]
    gain: float
    """Expected information of running the task there, in nats."""
    price: float
    """What it is expected to cost."""
    per_task: Float[Tensor, " t"]
    """Gain of every task, each at its own best point."""
    optima: Optima
    ep: ep.Info
    seconds: dict[str, float]
    """CPU time of each stage."""


def analyze(
    belief: Belief, space: Space, setting: Setting, generator: torch.Generator, pending: Pending | None = None
) -> Analysis:
    """Samples of x* and EP for each of them."""
    began = time.process_time()
    measured = belief.points
    points = torch.cat([space.spread(setting.candidates, _seed(generator)).to(measured), measured])
    samples, draws = setting.per_hyperparameter_sample(belief.amplitude.shape[:-1].numel())
    optima = sample_optima(belief, samples, draws, points, setting.polish_steps, generator)
    drawn = time.process_time()
    snap = None if space.is_continuous else space.snap
    information = information_gain(belief, optima.chosen, optima.paths, setting.local_reach, generator, pending, snap)
    seconds = {"x*": drawn - began, "ep": time.process_time() - drawn}
    return Analysis(belief, optima, information, True, seconds)


def update(analysis: Analysis, belief: Belief, generator: torch.Generator, pending: Pending | None = None) -> Analysis:
    """The analysis with what was measured and asked since, at the same hyperparameters (METHOD 20.2)."""
    began = time.process_time()
    information = refresh(analysis.information, belief, analysis.optima.paths, generator, pending)
    seconds = {"x*": 0.0, "ep": time.process_time() - began}
    return Analysis(belief, analysis.optima, information, belief is analysis.belief, seconds)


def choose(
    analysis: Analysis,
    space: Space,
    menu: Menu,
    confidence: Float[Tensor, " k"],
    generator: torch.Generator,
    pending: Pending | None = None,
    min_probability: float | None = None,
) -> Decision:
    """The task and point of most gain per cost.

    `confidence` is what is asked of each constraint at the recommendation, which is checked once nothing else seems
    worth measuring; `min_probability` is what the probability that all constraints hold must reach at the point.
    """
    began = time.process_time()
    belief, optima, information = analysis.belief, analysis.optima, analysis.information
    flat = optima.chosen.x.flatten(0, -2)
    count, effort = (CANDIDATES, Effort()) if analysis.is_full else (QUICK_CANDIDATES, QUICK)
    spread = space.spread(count, _seed(generator)).to(flat)
    candidates = torch.cat([spread, flat, cloud(flat, belief, count // 4, generator, space.snap)])

    def gains(X: Tensor) -> Tensor:
        return task_gains(menu, information, belief, X)

    def margin(X: Tensor) -> Tensor:
        return standing(belief, X, confidence).log_probability.sum(0) - math.log(min_probability or 1.0)

    best = maximize(
        lambda X: gains(X) / menu.prices(X),
        candidates,
        None if space.is_continuous else space.neighbors,
        None if min_probability is None else margin,
        effort,
    )
    per_task = best.value * menu.prices(best.x).diagonal()
    task = int(best.value.argmax())
    u, gain = space.snap(best.x[task]), float(per_task[task])
    if float(per_task.max()) < NEGLIGIBLE and min_probability is None:
        task, u = doubt(belief, space, menu, confidence, _seed(generator), pending)
        gain = float(gains(u[None])[0, task])
    price = float(menu.prices(u[None])[0, task])
    seconds = {**analysis.seconds, "maximize": time.process_time() - began}
    return Decision(task, u, gain, price, per_task.detach(), optima, information.info, seconds)


def gains_at_optima(analysis: Analysis, menu: Menu) -> Float[Tensor, "m t"]:
    """Expected gain of running each task at each sample of x*, in nats: what `draw` chooses from."""
    with torch.no_grad():
        return task_gains(menu, analysis.information, analysis.belief, analysis.optima.chosen.x.flatten(0, -2))


def draw(
    analysis: Analysis,
    space: Space,
    menu: Menu,
    gains: Float[Tensor, "m t"],
    confidence: Float[Tensor, " k"],
    taken: Float[Tensor, "n d"],
    generator: torch.Generator,
    min_probability: float | None = None,
) -> Decision:
    """A sample of x* that was not taken yet, and the task that tells most per cost there: a decision in a millisecond.

    With functions that take no longer than that, it is what there is time for between two updates. `gains` are those at
    the samples.
    """
    began = time.process_time()
    belief, optima = analysis.belief, analysis.optima
    x, weight = optima.chosen.x.flatten(0, -2), optima.chosen.weight.flatten().clamp(min=1e-12)
    if min_probability is not None:
        with torch.no_grad():
            likely = standing(belief, x, confidence).log_probability.sum(0) >= math.log(min_probability)
        weight = torch.where(likely, weight, 0.0) if bool(likely.any()) else weight
    is_free = torch.cdist(x, taken.to(x)).amin(-1) > APART if len(taken) else torch.ones_like(weight, dtype=torch.bool)
    free = torch.where(is_free, weight, 0.0)
    is_any_free = bool((free > 0).any())
    m = torch.multinomial((free if is_any_free else weight).cpu(), 1, generator=generator)
    u = space.snap(x[m] if is_any_free else cloud(x[m], belief, 1, generator, space.snap))
    with torch.no_grad():
        gain, price = gains[m[0]], menu.prices(u)[0]
    task = int((gain / price).argmax())
    seconds = {"x*": 0.0, "ep": 0.0, "maximize": time.process_time() - began}
    return Decision(
        task, u[0], float(gain[task]), float(price[task]), gain, optima, analysis.information.info, seconds
    )  # fmt: skip


def cloud(
    centers: Float[Tensor, "n d"],
    belief: Belief,
    count: int,
    generator: torch.Generator,
    snap: Callable[[Tensor], Tensor],
) -> Float[Tensor, "count d"]:
    """Points scattered around `centers`, at distances from a thousandth of to a whole lengthscale."""
    pick = torch.randint(centers.shape[0], (count,), generator=generator)
    lengthscale = belief.lengthscale.amin(-2).reshape(-1, centers.shape[-1]).amin(0)
    reach = 10 ** (-3 * torch.rand(count, 1, generator=generator, dtype=centers.dtype))
    step = torch.randn(count, centers.shape[-1], generator=generator, dtype=centers.dtype)
    return snap((centers[pick] + (reach * step).to(centers.device) * lengthscale).clamp(0.0, 1.0))


def _seed(generator: torch.Generator) -> int:
    return int(torch.randint(2**31, (1,), generator=generator))
