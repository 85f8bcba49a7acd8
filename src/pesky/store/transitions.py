"""What becomes of an evaluation: one pure function for each event, which every store shares.

Each returns the evaluation as it is after the event, or the very same object where the event changes nothing. `now` is
the storage's clock. Revisions are the store's: it gives the next one to whatever came back changed.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import replace

from pesky.errors import DataError
from pesky.problem import Option
from pesky.problem.fields import FrozenDict, number
from pesky.store.contract import Limit, Question
from pesky.store.evaluation import Attempt, Cause, Evaluation, State
from pesky.text import NAME, harmless

EXPIRED = "its worker stopped renewing the lease"
HISTORY = 20
"""Attempts without a result that are remembered, the latest ones: work may be lost any number of times."""
SET_BACK = 1.0
"""Seconds by which a lease may seem to end later than it can before the clock counts as set back."""


def asked(id: int, question: Question, now: float, worker: str | None, lease: float | None) -> Evaluation:
    """A new evaluation, handed out for the first time."""
    evaluation = Evaluation(
        id=id,
        task=question.task,
        params=_plain(question.params),
        gain=None if question.gain is None else float(question.gain),
        price=float(question.price),
        attempts=0,
        asked=now,
    )
    return _handed_out(evaluation, now, worker, lease)


def added(id: int, task: str, params: Mapping[str, Option], outcomes: Mapping[str, float], now: float) -> Evaluation:
    """Data of the user's own."""
    return Evaluation(
        id=id,
        task=task,
        params=_plain(params),
        price=0.0,
        state=State.DONE,
        outcomes=FrozenDict(_facts(f"your own data of {task!r}", {}, outcomes)),
        attempts=0,
        asked=now,
        ended=now,
    )


def expired(evaluation: Evaluation, now: float) -> Evaluation:
    """Lost since its lease ran out, if it has one and that was before now.

    A lease that ends later than it can is of a clock that was set back since: it is counted from now.
    """
    if evaluation.expires is None:
        return evaluation
    if evaluation.expires <= now:
        return _freed(evaluation, evaluation.expires, Cause.LOST, EXPIRED)
    if evaluation.lease is not None and evaluation.expires > now + evaluation.lease + SET_BACK:
        return replace(evaluation, expires=now + evaluation.lease)
    return evaluation


def claimed(
    evaluation: Evaluation, now: float, losses: int | None, worker: str | None, lease: float | None
) -> Evaluation:
    """Handed out again if it is free, or failed if its workers were lost `losses` times already."""
    if evaluation.state != State.LOST:
        return evaluation
    if losses is not None and evaluation.losses >= losses:
        why = f"lost {_times(evaluation.losses)}, and not tried again: {evaluation.error}"
        return replace(_ended(evaluation, State.FAILED, now, why), cause=Cause.LOST)
    return _handed_out(evaluation, now, worker, lease)


def renewed(evaluation: Evaluation, now: float, attempt: int, lease: float) -> Evaluation:
    """With its lease extended, if this attempt is the present one and runs.

    Also if it was lost only because the lease ran out, and nobody took over since: its worker is back.
    """
    if evaluation.attempts != attempt:
        return evaluation
    lease = _seconds("the lease", lease)
    if evaluation.state == State.RUNNING:
        return replace(evaluation, lease=lease, expires=now + lease)
    if evaluation.state != State.LOST or evaluation.cause != Cause.LOST:
        return evaluation
    return replace(
        evaluation,
        state=State.RUNNING,
        error=None,
        cause=None,
        ended=None,
        lease=lease,
        expires=now + lease,
        losses=evaluation.losses - 1,
        history=evaluation.history[:-1],
    )


def told(
    evaluation: Evaluation,
    now: float,
    outcomes: Mapping[str, float],
    expected: Collection[str],
    seconds: float | None,
    attempt: int | None,
) -> Evaluation:
    """With these outcomes, done once it has all that are expected; a DataError if one was told otherwise before.

    They may be of any attempt that there was, since all are at the same point.
    """
    if attempt is not None and not 0 <= attempt <= evaluation.attempts:
        raise DataError(
            f"{evaluation}: the result was of attempt {attempt}, and it was handed out {_times(evaluation.attempts)}: "
            "expected a result of what was asked here; add it as data of your own if it belongs to the study."
        )
    known = _facts(str(evaluation), evaluation.outcomes, outcomes)
    is_done = evaluation.state == State.DONE or all(outcome in known for outcome in expected)
    if len(known) == len(evaluation.outcomes) and is_done == (evaluation.state == State.DONE):
        return evaluation
    better = replace(evaluation, outcomes=FrozenDict(known), seconds=_duration(evaluation, seconds))
    if not is_done or evaluation.state == State.DONE:
        return better
    return replace(_ended(better, State.DONE, now, None), cause=None)


def failed(
    evaluation: Evaluation,
    now: float,
    error: str,
    attempt: int | None,
    seconds: float | None,
    outcomes: Mapping[str, float],
) -> Evaluation:
    """Failed, with what it measured nevertheless; unchanged if done, abandoned or since handed to someone else."""
    if evaluation.state in (State.DONE, State.ABANDONED) or attempt not in (
        None,
        evaluation.attempts,
    ):
        return evaluation
    known = _facts(str(evaluation), evaluation.outcomes, outcomes)
    is_old = evaluation.state == State.FAILED and evaluation.error == harmless(error)
    if is_old and len(known) == len(evaluation.outcomes):
        return evaluation
    more = replace(evaluation, outcomes=FrozenDict(known), seconds=_duration(evaluation, seconds), cause=None)
    return _ended(more, State.FAILED, now, error)


def released(evaluation: Evaluation, now: float, error: str, attempt: int | None) -> Evaluation:
    """Free to be asked again, if it was open and not since handed to someone else."""
    if not evaluation.is_open or attempt not in (None, evaluation.attempts):
        return evaluation
    return _freed(evaluation, now, Cause.RELEASED, error)


def crashed(evaluation: Evaluation, now: float, error: str, attempt: int, attempts: int) -> Evaluation:
    """Free to be asked again, or failed if the function's process has died under so many attempts.

    Only of the present attempt, which runs or was lost just before.
    """
    is_lost = evaluation.state == State.LOST and evaluation.cause == Cause.LOST
    if not (evaluation.is_open or is_lost) or attempt != evaluation.attempts:
        return evaluation
    if is_lost:  # what is known now is the better reason
        evaluation = replace(evaluation, losses=evaluation.losses - 1, history=evaluation.history[:-1])
    free = _freed(evaluation, now, Cause.CRASHED, error)
    if free.crashes < attempts:
        return free
    how = "" if free.crashes == 1 else f"crashed {_times(free.crashes)}, and not tried again: "
    return replace(_ended(free, State.FAILED, now, how + error), cause=Cause.CRASHED)


def abandoned(evaluation: Evaluation, now: float) -> Evaluation:
    """Abandoned, if it was open, lost or failed."""
    if evaluation.state in (State.DONE, State.ABANDONED):
        return evaluation
    return _ended(evaluation, State.ABANDONED, now, evaluation.error)


def counts(evaluation: Evaluation) -> bool:
    """Whether a limit counts it: not the user's own data, nor what was abandoned without an outcome."""
    return not evaluation.is_yours and (evaluation.state != State.ABANDONED or len(evaluation.outcomes) > 0)


def is_beyond(limit: Limit, evaluations: int, cost: float, price: float) -> bool:
    """Whether one more evaluation at this price would exceed the limit, after so many that cost so much."""
    if limit.evaluations is not None and evaluations + 1 > limit.evaluations:
        return True
    # three prices of 0.1 add up to a little more than 0.3 in floating point, and are meant to fit
    return limit.cost is not None and cost + price > limit.cost + 1e-9 * abs(limit.cost)


def _handed_out(evaluation: Evaluation, now: float, worker: str | None, lease: float | None) -> Evaluation:
    seconds = None if lease is None else _seconds("the lease", lease)
    return replace(
        evaluation,
        state=State.PENDING if seconds is None else State.RUNNING,
        error=None,
        cause=None,
        attempts=evaluation.attempts + 1,
        worker=None if worker is None else harmless(worker, NAME),
        began=now,
        ended=None,
        lease=seconds,
        expires=None if seconds is None else now + seconds,
    )


def _freed(evaluation: Evaluation, when: float, cause: Cause, error: str) -> Evaluation:
    """Lost by this cause, with the attempt remembered."""
    free = replace(_ended(evaluation, State.LOST, when, error), cause=cause)
    attempt = Attempt(evaluation.worker, evaluation.began, when, cause, str(free.error))
    return replace(
        free,
        crashes=evaluation.crashes + (cause == Cause.CRASHED),
        losses=evaluation.losses + (cause == Cause.LOST),
        history=(*evaluation.history, attempt)[-HISTORY:],
    )


def _ended(evaluation: Evaluation, state: State, when: float, error: str | None) -> Evaluation:
    said = None if error is None else harmless(error)
    return replace(evaluation, state=state, error=said, ended=when, lease=None, expires=None)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _duration(evaluation: Evaluation, seconds: float | None) -> float | None:
    """How long the measurement took: what is said now, or else what was said before."""
    return evaluation.seconds if seconds is None else _seconds("how long it took", seconds)


def _seconds(what: str, given: float) -> float:
    value = number(given)
    if not 0 <= value < math.inf:
        raise DataError(f"{what} was {given!r}: expected a finite number of seconds, 0 or above.")
    return value


def _facts(what: str, known: Mapping[str, float], outcomes: Mapping[str, float]) -> dict[str, float]:
    """What was told before and is told now."""
    facts = dict(known)
    for outcome, given in outcomes.items():
        value = float(given)
        if not math.isfinite(value):
            raise DataError(f"{what}: {outcome} was {given!r}: expected a finite number: say that it failed instead.")
        if facts.setdefault(outcome, value) != value:
            raise DataError(
                f"{what}: {outcome} was told as {facts[outcome]!r} before and as {value!r} now: expected one value. "
                "Add a second measurement as an evaluation of its own."
            )
    return facts


def _plain(params: Mapping[str, Option]) -> FrozenDict[Option]:
    """The parameters as what JSON can hold: numpy's scalars become Python's."""
    plain: dict[str, Option] = {}
    for key, given in params.items():
        value = given if isinstance(given, str | bool | int) else getattr(given, "item", lambda given=given: given)()
        if not isinstance(value, str | int | float) or (isinstance(value, float) and not math.isfinite(value)):
            raise DataError(f"the parameter {key!r} was {given!r}: expected a text, a finite number, True or False.")
        plain[key] = value
    return FrozenDict(plain)
