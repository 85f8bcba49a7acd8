"""All that is known of a study at one moment: what questions, answers, pictures and exports read."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.data.measured import MeasuredPoint, measured_points
from pesky.data.outliers import Place, trusted
from pesky.data.pending import Pending
from pesky.data.points import Points
from pesky.data.slips import Unusual, absurd
from pesky.problem import Option, Problem
from pesky.problem.fields import FrozenDict
from pesky.space import Space
from pesky.store import Evaluation, State
from pesky.store.evaluation import told_by

DataKey = tuple[tuple[int, int, bool, int], ...]
"""What identifies the data: the evaluations that told something, how much, whether they failed, and how often they were
corrected, excluded or included."""
Answered = Mapping[str, Mapping[tuple[Option, ...], Evaluation]]
"""For each task the points, by the values of the parameters that it depends on, where to ask it would tell nothing, and
why."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The evaluations of a study at one moment, read by what its problem asks today; all else is found on first use."""

    problem: Problem
    points: Points
    evaluations: Mapping[int, Evaluation]
    """All that the study keeps."""

    @property
    def space(self) -> Space:
        """Where the parameters are."""
        return self.points.space

    def at(self, evaluations: Mapping[int, Evaluation]) -> "Snapshot":
        """The same study at another moment; points that are encoded already are not encoded again."""
        return self if evaluations is self.evaluations else replace(self, evaluations=evaluations)

    def first(self, count: int) -> "Snapshot":
        """The first of the evaluations that are learnt from."""
        return self if count >= len(self.learnt) else self.at(dict(islice(self.learnt.items(), count)))

    @cached_property
    def learnt(self) -> Mapping[int, Evaluation]:
        """The evaluations that tell something of the problem, which may not be the one that they were asked for.

        Left out are those that were excluded and those without a place in the space, like a point at an option that
        was taken away. Points outside of bounds that were narrowed are data like others. Outcomes that the problem does
        not have are left out of the others; a task that it does not have is another name for one that measures some of
        them.
        """
        self.points.remember(self.evaluations.values())
        numbers, yes_no = frozenset(self.problem.outcomes) - self.problem.yes_no, self.problem.yes_no
        found: dict[int, Evaluation] = {}
        for id_, each in self.evaluations.items():
            if each.is_excluded or self.points.place(each) is None:
                continue
            part, told = each, each.outcomes
            if not numbers.issuperset(told):
                told = {k: v for k, v in told.items() if k in numbers or (k in yes_no and v in (0, 1))}
                part = each if len(told) == len(each.outcomes) else replace(each, outcomes=FrozenDict(told))
            if each.task not in self.problem.tasks:
                names = (name for name, task in self.problem.tasks.items() if told.keys() & set(task.outcomes))
                if (task := next(names, None)) is None:
                    continue
                part = replace(part, task=task, state=State.DONE, seconds=None)
            found[id_] = part
        return found

    @cached_property
    def key(self) -> DataKey:
        """The same of snapshots that were told the same."""
        told = (e for e in self.learnt.values() if e.outcomes or e.state is State.FAILED)
        return tuple((e.id, len(e.outcomes), e.state is State.FAILED, len(e.corrections)) for e in told)

    def is_any_told(self, outcomes: Iterable[str]) -> bool:
        """Whether there is a value of any of these outcomes."""
        names = set(outcomes)
        return any(e.outcomes.keys() & names for e in self.learnt.values())

    @cached_property
    def measured(self) -> tuple[MeasuredPoint, ...]:
        """Every point of which something was told."""
        return measured_points(self.problem, self.learnt.values())

    def measured_without(self, left_out: Collection[Place]) -> tuple[MeasuredPoint, ...]:
        """The same without some values."""
        return measured_points(self.problem, self.without(left_out).values()) if left_out else self.measured

    def without(self, left_out: Collection[Place]) -> Mapping[int, Evaluation]:
        """The evaluations that are learnt from, without these values; the very same where there are none."""
        return trusted(self.learnt, left_out)

    @cached_property
    def far_beyond(self) -> tuple[Unusual, ...]:
        """The values that are many factors of ten beyond all others, whether or not the model leaves them out."""
        return tuple(absurd(self.problem, self.learnt.values()))

    @cached_property
    def failed(self) -> tuple[Evaluation, ...]:
        """Those that failed, of tasks whose failures are not learnt: the model does not know of them."""
        return tuple(e for e in self.learnt.values() if self._is_unlearnt_failure(e))

    def _is_unlearnt_failure(self, e: Evaluation) -> bool:
        return e.state is State.FAILED and not e.is_given_up and not self.problem.tasks[e.task].learns_success

    @cached_property
    def told_outcomes(self) -> frozenset[str]:
        """The outcomes of which a value is known, functions that are known included."""
        told = {name for e in self.learnt.values() for name in told_by(e, self.problem)}
        return frozenset(told | self.problem.known.keys())

    @cached_property
    def asked(self) -> Float[Tensor, "n d"]:
        """Where was asked, in the unit cube."""
        return self.points.stack(self.learnt.values())

    @cached_property
    def pending(self) -> Pending | None:
        """Points where a result is awaited, with the rows still to come; None if there are none.

        A failure whose reason is not learnt counts too: it told nothing, and would be asked again and again. A point
        outside of the space, asked before that was narrowed, is none that others are to keep away from.
        """
        awaited: list[Evaluation] = []
        rows: list[list[bool]] = []
        for e in self.learnt.values():
            is_mute = e.state is State.FAILED and not e.is_mistake and (e.is_given_up or self._is_unlearnt_failure(e))
            missing = set(self.problem.informs(e.task)) - e.outcomes.keys()
            if missing and (e.is_awaited or is_mute) and self.space.contains(e.params):
                awaited.append(e)
                rows.append([name in missing for name in self.problem.rows])
        mask = torch.tensor(rows, device=self.points.device)
        return Pending(self.points.stack(awaited), mask) if awaited else None

    def all_rows(self, evaluations: Collection[Evaluation]) -> Pending:
        """Where these measure, with all rows that they tell of, told or to come."""
        rows = [{*self.problem.informs(e.task), *e.outcomes} for e in evaluations]
        mask = torch.tensor([[name in told for name in self.problem.rows] for told in rows], device=self.points.device)
        return Pending(self.points.stack(evaluations), mask)

    def answered(self, tasks: Collection[str]) -> Answered:
        """For each of the tasks the points where to ask it would tell nothing, with the evaluation that says why.

        There are some where its measurements have no noise: where all its outcomes were told, in whichever evaluations,
        and where it was asked before and has not answered, be it still or ever. An evaluation that was abandoned, or
        failed by a mistake of the program, leaves its point as it was.
        """
        found: dict[str, dict[tuple[Option, ...], Evaluation]] = {task: {} for task in tasks}
        outcomes = {task: self.problem.tasks[task].outcomes for task in tasks if self.problem.is_exact(task)}
        if not outcomes:
            return found
        told: dict[tuple[str, tuple[Option, ...]], set[str]] = {}
        for e in self.learnt.values():
            if not self.space.contains(e.params):
                continue
            is_unanswered = e.is_awaited or (e.state is State.FAILED and not e.is_mistake)
            for task, expected in outcomes.items():
                place = self.problem.place_of(task, e.params)
                known = told.setdefault((task, place), set())
                known.update(e.outcomes)
                if (e.task == task and is_unanswered) or known.issuperset(expected):
                    found[task].setdefault(place, e)
        return found
