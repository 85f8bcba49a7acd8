"""What is known or awaited where: results to come, and questions that need not be asked again."""

from collections.abc import Collection, Iterable, Mapping

import torch

from pesky.acquire.base import Settled
from pesky.acquire.fantasy import Pending
from pesky.problem import Option, Problem
from pesky.space import Space
from pesky.store import Evaluation, State
from pesky.study.measured import measured_points
from pesky.study.points import Points

Answered = Mapping[str, Mapping[tuple[Option, ...], Evaluation]]
"""For each task the points, by the values of the parameters that it depends on, where to ask it would tell nothing, and
why."""


def pending(problem: Problem, points: Points, evaluations: Iterable[Evaluation]) -> Pending | None:
    """Points where a result is awaited, with the rows still to come; None if there are none.

    A failure whose reason is not learnt counts too: it told nothing, and would be asked again and again. A point
    outside of the space, asked before that was narrowed, is none that others are to keep away from.
    """
    awaited: list[Evaluation] = []
    rows: list[list[bool]] = []
    for e in evaluations:
        is_mute = (
            e.state is State.FAILED and not e.is_mistake and (e.is_given_up or not problem.tasks[e.task].learns_success)
        )
        missing = set(problem.informs(e.task)) - e.outcomes.keys()
        if missing and (e.is_awaited or is_mute) and points.space.contains(e.params):
            awaited.append(e)
            rows.append([name in missing for name in problem.rows])
    return Pending(points.stack(awaited), torch.tensor(rows, device=points.device)) if awaited else None


def settled(
    problem: Problem, points: Points, evaluations: Iterable[Evaluation], noiseless: Collection[str]
) -> Settled | None:
    """The points where every constraint on an outcome without noise was told, and holds; None if there are none."""
    is_exact = [condition.outcome in noiseless for condition in problem.conditions]
    wanted = [condition for condition, exact in zip(problem.conditions, is_exact, strict=True) if exact]
    if not wanted:
        return None
    held = [
        point.evaluations[0]
        for point in measured_points(problem, evaluations)
        if points.space.contains(point.params)
        and all(c.outcome in point.told and c.holds(point.told[c.outcome]) for c in wanted)
    ]
    return Settled(points.stack(held), torch.tensor(is_exact, device=points.device)) if held else None


def all_rows(problem: Problem, points: Points, evaluations: Collection[Evaluation]) -> Pending:
    """Where these measure, with all rows that they tell of, told or to come."""
    rows = [{*problem.informs(e.task), *e.outcomes} for e in evaluations]
    mask = torch.tensor([[name in told for name in problem.rows] for told in rows], device=points.device)
    return Pending(points.stack(evaluations), mask)


def answered(problem: Problem, space: Space, evaluations: Iterable[Evaluation], tasks: Collection[str]) -> Answered:
    """For each of the tasks the points where to ask it would tell nothing, with the evaluation that says why.

    There are some where its measurements have no noise: where all its outcomes were told, in whichever evaluations, and
    where it was asked before and has not answered, be it still or ever. An evaluation that was abandoned, or
    failed by a mistake of the program, leaves its point as it was.
    """
    found: dict[str, dict[tuple[Option, ...], Evaluation]] = {task: {} for task in tasks}
    outcomes = {task: problem.tasks[task].outcomes for task in tasks if problem.is_exact(task)}
    if not outcomes:
        return found
    told: dict[tuple[str, tuple[Option, ...]], set[str]] = {}
    for e in evaluations:
        if not space.contains(e.params):
            continue
        is_unanswered = e.is_awaited or (e.state is State.FAILED and not e.is_mistake)
        for task, expected in outcomes.items():
            place = problem.place_of(task, e.params)
            known = told.setdefault((task, place), set())
            known.update(e.outcomes)
            if (e.task == task and is_unanswered) or known.issuperset(expected):
                found[task].setdefault(place, e)
    return found
