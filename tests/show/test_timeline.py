"""Every attempt has a bar, on what it ran, for as long as it took."""

import pytest
from show.studies import found

from pesky import Problem, Real, Study
from pesky.show import Findings, timeline
from pesky.show.timeline import bars_of


def test_bars_are_on_their_resources_and_last_as_long_as_the_measurement():
    bars = bars_of(found("mixed"))
    assert {bar.row for bar in bars} == {"gpu", "cpu"}
    assert {bar.row for bar in bars if bar.task == "train"} == {"gpu"}
    assert [bar.kind for bar in bars].count("failed") == 1
    done = [bar.ended - bar.began for bar in bars_of(found("plain")) if bar.kind == "done"]
    assert len(done) == 4
    assert max(done) <= 0.5 + 1e-6


def test_attempts_that_were_let_go_or_failed_are_seen():
    bars = bars_of(found("apart"))
    assert sorted(bar.kind for bar in bars) == ["failed", "released", *["your data"] * 6]
    figure = timeline(found("apart"))
    assert {trace.name for trace in figure.data} == {"failed", "released", "your data"}
    shown = " ".join(text for trace in figure.data for text in trace.hovertext)
    assert "the bench is broken" in shown


def test_what_ran_at_once_is_in_lanes_of_its_own():
    study = Study(Problem({"x": Real(0, 1)}, minimize="f"))
    first, second = study.ask(worker="a"), study.ask(worker="a")
    study.tell(first, {"f": 1.0})
    study.tell(second, {"f": 1.0})
    third = study.ask(worker="a")
    bars = {bar.evaluation: bar for bar in bars_of(Findings(study))}
    assert {bars[first.id].lane, bars[second.id].lane} == {0, 1}
    assert bars[third.id].lane == 0
    assert bars[third.id].kind == "pending"
    assert [bar.ended >= bar.began >= 0 for bar in bars.values()] == [True] * 3


@pytest.mark.parametrize(("workers", "rows"), [(["a", "b"], {"a", "b"}), (["a", "a"], {"all"})])
def test_several_workers_have_a_row_each(workers, rows):
    study = Study(Problem({"x": Real(0, 1)}, minimize="f"))
    for worker in workers:
        study.tell(study.ask(worker=worker), {"f": 1.0})
    assert {bar.row for bar in bars_of(Findings(study))} == rows
