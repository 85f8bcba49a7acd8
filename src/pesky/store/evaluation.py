"""One task at one point, with at most one result: the unit of memory."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pesky.markup import facts
from pesky.problem import Option, Problem
from pesky.problem.fields import FrozenDict
from pesky.problem.problem import SUCCEEDS
from pesky.text import one_line

MISTAKE = "pesky:mistake"
"""The attribute that says so of a failure."""
OPTUNA, AX = "optuna trial", "ax trial"
"""The attributes that say which trial an evaluation was: "study #4", or "trial 4, arm 4_1"."""


class State(StrEnum):
    """Where an evaluation stands."""

    QUEUED = "queued"
    """Enqueued: asked before anything else, by whoever asks next."""
    PENDING = "pending"
    """Asked by someone who will tell in their own time: no lease."""
    RUNNING = "running"
    """Being measured by a worker that renews its lease."""
    DONE = "done"
    """Every outcome of its task was told."""
    FAILED = "failed"
    """The measurement did not give what it should; `error` says why."""
    LOST = "lost"
    """Its last attempt ended without a word on the measurement, by whatever `cause`: it is free to be asked again."""
    ABANDONED = "abandoned"
    """Its user expects no further outcomes, without calling it a failure."""


class Cause(StrEnum):
    """What ended an attempt before there was a result; only a crash says something of what was measured."""

    RELEASED = "released"
    """Its worker let go of it: it was interrupted, or asked to end."""
    LOST = "lost"
    """Its worker fell silent: it was killed, or cut off."""
    CRASHED = "crashed"
    """The process that ran the function died under it, and whoever had started that process said so."""


@dataclass(frozen=True)
class Attempt:
    """An earlier attempt at an evaluation, which ended without a result."""

    worker: str | None
    began: float | None
    ended: float
    cause: Cause
    error: str


class Change(StrEnum):
    """What a user changed of an evaluation afterwards."""

    CORRECTED = "corrected"
    """A value that was told."""
    EXCLUDED = "excluded"
    """Nothing is learnt from it any more."""
    INCLUDED = "included"
    """It counts again."""


@dataclass(frozen=True)
class Correction:
    """One such change, with what was there before."""

    when: str
    """The time by the clock of the storage, as ISO 8601 in UTC."""
    change: Change
    outcome: str | None
    """The outcome that was corrected; None where the whole evaluation was excluded or included."""
    old: float | None
    new: float | None
    reason: str


@dataclass(frozen=True)
class Evaluation:
    """A question, measure this task's outcomes at these parameters, and what became of it.

    Times are seconds since 1970 by the clock of the storage.
    """

    id: int
    task: str
    params: Mapping[str, Option]
    gain: float | None = field(default=None, compare=False)
    """Expected information about the solution, in nats; None for the initial design and for your own data."""
    why: Mapping[str, object] | None = field(default=None, compare=False)
    """How the question was chosen, as a small JSON object, if whoever asked it said so."""
    price: float = field(default=1.0, compare=False)
    """What it was expected to cost when it was asked; 0 for your own data."""
    state: State = field(default=State.PENDING, compare=False)
    outcomes: Mapping[str, float] = field(default_factory=lambda: FrozenDict({}), compare=False)
    """What was told so far, as it was corrected since."""
    attributes: Mapping[str, object] = field(default_factory=lambda: FrozenDict({}), compare=False)
    """What else came with its results, as JSON has it: kept and shown, never learnt from."""
    error: str | None = field(default=None, compare=False)
    """Why it failed or was lost, if it did."""
    cause: Cause | None = field(default=None, compare=False)
    """What ended its last attempt, where that was neither a result nor a failure of the measurement."""
    attempts: int = field(default=1, compare=False)
    """How often it was handed out; 0 for your own data, and while it is queued."""
    crashes: int = field(default=0, compare=False)
    """How many of these attempts ended because the process that ran the function died."""
    losses: int = field(default=0, compare=False)
    """How many of them ended because their workers fell silent."""
    history: tuple[Attempt, ...] = field(default=(), compare=False)
    """The latest of the attempts that ended without a result."""
    is_excluded: bool = field(default=False, compare=False)
    """Whether nothing is to be learnt from it: it is kept, and counts as spent."""
    corrections: tuple[Correction, ...] = field(default=(), compare=False)
    """What was changed afterwards, with what was there before."""
    worker: str | None = field(default=None, compare=False)
    """Who measures it, or did so last."""
    asked: float = field(default=0.0, compare=False)
    """When it was first asked."""
    began: float | None = field(default=None, compare=False)
    """When its last attempt was handed out."""
    ended: float | None = field(default=None, compare=False)
    """When it became done, failed, lost or abandoned."""
    seconds: float | None = field(default=None, compare=False)
    """How long the measurement took, as its worker reports."""
    lease: float | None = field(default=None, compare=False)
    """For how many seconds it is its worker's, from each renewal; None without a lease."""
    expires: float | None = field(default=None, compare=False)
    """When its lease runs out; None without a lease."""
    revision: int = field(default=0, compare=False)
    """The study's revision at which it last changed."""
    study: str = field(default="", compare=False)
    """The identity of the study that asked it: a study started anew under the same name has another one."""

    @property
    def kind(self) -> str | None:
        """What was asked for, as its reasons say: "initial", "full" and so on; None of what was told."""
        kind = (self.why or {}).get("kind")
        return None if kind is None else str(kind)

    @property
    def trial(self) -> str | None:
        """What it is called in Optuna or Ax, if it is from there: "trial 4"."""
        if said := self.attributes.get(AX):
            return one_line(str(said))
        number = re.search(r"#(\d+)$", str(self.attributes.get(OPTUNA)))
        return number and f"trial {number[1]}"

    @property
    def named(self) -> str:
        """Its number, and the trial that it was if any: "#3 (trial 4)"."""
        return f"#{self.id}" if self.trial is None else f"#{self.id} ({self.trial})"

    @property
    def is_awaited(self) -> bool:
        """Whether a result may still come of itself: it is open, or queued or lost and thus to be handed out."""
        return self.is_open or self.state in (State.QUEUED, State.LOST)

    @property
    def is_open(self) -> bool:
        """Whether a result is expected: it is pending or running."""
        return self.state in (State.PENDING, State.RUNNING)

    @property
    def is_yours(self) -> bool:
        """Whether it is data of your own, which no budget counts."""
        return self.attempts == 0 and self.state in (State.DONE, State.FAILED)

    @property
    def is_mistake(self) -> bool:
        """Whether it failed since the program does not fit the problem, whatever the point: nothing is learnt then."""
        return self.state is State.FAILED and bool(self.attributes.get(MISTAKE))

    @property
    def is_given_up(self) -> bool:
        """Whether it failed only because its workers were lost too often, which says nothing of what was measured."""
        return self.state is State.FAILED and self.cause is Cause.LOST

    def _repr_html_(self) -> str:
        return facts(
            {
                self.named: self.task,
                "at": [f"{name} = {short(value)}" for name, value in self.params.items()],
                "state": self.state.value,
                "told": [f"{name} = {value:.6g}" for name, value in self.outcomes.items()],
                "expected gain": "" if self.gain is None else f"{self.gain:.3g} nats",
                "error": self.error or "",
            }
        )

    def __str__(self) -> str:
        values = ", ".join(f"{name}={short(value)}" for name, value in self.params.items())
        worth = "" if self.gain is None else f" (expected gain {self.gain:.3g} nats)"
        return f"{self.named} {self.task} at {values}{worth}"


def told_by(evaluation: Evaluation, problem: Problem) -> dict[str, float]:
    """Every outcome that an evaluation told, with the success of each task that learns it.

    Data of your own that have all outcomes of a task show that it succeeded.
    """
    e, told = evaluation, dict(evaluation.outcomes)
    has_ended = e.state in (State.DONE, State.FAILED) and not (e.is_given_up or e.is_mistake)
    for name, task in problem.tasks.items():
        if not task.learns_success or not has_ended:
            continue
        if name == e.task:
            told[SUCCEEDS.format(name)] = float(e.state is State.DONE)
        elif e.is_yours and e.outcomes.keys() >= set(task.outcomes):
            told[SUCCEEDS.format(name)] = 1.0
    return told


def listed(ids: Iterable[int], trials: Mapping[int, str]) -> str:
    """Evaluations as they are named in brackets, with the trials that they were: "#3, trial 4; #5, trial 6"."""
    each = [f"#{id_}, {trials[id_]}" if id_ in trials else f"#{id_}" for id_ in ids]
    return ("; " if trials else ", ").join(each)


def trials_of(evaluations: Iterable[Evaluation]) -> dict[int, str]:
    """Which trials they were, of those that were any."""
    return {e.id: e.trial for e in evaluations if e.trial is not None}


def short(value: Option) -> str:
    """A parameter's value for people to read, on one line that a terminal shows as it is."""
    return f"{value:.4g}" if isinstance(value, float) else one_line(str(value))
