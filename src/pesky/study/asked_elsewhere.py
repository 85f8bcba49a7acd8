"""Measurements that others asked for, taken into a study while they are under way."""

from pesky.store import Datum, Evaluation, Limit, Question
from pesky.study.data import StudyData
from pesky.study.told import expected_of, told_values


def begin(study: StudyData, datum: Datum) -> Evaluation:
    """The evaluation, pending, that measures what a trial does; it costs nothing here."""
    question = Question(datum.task, datum.params, None, 0.0)
    asked = study.store.append(study.identity, question, known=None, limit=Limit(), worker=None, lease=None)
    assert isinstance(asked, Evaluation)
    return asked


def await_rest(study: StudyData, datum: Datum) -> None:
    """Keep a measurement that is under way, with what it told so far."""
    asked = begin(study, datum)
    if datum.outcomes:
        told, expected = told_values(study.problem, datum.outcomes), expected_of(study.problem, asked.task, {})
        study.store.tell(study.identity, asked.id, told, expected, None, attributes=datum.attributes)
