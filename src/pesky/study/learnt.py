"""What is learnt from: of all that a study keeps, what its problem asks about today."""

from collections.abc import Mapping
from dataclasses import replace

from pesky.problem import Problem
from pesky.problem.fields import FrozenDict
from pesky.store import Evaluation, State
from pesky.study.points import Points


class Learnt:
    """The evaluations that tell something of a problem, which may not be the one that they were asked for.

    Left out are those that were excluded and those without a place in the space, like a point at an option that was
    taken away. Points outside of bounds that were narrowed are data like others. Outcomes that the problem does not
    have are left out of the others; a task that it does not have is another name for one that measures some of them.
    """

    def __init__(self, problem: Problem, points: Points) -> None:
        self._problem, self._points = problem, points
        self._yes_no, self._outcomes = problem.yes_no, frozenset(problem.outcomes)
        self._known: dict[int, tuple[Evaluation, Evaluation | None]] = {}

    def __call__(self, evaluations: Mapping[int, Evaluation]) -> Mapping[int, Evaluation]:
        """Those of them, by their ids; the very same objects where there is nothing to leave out."""
        self._points.remember(evaluations.values())
        found: dict[int, Evaluation] = {}
        for id_, each in evaluations.items():
            before, part = self._known.get(id_, (None, None))
            if before is not each:
                part = self._part(each)
                self._known[id_] = each, part
            if part is not None:
                found[id_] = part
        return found

    def _part(self, evaluation: Evaluation) -> Evaluation | None:
        if evaluation.is_excluded or self._points.place(evaluation) is None:
            return None
        told = {name: value for name, value in evaluation.outcomes.items() if self._is_asked(name, value)}
        part = evaluation
        if len(told) < len(evaluation.outcomes):
            part = replace(evaluation, outcomes=FrozenDict(told))
        if evaluation.task in self._problem.tasks:
            return part
        names = (name for name, task in self._problem.tasks.items() if told.keys() & set(task.outcomes))
        task = next(names, None)
        return None if task is None else replace(part, task=task, state=State.DONE, seconds=None)

    def _is_asked(self, outcome: str, value: float) -> bool:
        return outcome in self._outcomes and (outcome not in self._yes_no or value in (0, 1))
