"""The points that were measured: which evaluations were there, and what they told."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pesky.problem import Choice, Option, Problem
from pesky.store import Evaluation, State
from pesky.store.evaluation import told_by


@dataclass(frozen=True)
class MeasuredPoint:
    """All that was told of one point of the space, in whichever evaluations."""

    params: Mapping[str, Option]
    evaluations: tuple[Evaluation, ...]
    """Those that told something of it, in their order."""
    told: Mapping[str, float]
    """The mean of the values of each outcome, and the success of each task whose failures are learnt."""

    def is_complete(self, problem: Problem) -> bool:
        """Whether everything that is measured was told, the success of tasks whose failures are learnt included."""
        return {row for row in problem.rows if row not in problem.known} <= self.told.keys()


def holds_all(problem: Problem, told: Mapping[str, float]) -> bool:
    """Whether every constraint of which something was told held, as it was told."""
    return all(c.holds(told[c.outcome]) for c in problem.conditions if c.outcome in told)


def measured_points(problem: Problem, evaluations: Iterable[Evaluation]) -> tuple[MeasuredPoint, ...]:
    """Every point of which something was told."""
    at: dict[tuple[Option, ...], list[Evaluation]] = {}
    for e in evaluations:
        if e.outcomes or e.state in (State.DONE, State.FAILED):
            at.setdefault(tuple(e.params[name] for name in problem.parameters), []).append(e)
    shared = _Shared(problem, [e for each in at.values() for e in each])
    return tuple(
        MeasuredPoint(dict(each[0].params), tuple(each), {**told, **shared.at(each[0].params)})
        for each in at.values()
        if (told := _told(problem, each))
    )


class _Shared:
    """Outcomes that depend on some of the parameters only: told at one point, they are known at others."""

    def __init__(self, problem: Problem, evaluations: Collection[Evaluation]) -> None:
        every = tuple(problem.parameters)
        self._depends = {
            row: own for row in problem.rows if row not in problem.known and (own := problem.depends_on(row)) != every
        }
        groups: dict[tuple[str, tuple[Option, ...]], list[Evaluation]] = {}
        for e in evaluations if self._depends else ():
            for row, own in self._depends.items():
                groups.setdefault((row, tuple(e.params[name] for name in own)), []).append(e)
        self._told = {key: _told(problem, each) for key, each in groups.items()}

    def at(self, params: Mapping[str, Option]) -> dict[str, float]:
        """What is known of these outcomes at a point."""
        found = {}
        for row, own in self._depends.items():
            told = self._told.get((row, tuple(params[name] for name in own)), {})
            found |= {row: told[row]} if row in told else {}
        return found


def _told(problem: Problem, evaluations: Collection[Evaluation]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for e in evaluations:
        for name, value in told_by(e, problem).items():
            values.setdefault(name, []).append(value)
    return {name: sum(each) / len(each) for name, each in values.items()}


def options_without(problem: Problem, measured: Sequence[Mapping[str, Option]]) -> Iterator[tuple[str, Option]]:
    """The options that matter to the objective, and that none of these points has; none if the objective is known."""
    if problem.objective in problem.known:
        return
    for name in problem.depends_on(problem.objective):
        if isinstance(choice := problem.parameters[name], Choice):
            present = {params.get(name) for params in measured}
            yield from ((name, option) for option in choice.options if option not in present)
