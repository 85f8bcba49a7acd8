"""What becomes of an evaluation: one pure function for each event, which every store shares.

Each returns the evaluation as it is after the event, or the very same object where the event changes nothing. `now` is
the storage's clock. Revisions are the store's: it gives the next one to whatever came back changed.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from pesky.errors import DataError
from pesky.problem import Option
from pesky.problem.fields import FrozenDict, number
from pesky.store.attributes import as_json
from pesky.store.contract import NOTHING, Datum, Limit, Question
from pesky.store.evaluation import Attempt, Cause, Change, Correction, Evaluation, State
from pesky.store.reasons import reasons
from pesky.text import NAME, harmless

EXPIRED = "its worker stopped renewing the lease"
HISTORY = 20
"""Attempts without a result that are remembered, the latest ones: work may be lost any number of times."""
SET_BACK = 1.0
"""Seconds by which a lease may seem to end later than it can before the clock counts as set back."""


def queued(id: int, question: Question, now: float) -> Evaluation:
    """A new evaluation that nobody has been handed yet."""
    return Evaluation(
        id=id,
        task=question.task,
        params=_plain(question.params),
        gain=None if question.gain is None else float(question.gain),
        price=float(question.price),
        why=None if question.why is None else reasons(question.why),
        state=State.QUEUED,
        attempts=0,
        asked=now,
    )


def asked(id: int, question: Question, now: float, worker: str | None, lease: float | None) -> Evaluation:
    """A new evaluation, handed out for the first time."""
    return _handed_out(queued(id, question, now), now, worker, lease)


def added(id: int, datum: Datum, now: float) -> Evaluation:
    """Data of the user's own."""
    return Evaluation(
        id=id,
        task=datum.task,
        params=_plain(datum.params),
        price=0.0,
        state=State.DONE if datum.error is None else State.FAILED,
        error=None if datum.error is None else harmless(datum.error),
        outcomes=FrozenDict(_facts(f"your own data of {datum.task!r}", {}, datum.outcomes)),
        attributes=as_json(datum.attributes),
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
    if evaluation.state not in (State.QUEUED, State.LOST):
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
    attributes: Mapping[str, object] = NOTHING,
) -> Evaluation:
    """With these outcomes, done once it has all that are expected; a DataError if one was told otherwise before.

    They may be of any attempt that there was, since all are at the same point.
    """
    if attempt is not None and not 0 <= attempt <= evaluation.attempts:
        raise DataError(
            f"{evaluation}: the result was of attempt {attempt}, and it was handed out {_times(evaluation.attempts)}: "
            "expected a result of what was asked here; add it as data of your own if it belongs to the study."
        )
    known, noted = (
        _facts(str(evaluation), evaluation.outcomes, outcomes, _old(evaluation)),
        _noted(evaluation, attributes),
    )
    is_done = evaluation.state == State.DONE or all(outcome in known for outcome in expected)
    is_news = len(known) > len(evaluation.outcomes) or noted is not evaluation.attributes
    if not is_news and is_done == (evaluation.state == State.DONE):
        return evaluation
    better = replace(evaluation, outcomes=FrozenDict(known), attributes=noted, seconds=_duration(evaluation, seconds))
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
    attributes: Mapping[str, object] = NOTHING,
) -> Evaluation:
    """Failed, with what it measured nevertheless; unchanged if done, abandoned or since handed to someone else."""
    if evaluation.state in (State.DONE, State.ABANDONED) or attempt not in (
        None,
        evaluation.attempts,
    ):
        return evaluation
    known, noted = (
        _facts(str(evaluation), evaluation.outcomes, outcomes, _old(evaluation)),
        _noted(evaluation, attributes),
    )
    is_old = evaluation.state == State.FAILED and evaluation.error == harmless(error)
    if is_old and len(known) == len(evaluation.outcomes) and noted is evaluation.attributes:
        return evaluation
    seconds = _duration(evaluation, seconds)
    more = replace(evaluation, outcomes=FrozenDict(known), attributes=noted, seconds=seconds, cause=None)
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
    """Abandoned, if it was queued, open, lost or failed."""
    if evaluation.state in (State.DONE, State.ABANDONED):
        return evaluation
    return _ended(evaluation, State.ABANDONED, now, evaluation.error)


def corrected(evaluation: Evaluation, now: float, outcomes: Mapping[str, float], reason: str) -> Evaluation:
    """With these values in place of those that were told; a DataError if one was not, or the value is none."""
    for outcome in outcomes:
        if outcome not in evaluation.outcomes:
            raise DataError(
                f"{evaluation}: {outcome} was not told yet, so there is nothing to correct: tell it, or correct one of "
                f"{', '.join(map(repr, evaluation.outcomes)) or 'those that are told'}."
            )
    values = _facts(str(evaluation), {}, outcomes)
    changed = {outcome: value for outcome, value in values.items() if value != evaluation.outcomes[outcome]}
    if not changed:
        return evaluation
    made = [
        Correction(_iso(now), Change.CORRECTED, outcome, evaluation.outcomes[outcome], value, harmless(reason))
        for outcome, value in changed.items()
    ]
    return replace(
        evaluation,
        outcomes=FrozenDict({**evaluation.outcomes, **changed}),
        corrections=(*evaluation.corrections, *made),
    )


def excluded(evaluation: Evaluation, now: float, reason: str) -> Evaluation:
    """Excluded, if it was not."""
    return evaluation if evaluation.is_excluded else _weighed(evaluation, now, Change.EXCLUDED, reason)


def included(evaluation: Evaluation, now: float, reason: str) -> Evaluation:
    """Not excluded any more, if it was."""
    return _weighed(evaluation, now, Change.INCLUDED, reason) if evaluation.is_excluded else evaluation


def _weighed(evaluation: Evaluation, now: float, change: Change, reason: str) -> Evaluation:
    made = Correction(_iso(now), change, None, None, None, harmless(reason))
    return replace(evaluation, is_excluded=change is Change.EXCLUDED, corrections=(*evaluation.corrections, made))


def _iso(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds")


def counts(evaluation: Evaluation) -> bool:
    """Whether a limit counts it: not the user's own data, what is queued, nor what was abandoned without an outcome."""
    return evaluation.attempts > 0 and (evaluation.state != State.ABANDONED or len(evaluation.outcomes) > 0)


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


def _old(evaluation: Evaluation) -> set[tuple[str | None, float | None]]:
    """The values that were told and corrected since."""
    return {(each.outcome, each.old) for each in evaluation.corrections}


def _noted(evaluation: Evaluation, attributes: Mapping[str, object]) -> Mapping[str, object]:
    """The attributes with these among them; the very same where they are there already."""
    new = as_json({**evaluation.attributes, **attributes}) if attributes else evaluation.attributes
    return evaluation.attributes if new == evaluation.attributes else new


def _facts(
    what: str,
    known: Mapping[str, float],
    outcomes: Mapping[str, float],
    corrected: Collection[tuple[str | None, float | None]] = (),
) -> dict[str, float]:
    """What was told before and is told now, but for values that were corrected since."""
    facts = dict(known)
    for outcome, given in outcomes.items():
        value = float(given)
        if not math.isfinite(value):
            raise DataError(f"{what}: {outcome} was {given!r}: expected a finite number: say that it failed instead.")
        if facts.setdefault(outcome, value) != value and (outcome, value) not in corrected:
            raise DataError(
                f"{what}: {outcome} was told as {facts[outcome]!r} before and as {value!r} now: expected one value. "
                "Add a second measurement as an evaluation of its own, or correct the first one."
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
