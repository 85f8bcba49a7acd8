"""Initial: points that every task is measured at before anything is inferred."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from pesky.numerics.rng import source_of
from pesky.problem import Option, Problem
from pesky.run.spending import typical_price
from pesky.space import Space
from pesky.space.region import Region
from pesky.store import Evaluation, State
from pesky.strategy.query import Query, Reason
from pesky.strategy.situation import Situation
from pesky.strategy.step import Step


@dataclass(frozen=True)
class Initial(Step):
    """So many points of a Latin hypercube; data of the user's own take their place."""

    kinds: ClassVar = {
        "initial": "a point of the initial design, which every task is measured at before anything is believed"
    }

    points: int = field(default=3, metadata={"least": 0})

    def propose(self, situation: Situation) -> Query | None:
        problem, space = situation.problem, situation.space
        inside = [e for e in situation.learnt.values() if space.contains(e.params)] if self.points else []
        counts = _counts(problem, inside, self.points)
        if min(counts.values()) >= self.points:
            return None
        wanted = [
            task for task in situation.tasks if any(counts[name] < self.points for name in problem.tasks[task].outcomes)
        ]
        for params in self.design(space, situation.region, situation.inference.seed):
            for task in wanted:
                if (
                    not _is_asked(problem, task, params, inside)
                    and problem.place_of(task, params) not in situation.answered[task]
                    and situation.is_allowed(params)
                ):
                    price = typical_price(task, situation.learnt, problem)
                    return Query(task, params, price, Reason("initial"))
        return None

    def design(self, space: Space, region: Region | None, seed: int) -> Sequence[Mapping[str, Option]]:
        """The points, all of them where the constraints on parameters hold."""
        latin = space.latin(self.points, source_of(seed))
        return [space.decode(u) for u in (latin if region is None else region.repaired(latin))]


def _counts(problem: Problem, evaluations: Iterable[Evaluation], enough: int) -> dict[str, int]:
    """How many values of each outcome were told, or are awaited; no more are counted once all have enough."""
    counts = dict.fromkeys(problem.outcomes, 0)
    for e in evaluations:
        if min(counts.values()) >= enough:
            break
        awaited = problem.tasks[e.task].outcomes if e.is_awaited else ()
        for name in {*e.outcomes, *awaited}:
            counts[name] += 1
    return counts


def _is_asked(problem: Problem, task: str, params: Mapping[str, Option], evaluations: Iterable[Evaluation]) -> bool:
    """Whether the task was asked there, and told all that it tells today or will tell no more."""
    outcomes = set(problem.tasks[task].outcomes)
    return any(
        e.task == task
        and not e.is_mistake
        and dict(e.params) == dict(params)
        and (e.state is not State.DONE or e.outcomes.keys() >= outcomes)
        for e in evaluations
    )
