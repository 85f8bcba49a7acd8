"""The initial design: the points that every task is measured at before anything is believed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from pesky.numerics.rng import source_of
from pesky.problem import Option, Problem
from pesky.run.spending import typical_price
from pesky.space import Space
from pesky.space.region import Region
from pesky.store import Evaluation, Question, State
from pesky.study.pending import Answered


class InitialDesign:
    """So many points of a Latin hypercube; data of the user's own take their place."""

    def __init__(self, problem: Problem, space: Space, region: Region | None, count: int, seed: int) -> None:
        self._problem, self._space, self._region, self._seed, self.count = problem, space, region, seed, count

    @cached_property
    def points(self) -> list[dict[str, Option]]:
        """The points, all of them where the constraints on parameters hold."""
        latin = self._space.latin(self.count, source_of(self._seed))
        return [self._space.decode(u) for u in (latin if self._region is None else self._region.repaired(latin))]

    def next(
        self,
        evaluations: Mapping[int, Evaluation],
        tasks: Sequence[str],
        known: Answered,
        is_allowed: Callable[[Mapping[str, Option]], bool],
    ) -> Question | None:
        """The first point of the design that one of these tasks was not asked at; None where all have their values.

        Also None where no other point is allowed.
        """
        inside = (e for e in evaluations.values() if self._space.contains(e.params))
        counts = self._counts(inside)
        if min(counts.values()) >= self.count:
            return None
        evaluations = {id_: e for id_, e in evaluations.items() if self._space.contains(e.params)}
        wanted = [
            task for task in tasks if any(counts[name] < self.count for name in self._problem.tasks[task].outcomes)
        ]
        for params in self.points:
            for task in wanted:
                if (
                    not self._is_asked(task, params, evaluations)
                    and self._problem.place_of(task, params) not in known[task]
                    and is_allowed(params)
                ):
                    return Question(task, params, None, typical_price(task, evaluations, self._problem))
        return None

    def _counts(self, evaluations: Iterable[Evaluation]) -> dict[str, int]:
        """How many values of each outcome were told, or are awaited; no more are counted once all have enough."""
        counts = dict.fromkeys(self._problem.outcomes, 0)
        for e in evaluations:
            if min(counts.values()) >= self.count:
                break
            awaited = self._problem.tasks[e.task].outcomes if e.is_awaited else ()
            for name in {*e.outcomes, *awaited}:
                counts[name] += 1
        return counts

    def _is_asked(self, task: str, params: Mapping[str, Option], evaluations: Mapping[int, Evaluation]) -> bool:
        """Whether the task was asked there, and told all that it tells today or will tell no more."""
        outcomes = set(self._problem.tasks[task].outcomes)
        return any(
            e.task == task
            and not e.is_mistake
            and dict(e.params) == dict(params)
            and (e.state is not State.DONE or e.outcomes.keys() >= outcomes)
            for e in evaluations.values()
        )
