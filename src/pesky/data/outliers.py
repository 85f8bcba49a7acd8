"""Values that all others contradict: which they are, and what their user is told of them."""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from pesky.problem.fields import FrozenDict
from pesky.store import Evaluation

log = logging.getLogger("pesky")

Place = tuple[int, str]
"""A value, by its evaluation and its outcome."""


@dataclass(frozen=True)
class Outlier:
    """A value that does not fit the others of its outcome, and is left out of their model."""

    evaluation: int
    """Its number."""
    outcome: str
    value: float
    expected: float
    """What the others say of a measurement there."""
    deviation: float
    others: int
    """How many they are."""

    def __str__(self) -> str:
        return (
            f"evaluation #{self.evaluation}: {self.outcome} = {self.value:.6g} does not fit the other {self.others} "
            f"values (expected {self.expected:.4g} ± {self.deviation:.2g}): "
            f"it is left out of the model of {self.outcome}"
        )

    @property
    def advice(self) -> str:
        """What can be done about it."""
        correct = f"study.correct({self.evaluation}, {{{self.outcome!r}: ...}})"
        exclude = f"study.exclude({self.evaluation})"
        return (
            f"If it is wrong, correct it with `{correct}` or exclude it with `{exclude}`; if it is right, measure "
            "there again: two that agree are believed. `pesky.GP(outliers=False)` trusts every value."
        )


def trusted(evaluations: Mapping[int, Evaluation], left_out: Collection[Place]) -> Mapping[int, Evaluation]:
    """The evaluations without these values; the very same where there are none."""
    if not left_out:
        return evaluations
    found = dict(evaluations)
    for id_, outcome in left_out:
        kept = {name: value for name, value in found[id_].outcomes.items() if name != outcome}
        found[id_] = replace(found[id_], outcomes=FrozenDict(kept))
    return found


def as_reasons(outliers: Sequence[Outlier]) -> dict[str, object]:
    """What is kept of them with a question, as JSON has it; nothing where there are none."""
    return {"left_out": [asdict(each) for each in outliers]} if outliers else {}


def as_of_last_question(evaluations: Collection[Evaluation]) -> tuple[Outlier, ...]:
    """The values that were left out when the last question was asked, if they are still as they were."""
    by_id = {e.id: e for e in evaluations}
    asked = [e for e in evaluations if e.why is not None]
    why = max(asked, key=lambda e: e.id).why if asked else None
    kept: Any = (why or {}).get("left_out", ())
    found = (Outlier(**each) for each in kept)
    return tuple(
        each
        for each in found
        if (e := by_id.get(each.evaluation)) and not e.is_excluded and e.outcomes.get(each.outcome) == each.value
    )


class Announcer:
    """Says every outlier once, in the log "pesky"."""

    def __init__(self, *, is_silent: bool = False) -> None:
        self._is_silent = is_silent
        self._said: set[tuple[int, str, float]] = set()

    def say(self, outliers: Collection[Outlier]) -> None:
        """A warning for each that was not said yet."""
        for each in () if self._is_silent else outliers:
            key = each.evaluation, each.outcome, each.value
            if key not in self._said:
                self._said.add(key)
                log.warning("%s. %s", each, each.advice)
