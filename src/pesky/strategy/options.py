"""CoverOptions: options that were never tried are asked for once, before the model may write them off."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from pesky.data.measured import holds_all, options_without
from pesky.data.snapshot import Snapshot
from pesky.problem import Choice, Option, Problem
from pesky.run.spending import typical_price
from pesky.store import Evaluation, State
from pesky.strategy.query import Query, Reason
from pesky.strategy.situation import Situation
from pesky.strategy.step import Step


@dataclass(frozen=True)
class CoverOptions(Step):
    """The objective with an option that it was never asked for with, at the best point that allows for it.

    An option without data is inferred to be about average. Where the others are good by then no rule asks for it, and
    data of the user's own may have left it out.
    """

    kinds: ClassVar = {
        "untried": "an option that the objective was never measured with, at the best point: before it is written off"
    }

    options: int = 6
    """Options of a choice up to which each is tried."""
    values: int = 4
    """Values of the objective for each option of the choice that a rule has to ask for it by itself."""

    def propose(self, situation: Situation) -> Query | None:
        problem, snapshot = situation.problem, situation.snapshot
        informing = [task for task in situation.tasks if problem.objective in problem.tasks[task].outcomes]
        if situation.request.confirm or not informing:
            return None
        for name, option in self._due(snapshot):
            for params in _best_first(snapshot):
                other = {**params, name: option}
                if situation.is_inside(other) and situation.is_allowed(other):
                    price = typical_price(informing[0], snapshot.learnt, problem)
                    return Query(informing[0], other, price, Reason("untried"))
        return None

    def _due(self, snapshot: Snapshot) -> Iterator[tuple[str, Option]]:
        """The options that it is high time to ask for."""
        problem, objective = snapshot.problem, snapshot.problem.objective
        asked = [e.params for e in snapshot.learnt.values() if objective in e.outcomes or _is_tried(problem, e)]
        for name, option in options_without(problem, asked):
            choice = problem.parameters[name]
            if isinstance(choice, Choice) and len(choice.options) <= min(self.options, len(asked) // self.values):
                yield name, option


def _is_tried(problem: Problem, e: Evaluation) -> bool:
    """Whether the objective is awaited of an evaluation, or was in vain."""
    task = problem.tasks.get(e.task)
    is_asked = task is not None and problem.objective in task.outcomes
    return is_asked and not e.is_mistake and e.state is not State.DONE


def _best_first(snapshot: Snapshot) -> list[Mapping[str, Option]]:
    """Measured points, those that held everything first, and of these the best objective."""
    problem, objective = snapshot.problem, snapshot.problem.objective
    told = [point for point in snapshot.measured if objective in point.told]
    told.sort(key=lambda point: (not holds_all(problem, point.told), problem.sign * point.told[objective]))
    return [point.params for point in told]
