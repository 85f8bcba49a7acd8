"""Measurements that others asked for, taken into a study: those that are under way, and those that failed."""

from functools import partial

from pesky.store import Datum, Evaluation, Limit, Question
from pesky.study.data import StudyData


def begin(study: StudyData, datum: Datum) -> Evaluation:
    """The evaluation, pending, that measures what a trial does; it costs nothing here."""
    question = Question(datum.task, datum.params, None, 0.0)
    asked = study.store.append(study.identity, question, known=None, limit=Limit(), worker=None, lease=None)
    assert isinstance(asked, Evaluation)
    return asked


def fail(study: StudyData, datum: Datum, why: str) -> None:
    """Keep a measurement that failed, with what it told nevertheless."""
    e = begin(study, datum)
    keep = partial(study.store.fail, outcomes=datum.outcomes, attributes=datum.attributes)
    keep(study.identity, e.id, why, attempt=None, seconds=None)
