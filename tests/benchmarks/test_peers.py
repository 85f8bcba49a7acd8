"""The contest with others: that it runs, what it judges, and that it goes on where it was interrupted."""

import pytest

from benchmarks.peers.__main__ import main
from benchmarks.peers.base import Measured, best_measured
from benchmarks.peers.contest import Entry, contest, read_results
from pesky import Choice, Integer, Problem, Real
from pesky.test_functions import toy


def test_the_best_measured_point_held_every_constraint_as_measured():
    problem = Problem({"x": Real(0, 1)}, maximize="f", constraints=["c <= 1"])
    points = [Measured({"x": x}, {"f": f, "c": c}) for x, f, c in ((0.1, 1.0, 0.5), (0.2, 2.0, 0.9), (0.3, 3.0, 1.1))]
    assert best_measured(problem, points) == points[1]
    assert best_measured(problem, points[2:]) is None


def test_all_start_from_the_same_points_and_are_judged_by_the_truth():
    random, tpe = (contest(Entry("toy", peer, 3, 6)) for peer in ("random", "optuna-tpe"))
    assert (random.error, tpe.error) == ("", "")
    assert random.points[:3] == tpe.points[:3]
    assert random.points[3:] != tpe.points[3:]
    assert len(random.seconds) == 3
    gaps = [toy().utility_gap(point.params) for point in tpe.points]
    assert tpe.measured[6] == pytest.approx(min(gaps), abs=1e-9)
    assert tpe.answers[6] == tpe.measured[6]


def test_one_that_raises_ends_alone():
    result = contest(Entry("nowhere", "random", 0, 4))
    assert "nowhere" in result.error


def test_the_command_prints_a_table_and_goes_on_from_its_file(tmp_path, capsys):
    file = tmp_path / "runs.jsonl"
    given = ["--problems", "toy", "--peers", "optuna-tpe", "--evaluations", "4", "--workers", "1", "--file", str(file)]
    assert main([*given, "--seeds", "1"]) == 0
    first = file.read_text()
    assert main([*given, "--seeds", "2"]) == 0
    assert file.read_text().startswith(first)
    assert len(read_results(file)) == 2
    assert "optuna-tpe (2)" in capsys.readouterr().out


def test_an_unknown_peer_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["--peers", "nobody"])
    assert "unknown peers nobody" in capsys.readouterr().err


def test_optuna_knows_every_kind_of_parameter():
    from benchmarks.peers import PEERS

    parameters = {"x": Real(1e-3, 1, log=True), "n": Integer(0, 10, step=5), "kind": Choice(["a", "b"])}
    peer = PEERS["optuna-tpe"](Problem(parameters, minimize="f"), 0, 5)
    asked = peer.ask()
    assert asked["n"] in (0, 5, 10)
    assert asked["kind"] in ("a", "b")
    peer.tell(asked, {"f": 1.0})
    assert peer.answer() == asked
