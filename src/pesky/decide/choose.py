"""The question worth most for its price: which task, at which point."""

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.maximize import Effort, maximize
from pesky.acquire.rule import Rule, Scene, Worth
from pesky.decide.doubt import NEGLIGIBLE, doubt
from pesky.decide.menu import Menu, worth_per_cost
from pesky.decide.worn import REACH
from pesky.model.belief import Belief
from pesky.optimum.recommend import standing

CANDIDATES = 256
"""Points at which the worth is looked at before the ascent."""
QUICK_CANDIDATES, QUICK = 64, Effort(starts=2, steps=3)
"""The same where deciding must not take longer than measuring."""
APART = 1e-3
"""Points closer than this, in the unit cube, are the same question."""


class Analysis(NamedTuple):
    """What deciding starts from: a scene, a rule, and what it makes a measurement worth there."""

    scene: Scene
    rule: Rule
    worth: Worth
    is_full: bool
    """Whether the rule was prepared for this belief, or for one that knew less."""


class Decision(NamedTuple):
    task: int
    u: Float[Tensor, " d"]
    gain: float | None
    """Expected information of running the task there, in nats; None if the rule counts in something else."""
    price: float
    """What it is expected to cost."""
    per_task: Float[Tensor, " t"]
    """What every task is worth to the rule, each at its own best point."""
    worth: Worth
    seconds: dict[str, float]
    """CPU time of each stage."""


def analyze(rule: Rule, scene: Scene) -> Analysis:
    """The rule, prepared for the scene."""
    return Analysis(scene, rule, rule.prepare(scene), True)


def update(analysis: Analysis, scene: Scene) -> Analysis:
    """The analysis with what was measured and asked since, at the same hyperparameters (METHOD 20.2)."""
    worth = analysis.rule.refresh(analysis.worth, scene)
    return Analysis(scene, analysis.rule, worth, scene.belief is analysis.scene.belief)


def choose(
    analysis: Analysis,
    menu: Menu,
    min_probability: float | None = None,
    avoid: Float[Tensor, "w d"] | None = None,
) -> Decision:
    """The task and point worth most for their cost.

    `min_probability` is what the probability that all constraints hold must reach at the point, and `avoid` are places
    to keep away from.
    """
    began = time.process_time()
    scene, rule, worth, is_full = analysis
    belief, space = scene.belief, scene.space
    count, effort = (CANDIDATES, Effort()) if is_full else (QUICK_CANDIDATES, QUICK)
    near = cloud(worth.centers, belief, count // 4, scene.generator, space.snap)
    candidates = torch.cat([scene.spread(count), worth.centers, near])

    def per_cost(X: Tensor) -> Tensor:
        return worth_per_cost(menu, rule, worth, belief, X)

    best = maximize(
        per_cost,
        candidates,
        None if space.is_continuous else space.neighbors,
        _margin(scene, min_probability, avoid),
        effort,
    )
    prices = menu.prices(best.x).diagonal()
    per_task = best.value + prices.log() if worth.is_log else best.value * prices
    task = int(best.value.argmax())
    u, gain = space.snap(best.x[task]), float(per_task[task])
    if rule.in_nats and float(per_task.max()) < NEGLIGIBLE and min_probability is None:
        task, u = doubt(belief, space, menu, scene.confidence, scene.draw_seed(), scene.pending)
        with torch.no_grad():
            gain = float((per_cost(u[None]) * menu.prices(u[None]))[0, task])
    price = float(menu.prices(u[None])[0, task])
    seconds = {**worth.seconds, "maximize": time.process_time() - began}
    return Decision(task, u, gain if rule.in_nats else None, price, per_task.detach(), worth, seconds)


def _margin(
    scene: Scene, min_probability: float | None, avoid: Float[Tensor, "w d"] | None
) -> Callable[[Tensor], Tensor] | None:
    """How far each point is from where nothing is to be asked, negative there; None where all may be asked."""
    margins: list[Callable[[Tensor], Tensor]] = []
    if min_probability is not None:
        floor = math.log(min_probability)
        margins.append(lambda X: standing(scene.belief, X, scene.confidence).log_probability.sum(0) - floor)
    if avoid is not None:
        margins.append(lambda X: (X[:, None] - avoid).abs().amax(-1).amin(-1) - REACH)
    return (lambda X: torch.stack([margin(X) for margin in margins]).amin(0)) if margins else None


def worth_at_optima(analysis: Analysis, menu: Menu) -> Float[Tensor, "m t"]:
    """What running each task at each sample of x* is worth for its price: what `draw` chooses from."""
    with torch.no_grad():
        return worth_per_cost(menu, analysis.rule, analysis.worth, analysis.scene.belief, _optima(analysis.worth))


def _optima(worth: Worth) -> Float[Tensor, "m d"]:
    """All samples of x*, of whichever hyperparameter sample."""
    assert worth.optima is not None
    return worth.optima.chosen.x.flatten(0, -2)


def draw(
    analysis: Analysis,
    menu: Menu,
    per_cost: Float[Tensor, "m t"],
    taken: Float[Tensor, "n d"],
    generator: torch.Generator,
    min_probability: float | None = None,
) -> Decision:
    """A sample of x* that was not taken yet, and the task worth most for its price there: a decision in a millisecond.

    With functions that take no longer than that, it is what there is time for between two updates. `per_cost` is what
    the tasks are worth at the samples.
    """
    began = time.process_time()
    scene, rule, worth, _ = analysis
    assert worth.optima is not None
    x, weight = _optima(worth), worth.optima.chosen.weight.flatten().clamp(min=1e-12)
    if min_probability is not None:
        with torch.no_grad():
            likely = standing(scene.belief, x, scene.confidence).log_probability.sum(0) >= math.log(min_probability)
        weight = torch.where(likely, weight, 0.0) if bool(likely.any()) else weight
    is_free = torch.cdist(x, taken.to(x)).amin(-1) > APART if len(taken) else torch.ones_like(weight, dtype=torch.bool)
    free = torch.where(is_free, weight, 0.0)
    is_any_free = bool((free > 0).any())
    m = torch.multinomial((free if is_any_free else weight).cpu(), 1, generator=generator)
    snap = scene.space.snap
    u = snap(x[m] if is_any_free else cloud(x[m], scene.belief, 1, generator, snap))
    with torch.no_grad():
        here, price = per_cost[m[0]], menu.prices(u)[0]
    task = int(here.argmax())
    per_task = here + price.log() if worth.is_log else here * price
    gain = float(per_task[task]) if rule.in_nats else None
    seconds = dict.fromkeys(worth.seconds, 0.0) | {"maximize": time.process_time() - began}
    return Decision(task, u[0], gain, float(price[task]), per_task, worth, seconds)


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
