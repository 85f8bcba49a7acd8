"""What becomes of an evaluation: one pure function for each event, which every store shares.

Each returns the evaluation as it is after the event, or the very same object where the event changes nothing. `now` is
the storage's clock. Revisions are the store's: it gives the next one to whatever came back changed.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import replace

from pesky.errors import DataError
from pesky.problem import Option
from pesky.problem.fields import Named
from pesky.store.contract import Limit, Question
from pesky.store.evaluation import Evaluation, State

EXPIRED = "its worker stopped renewing the lease"


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


def yours(id: int, task: str, params: Mapping[str, Option], outcomes: Mapping[str, float], now: float) -> Evaluation:
    """Data of the user's own."""
    return Evaluation(
        id=id,
        task=task,
        params=_plain(params),
        price=0.0,
        state=State.DONE,
        outcomes=Named(_facts(f"your own data of {task!r}", {}, outcomes)),
        attempts=0,
        asked=now,
        ended=now,
    )


def expired(evaluation: Evaluation, now: float) -> Evaluation:
    """Lost since its lease ran out, if it has one and that was before now."""
    if evaluation.expires is None or evaluation.expires > now:
        return evaluation
    return _ended(evaluation, State.LOST, evaluation.expires, EXPIRED)


def claimed(evaluation: Evaluation, now: float, attempts: int, worker: str | None, lease: float | None) -> Evaluation:
    """Handed out again if it was lost, or failed if it was handed out `attempts` times already."""
    if evaluation.state != State.LOST:
        return evaluation
    if evaluation.attempts >= attempts:
        times = "once" if evaluation.attempts == 1 else f"{evaluation.attempts} times"
        return _ended(evaluation, State.FAILED, now, f"lost {times}, and not tried again: {evaluation.error}")
    return _handed_out(evaluation, now, worker, lease)


def renewed(evaluation: Evaluation, now: float, worker: str, lease: float) -> Evaluation:
    """With its lease extended, if it is running and this worker's."""
    if evaluation.state != State.RUNNING or evaluation.worker != readable(worker):
        return evaluation
    return replace(evaluation, expires=now + lease)


def told(
    evaluation: Evaluation, now: float, outcomes: Mapping[str, float], expected: Collection[str], seconds: float | None
) -> Evaluation:
    """With these outcomes, done once it has all that are expected; a DataError if one was told otherwise before."""
    known = _facts(str(evaluation), evaluation.outcomes, outcomes)
    is_done = evaluation.state == State.DONE or all(outcome in known for outcome in expected)
    if len(known) == len(evaluation.outcomes) and is_done == (evaluation.state == State.DONE):
        return evaluation
    better = replace(evaluation, outcomes=Named(known), seconds=evaluation.seconds if seconds is None else seconds)
    return _ended(better, State.DONE, now, None) if is_done and evaluation.state != State.DONE else better


def failed(
    evaluation: Evaluation,
    now: float,
    error: str,
    attempt: int | None,
    seconds: float | None,
    outcomes: Mapping[str, float],
) -> Evaluation:
    """Failed, with what it measured nevertheless; unchanged if done, abandoned or since handed to someone else."""
    if evaluation.state in (State.DONE, State.ABANDONED) or attempt not in (None, evaluation.attempts):
        return evaluation
    known = _facts(str(evaluation), evaluation.outcomes, outcomes)
    is_old = evaluation.state == State.FAILED and evaluation.error == readable(error)
    if is_old and len(known) == len(evaluation.outcomes):
        return evaluation
    more = replace(evaluation, outcomes=Named(known), seconds=evaluation.seconds if seconds is None else seconds)
    return _ended(more, State.FAILED, now, error)


def released(evaluation: Evaluation, now: float, error: str, attempt: int | None) -> Evaluation:
    """Lost, if it was open and not since handed to someone else."""
    if not evaluation.is_open or attempt not in (None, evaluation.attempts):
        return evaluation
    return _ended(evaluation, State.LOST, now, error)


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


def readable(text: str) -> str:
    """The text without what PostgreSQL or UTF-8 cannot hold: NUL, and halves of surrogate pairs."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode("utf-8")


def _handed_out(evaluation: Evaluation, now: float, worker: str | None, lease: float | None) -> Evaluation:
    return replace(
        evaluation,
        state=State.PENDING if lease is None else State.RUNNING,
        error=None,
        attempts=evaluation.attempts + 1,
        worker=None if worker is None else readable(worker),
        began=now,
        ended=None,
        expires=None if lease is None else now + lease,
    )


def _ended(evaluation: Evaluation, state: State, when: float, error: str | None) -> Evaluation:
    said = None if error is None else readable(error)
    return replace(evaluation, state=state, error=said, ended=when, expires=None)


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


def _plain(params: Mapping[str, Option]) -> Named[Option]:
    """The parameters as what JSON can hold: numpy's scalars become Python's."""
    plain: dict[str, Option] = {}
    for key, given in params.items():
        value = given if isinstance(given, str | bool | int) else getattr(given, "item", lambda given=given: given)()
        if not isinstance(value, str | int | float) or (isinstance(value, float) and not math.isfinite(value)):
            raise DataError(f"the parameter {key!r} was {given!r}: expected a text, a finite number, True or False.")
        plain[key] = value
    return Named(plain)
