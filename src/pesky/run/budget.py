"""When to stop: evaluations, cost, time, nothing left that is worth its price, or nothing left at all."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pesky.errors import PeskyError, ProblemError
from pesky.problem.fields import finite, whole
from pesky.store import Evaluation, Limit, State
from pesky.wording import counted

Kind = Literal["budget", "seconds", "gain", "space", "failures", "interrupted"]
"""What ends a run; "space": every point of a finite one was measured, and without noise a repeat tells nothing;
"failures": the first evaluations all failed in the same way."""


@dataclass(frozen=True)
class Budget:
    """What a study may spend; whichever is reached first ends a run, and None is unlimited.

    Evaluations and cost count the whole study, so that one that was interrupted goes on to the same total; seconds
    count this run. `gain_per_cost` ends it once no question is expected to tell so many nats for each unit of cost.

    The last of it is kept to measure the point that is going to be recommended, so that a run ends with an answer that
    was measured: enough for `confirm` points. If not given, for 3 of them or a tenth of the budget, whichever is less,
    but for one at the least, unless that takes more than a fifth; 0 keeps nothing.
    """

    evaluations: int | None = None
    cost: float | None = None
    seconds: float | None = None
    gain_per_cost: float | None = None
    confirm: int | None = None

    def __post_init__(self) -> None:
        if self.evaluations is not None:
            object.__setattr__(self, "evaluations", whole("budget: evaluations", self.evaluations, 1))
        for what in ("cost", "seconds", "gain_per_cost"):
            if (given := getattr(self, what)) is not None:
                value = finite(f"budget: {what}", given)
                if value <= 0:
                    raise ProblemError(f"budget: {what} was {given!r}: expected a number above 0.")
                object.__setattr__(self, what, value)
        if self.confirm is not None:
            object.__setattr__(self, "confirm", whole("budget: confirm", self.confirm, 0))
        if (self.evaluations, self.cost, self.seconds, self.gain_per_cost) == (None,) * 4:
            raise ProblemError(
                "the budget was empty: expected at least one of evaluations, cost, seconds and gain_per_cost, "
                "or the run would never end."
            )

    @classmethod
    def of(cls, given: "float | Budget") -> "Budget":
        """The budget, if it is one; a bare number is a total cost."""
        return given if isinstance(given, Budget) else cls(cost=given)

    @property
    def limit(self) -> Limit:
        """The part that the storage keeps, whoever asks."""
        return Limit(self.evaluations, self.cost)


class Exhausted(PeskyError):
    """There is nothing more to ask: within the limit that was given, or at all."""

    def __init__(self, kind: Kind, reason: str) -> None:
        super().__init__(reason)
        self.kind: Kind = kind


@dataclass(frozen=True)
class Ending:
    """How a run ended."""

    kind: Kind
    reason: str
    evaluations: int
    """How many evaluations of the study are done, over all runs."""
    failed: int
    """How many have failed."""
    error: str | None = None
    """Why the last of those failed."""
    is_storage_away: bool = False
    """Whether the storage did not answer at the end: the counts are those that were seen last."""

    def __str__(self) -> str:
        failed = f", {self.failed} failed, the last with {self.error}" if self.failed else ""
        return f"{self.reason} ({counted(self.evaluations)} done{failed})"


def ending_of(kind: Kind, reason: str, evaluations: Iterable[Evaluation], is_storage_away: bool) -> Ending:
    """How a run ended that left these evaluations; data of the user's own do not count."""
    own = [e for e in evaluations if not e.is_yours]
    failed = sorted((e for e in own if e.state is State.FAILED), key=lambda e: e.ended or 0.0)
    error = (failed[-1].error or "").partition("\n")[0] if failed else None
    return Ending(kind, reason, sum(e.state is State.DONE for e in own), len(failed), error, is_storage_away)
