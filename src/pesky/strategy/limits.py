"""What may be asked, and when nothing is left that is worth asking."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from pesky.data.snapshot import Answered
from pesky.problem import Problem
from pesky.run.budget import Exhausted
from pesky.run.spending import beyond
from pesky.store import Evaluation, Limit
from pesky.strategy.select import NEGLIGIBLE, Decision
from pesky.wording import counted


class Request(NamedTuple):
    """What may be asked: of which tasks, within which limit, and from how many nats per unit of cost."""

    tasks: tuple[str, ...]
    limit: Limit = Limit()
    gain_per_cost: float | None = None
    confirm: bool = False
    """Whether it may be at the point that would be recommended, if that was not measured yet."""


def several(ask: Callable[[], Evaluation], count: int) -> list[Evaluation]:
    """So many questions; fewer if no more are left, and `Exhausted` if there is none at all."""
    asked: list[Evaluation] = []
    for _ in range(count):
        try:
            asked.append(ask())
        except Exhausted:
            if not asked:
                raise
            break
    return asked


def tasks_left(
    problem: Problem,
    size: Callable[[str], int | None],
    tasks: tuple[str, ...],
    evaluations: Mapping[int, Evaluation],
    known: Answered,
) -> tuple[str, ...]:
    """The tasks that have a point left to ask; else `Exhausted`. `size` says how many each has, None if uncountable."""
    sizes = {task: size(task) for task in tasks}
    left = tuple(task for task, count in sizes.items() if count is None or len(known[task]) < count)
    if left:
        return left
    by = "" if {*tasks} == {*problem.tasks} else f" by {' and '.join(map(repr, tasks))}"
    awaited = " or is being measured" if any(e.is_open for e in evaluations.values()) else ""
    raise Exhausted(
        "space",
        f"every point of the space was measured{by}{awaited}, and without noise a repeat tells nothing: the space "
        f"of {counted(max(count or 0 for count in sizes.values()), 'point')} is exhausted",
    )


def check_worth(best: Decision, request: Request, *, is_all: bool) -> None:
    """Nothing, or `Exhausted` if the best question is not worth its price, or tells nothing and others cost too much.

    What a coarse one tells is no measure of what is left to be told: the question after it is.
    """
    if best.gain is None or best.acquisition.is_coarse:
        return
    if request.gain_per_cost is not None and best.gain < request.gain_per_cost * best.price:
        raise Exhausted(
            "gain",
            f"nothing is left worth its price: the best question tells {best.gain:.2g} nats for a cost of "
            f"{best.price:.3g}, and at least {request.gain_per_cost:.2g} nats per cost were asked",
        )
    if not is_all and best.gain < NEGLIGIBLE:
        raise in_vain(request.limit)


def too_improbable(least: float | None) -> Exhausted:
    """The error that says that no question is safe enough."""
    return Exhausted(
        "space",
        f"at no point that is worth asking do all constraints hold with the probability {least:g} that min_probability "
        "asks for: lower it, or add data that show where they hold",
    )


def in_vain(limit: Limit) -> Exhausted:
    """The error that says that what is left of a limit is not enough for what would tell something."""
    return Exhausted("budget", f"{beyond(limit)}: the rest is too little for a measurement that would tell more")
