"""The initial design: the points that every task is measured at before anything is believed, and untried options."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from pesky.numerics.rng import source_of
from pesky.problem import Choice, Option, Problem
from pesky.run.spending import typical_price
from pesky.space import Space
from pesky.space.region import Region
from pesky.store import Evaluation, Question, State
from pesky.study.measured import holds_all, measured_points
from pesky.study.pending import Answered

FEW_OPTIONS = 6
"""Options of a choice up to which each is tried before anything is left to the model: one that nothing was told of is
believed to be about average, and if the others are good by then it is never asked for."""


class InitialDesign:
    """So many points of a Latin hypercube; data of the user's own take their place.

    Then the best point of all with each option that the objective has no value of.
    """

    def __init__(self, problem: Problem, space: Space, region: Region | None, count: int, seed: int) -> None:
        self._problem, self._space, self._region, self._count, self._seed = problem, space, region, count, seed

    @cached_property
    def points(self) -> list[dict[str, Option]]:
        """The points, all of them where the constraints on parameters hold."""
        latin = self._space.latin(self._count, source_of(self._seed))
        return [self._space.decode(u) for u in (latin if self._region is None else self._region.repaired(latin))]

    def next(self, evaluations: Mapping[int, Evaluation], tasks: Sequence[str], known: Answered) -> Question | None:
        """The first point of the design that one of these tasks was not asked at; None where all have their values."""
        inside = (e for e in evaluations.values() if self._space.contains(e.params))
        counts = self._counts(inside)
        if min(counts.values()) >= self._count:
            return self._untried(evaluations, tasks)
        evaluations = {id_: e for id_, e in evaluations.items() if self._space.contains(e.params)}
        wanted = [
            task for task in tasks if any(counts[name] < self._count for name in self._problem.tasks[task].outcomes)
        ]
        for params in self.points:
            for task in wanted:
                if (
                    not self._is_asked(task, params, evaluations)
                    and self._problem.place_of(task, params) not in known[task]
                ):
                    return Question(task, params, None, typical_price(task, evaluations, self._problem))
        return None

    def _untried(self, evaluations: Mapping[int, Evaluation], tasks: Sequence[str]) -> Question | None:
        """The first option that the objective was not asked for with, at the best point that allows for it."""
        problem, objective = self._problem, self._problem.objective
        informing = [task for task in tasks if objective in problem.tasks[task].outcomes]
        if not informing or not self._few_options:
            return None
        asked = [
            e
            for e in evaluations.values()
            if objective in e.outcomes
            or (objective in problem.tasks[e.task].outcomes and not e.is_mistake and e.state is not State.DONE)
        ]
        for name, option in self._few_options:
            if all(e.params.get(name) != option for e in asked):
                for params in self._best_first(evaluations):
                    if self._allows(other := {**params, name: option}):
                        task = informing[0]
                        return Question(task, other, None, typical_price(task, evaluations, problem))
        return None

    @cached_property
    def _few_options(self) -> list[tuple[str, Option]]:
        """Every option of the choices that have few of them, and that the objective depends on."""
        depends = (
            () if self._problem.objective in self._problem.known else self._problem.depends_on(self._problem.objective)
        )
        each = ((name, self._problem.parameters[name]) for name in depends)
        return [
            (name, option)
            for name, parameter in each
            if isinstance(parameter, Choice) and len(parameter.options) <= FEW_OPTIONS
            for option in parameter.options
        ]

    def _best_first(self, evaluations: Mapping[int, Evaluation]) -> list[Mapping[str, Option]]:
        """Measured points, those that held everything first, and of these the best objective."""
        problem, objective = self._problem, self._problem.objective
        told = [point for point in measured_points(problem, evaluations.values()) if objective in point.told]
        told.sort(key=lambda point: (not holds_all(problem, point.told), problem.sign * point.told[objective]))
        return [point.params for point in told]

    def _allows(self, params: Mapping[str, Option]) -> bool:
        """Whether it is a point of the space where the constraints on parameters hold."""
        if not self._space.contains(params):
            return False
        return self._region is None or bool(self._region.contains(self._space.encode(params)[None]))

    def _counts(self, evaluations: Iterable[Evaluation]) -> dict[str, int]:
        """How many values of each outcome were told, or are awaited; no more are counted once all have enough."""
        counts = dict.fromkeys(self._problem.outcomes, 0)
        for e in evaluations:
            if min(counts.values()) >= self._count:
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
