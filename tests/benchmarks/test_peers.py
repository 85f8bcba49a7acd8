"""The contest with others: that it runs, what it judges, and that it goes on where it was interrupted."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from benchmarks.peers import PEERS
from benchmarks.peers.__main__ import list_entries, main, parse
from benchmarks.peers.base import Measured, Question, best_measured
from benchmarks.peers.contest import contest, initial_count, initial_points
from benchmarks.peers.judge import judge, scale_of
from benchmarks.peers.results import Entry, append_result, read_results
from pesky import Choice, Integer, Problem, Real, Study
from pesky.strategy import Initial
from pesky.test_functions import PROBLEMS, decouple, gardner2, toy


def test_the_best_measured_point_held_every_constraint_as_measured():
    problem = Problem({"x": Real(0, 1)}, maximize="f", constraints=["c <= 1"])
    points = [Measured({"x": x}, {"f": f, "c": c}) for x, f, c in ((0.1, 1.0, 0.5), (0.2, 2.0, 0.9), (0.3, 3.0, 1.1))]
    assert best_measured(problem, points) == points[1]
    assert best_measured(problem, points[2:]) is None


def test_a_point_measured_one_outcome_after_the_other_is_measured():
    problem = Problem({"x": Real(0, 1)}, minimize="f", constraints=["c <= 1"])
    parts = [Measured({"x": 0.1}, {"f": 1.0}), Measured({"x": 0.2}, {"f": 0.0}), Measured({"x": 0.1}, {"c": 0.5})]
    assert best_measured(problem, parts) == Measured({"x": 0.1}, {"f": 1.0, "c": 0.5})


def test_all_start_from_the_points_of_a_study_and_are_judged_by_the_truth():
    assert initial_count(toy().problem) == Initial().points
    random, tpe = (contest(Entry("toy", peer, 3, 6, 4)) for peer in ("random", "optuna-tpe"))
    assert (random.error, tpe.error) == ("", "")
    assert [point.params for point in random.points[:4]] == initial_points(toy().problem, 3, 4)
    assert random.points[:4] == tpe.points[:4]
    assert random.points[4:] != tpe.points[4:]
    assert len(random.seconds) == 2
    gaps = [toy().utility_gap(point.params) for point in tpe.points]
    assert tpe.measured[6] == pytest.approx(min(gaps), abs=1e-9)
    assert tpe.answers[6] == tpe.measured[6]
    assert tpe.scale == scale_of(toy()) == pytest.approx(0.599788052)


def test_ax_asks_and_answers():
    pytest.importorskip("ax")
    result = contest(Entry("toy", "ax", 0, 5, 3))
    assert result.error == ""
    assert len(result.points) == 5
    assert result.answers[5] == pytest.approx(result.measured[5])


def test_the_common_judge_recommends_from_the_same_points():
    result = judge(contest(Entry("toy", "optuna-tpe", 1, 5, 3)))
    study = Study(toy().problem, seed=1)
    for point in result.points:
        study.add(point.params, point.values)
    assert result.common[5] == toy().utility_gap(dict(study.recommend().params))


def test_outcomes_measured_separately_cost_their_share(monkeypatch):
    benchmark = decouple(gardner2())
    monkeypatch.setattr("benchmarks.peers.contest.problem_by_name", lambda name, seed: benchmark)
    ours, other = (contest(Entry("gardner2", peer, 0, 5, 3)) for peer in ("random", "optuna-tpe"))
    assert (ours.error, other.error) == ("", "")
    assert (len(ours.points), len(other.points)) == (7, 5)
    assert [len(point.values) for point in ours.points] == [2, 2, 2, 1, 1, 1, 1]
    assert ours.points[-1].spent == other.points[-1].spent == 5


@pytest.mark.parametrize(("tasks", "last"), [
    (["constraint", "objective"], 4.0),
    (["constraint", "constraint", "objective"], 3 + 2 / 11),  # of the objective the last tenth would be too much
])  # fmt: skip
def test_no_answer_rests_on_more_than_was_to_be_spent(monkeypatch, tasks, last):
    rest = [Question({"x": 0.5, "y": 0.5}, task) for task in tasks]
    peer = SimpleNamespace(ask=lambda: rest.pop(0), tell=lambda *_: None, answer=lambda: None)
    monkeypatch.setitem(PEERS, "scripted", lambda *_: peer)
    result = contest(Entry("gardner2-costs", "scripted", 0, 4, 3))
    assert result.error == ""
    assert result.points[-1].spent == pytest.approx(last)
    assert result.answers.keys() == {4}
    assert rest == []


def test_one_that_raises_ends_alone():
    result = contest(Entry("nowhere", "random", 0, 4, 3))
    assert "nowhere" in result.error


def test_the_command_prints_tables_and_goes_on_from_its_file(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("benchmarks.peers.__main__.judge", lambda result: replace(result, common=result.answers))
    file = tmp_path / "runs.jsonl"
    given = ["--problems", "toy", "--evaluations", "4", "--workers", "1", "--file", str(file)]
    assert main([*given, "--peers", "optuna-tpe", "--seeds", "1"]) == 0
    first = file.read_text()
    figure = tmp_path / "ranks.png"
    assert main([*given, "--peers", "optuna-tpe,optuna-gp", "--seeds", "2", "--figure", str(figure)]) == 0
    assert file.read_text().startswith(first)
    assert len(read_results(file)) == 4
    assert figure.stat().st_size > 10_000
    printed = capsys.readouterr().out
    assert "optuna-tpe (2)" in printed
    assert "All problems" in printed


def test_what_is_judged_again_takes_the_place_of_what_was_judged(tmp_path):
    file = tmp_path / "runs.jsonl"
    result = contest(Entry("toy", "optuna-tpe", 0, 4, 3))
    append_result(file, result)
    result.common = {4: 7.0}
    append_result(file, result)
    (kept,) = read_results(file).values()
    assert kept == result
    given = ["--problems", "toy", "--peers", "optuna-tpe", "--evaluations", "4", "--seeds", "1", "--file", str(file)]
    assert main([*given, "--workers", "1"]) == 0
    (kept,) = read_results(file).values()
    assert kept.common == {4: 7.0}
    assert main([*given, "--workers", "1", "--judge-again"]) == 0
    (kept,) = read_results(file).values()
    assert kept.common[4] < 2


def test_a_file_of_before_is_read(tmp_path):
    file = tmp_path / "runs.jsonl"
    result = contest(Entry("toy", "optuna-tpe", 0, 4, 3))
    append_result(file, result)
    line = json.loads(file.read_text())
    del line["common"], line["scale"], line["entry"]["initial"]
    for point in line["points"]:
        del point["spent"]
    file.write_text(json.dumps(line) + "\n")
    (read,) = read_results(file).values()
    assert read == replace(result, scale=0.0)
    assert [point.spent for point in read.points] == [1, 2, 3, 4]


def test_an_unknown_peer_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["--peers", "nobody"])
    assert "unknown peers nobody" in capsys.readouterr().err


def test_optuna_knows_every_kind_of_parameter():
    parameters = {"x": Real(1e-3, 1, log=True), "n": Integer(0, 10, step=5), "kind": Choice(["a", "b"])}
    peer = PEERS["optuna-tpe"](Problem(parameters, minimize="f"), 0, 5)
    asked = peer.ask().params
    assert asked["n"] in (0, 5, 10)
    assert asked["kind"] in ("a", "b")
    peer.tell(asked, {"f": 1.0})
    assert peer.answer() == asked


def test_ax_knows_every_kind_of_parameter():
    pytest.importorskip("ax")
    parameters = {"x": Real(1e-3, 1, log=True), "n": Integer(0, 10, step=5), "kind": Choice(["a", "b"])}
    peer = PEERS["ax"](Problem(parameters, minimize="f", constraints=["c <= 1"], noise=0.1), 0, 5)
    for n in (0, 5, 10):
        peer.tell({"x": 0.1, "n": n, "kind": "a"}, {"f": n, "c": 0.0})
    asked = peer.ask().params
    assert asked["n"] in (0, 5, 10)
    assert asked["kind"] in ("a", "b")


def test_what_is_refused_is_left_out(monkeypatch):
    problem = Problem({"x": Integer(0, 9)}, minimize="f", constraints=["c <= 1"])
    monkeypatch.setitem(PROBLEMS, "whole", lambda: replace(toy(), problem=problem))
    given = parse(["--problems", "whole", "--peers", "scbo,optuna-tpe", "--seeds", "1"])
    assert [entry.peer for entry in list_entries(given)] == ["optuna-tpe"]
    assert "integers" in given.refused["whole", "scbo"]


def test_pesky_is_told_the_noise_unless_it_is_not_declared():
    problem = toy().problem
    noise = [PEERS[peer](problem, 0, 5).study.problem.noise for peer in ("pesc", "pesc-undeclared")]  # pyright: ignore[reportAttributeAccessIssue]
    assert [set(each.values()) for each in noise] == [{0.0}, {None}]
