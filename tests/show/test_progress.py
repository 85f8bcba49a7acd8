"""The numbers of progress are the study's own."""

from typing import Any

import pytest
from show.studies import NAMES, found, made

from pesky.errors import DataError
from pesky.run.best import best_measured
from pesky.show import Findings, progress
from pesky.show.progress import progress_of
from pesky.show.replay import ended


@pytest.mark.parametrize("name", NAMES)
def test_best_and_cost_are_those_of_what_had_ended(name: str):
    findings = Findings(made(name), moments=1)
    findings.__dict__["moments"] = []
    found, every = progress_of(findings), findings.ended
    for count, each in enumerate(found.ended, 1):
        assert each.best == best_measured(findings.problem, every[:count])
        assert each.cost == pytest.approx(sum(each.spent))
    if found.ended:
        spent = dict(zip(found.tasks, found.ended[-1].spent, strict=True))
        open_ = [e for e in findings.evaluations.values() if e not in every]
        assert sum(spent.values()) == pytest.approx(sum(made(name).spent().values()) - sum(e.price for e in open_))


def test_the_last_answer_is_todays_and_the_ones_before_rest_on_less():
    found_progress = progress_of(found("infeasible"))
    today = made("infeasible").recommend()
    last = found_progress.answers[-1]
    assert (last.expected, (last.low, last.high)) == (today.expected, today.interval)
    assert [each.count for each in found_progress.answers] == [1, 2, 3]
    assert not last.is_confident
    assert found_progress.feasible_since is None


def test_answers_of_before_are_those_of_a_study_that_was_told_no_more():
    first = found("infeasible").moments[0]
    assert len(first.known) == 1
    assert len(first.inferred.points) == 1


def test_it_says_since_when_something_is_feasible():
    since = progress_of(found("plain")).feasible_since
    every = found("plain").ended
    assert since is not None
    assert best_measured(made("plain").problem, every[: since.count]) is not None
    assert best_measured(made("plain").problem, every[: since.count - 1]) is None
    figure: Any = progress(found("plain"))
    (said,) = (each.text for each in figure.layout.annotations)
    assert said == f"#{since.evaluation}: the first that held every constraint as measured"
    assert since.evaluation == every[since.count - 1].id


def test_answers_hold_until_the_next_one_and_the_last_one_to_this_day():
    figure: Any = progress(found("infeasible"))
    band = next(trace for trace in figure.data if trace.name == "its 90 % interval")
    assert band.line.shape == "hv"
    assert list(band.x)[:3] == [1, 2, 3]
    assert band.x[3] > 3
    assert band.y[3] == band.y[2]


def test_the_best_as_measured_is_called_so_where_it_has_noise_and_says_whose_it_is():
    figure: Any = progress(found("mixed"))
    line = next(trace for trace in figure.data if trace.name == "best as measured")
    ids = [each.evaluation for each in progress_of(found("mixed")).ended if each.best is not None]
    assert [text.partition(" after ")[2] for text in line.hovertext if text] == [f"#{id_}" for id_ in ids]
    best = made("mixed").best()
    assert f"measured point: #{best.evaluations[0]}, " in figure.layout.title.text
    assert f" = {best.expected:.6g}" in figure.layout.title.text
    exact: Any = progress(found("infeasible"))  # declared to have none
    assert any(trace.name == "best measured" for trace in exact.data)


@pytest.mark.parametrize(("against", "title"), [("cost", "cost"), ("time", "hours since the first question")])
def test_it_is_drawn_against_cost_and_time(against, title):
    figure: Any = progress(found("mixed"), against)
    assert figure.layout.xaxis2.title.text == title
    line = next(trace for trace in figure.data if trace.name.startswith("best "))
    expected = [each.cost if against == "cost" else each.seconds / 3600 for each in progress_of(found("mixed")).ended]
    assert list(line.x) == pytest.approx(expected)


def test_another_axis_is_refused():
    with pytest.raises(DataError, match="'evaluations', 'cost', 'time'"):
        progress(found("plain"), "tries")  # pyright: ignore[reportArgumentType]


def test_evaluations_are_in_the_order_in_which_they_ended():
    every = ended(made("mixed").evaluations.values())
    assert sorted(every, key=lambda e: e.ended or 0) == every
    assert all(e.outcomes or e.error for e in every)
