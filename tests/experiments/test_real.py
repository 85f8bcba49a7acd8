"""Runs of real experiments stop and go on, count what is infeasible as the worst, and end in tables and pictures."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments import figure_3a, figure_3b
from experiments.draw import draw_file
from experiments.real import RealContender, RealExperiment, RealRun
from experiments.real_command import main, parser
from experiments.real_results import load_runs, mean_and_error, paired, reached, save_runs
from experiments.real_run import advance, is_done, load_run
from experiments.tables import tables_of
from pesky import Problem, Real, Task

PROBLEM = Problem({"x": Real(0, 1)}, minimize="f", constraints=["c <= 0.5"])


def measure(params, seed: int) -> dict[str, float]:
    """The lower x the better, with noise; where it is highest nothing can be measured."""
    x = float(params["x"])
    if x > 0.9:
        raise RuntimeError("too high")
    return {"f": 1 - x + 1e-3 * np.random.default_rng(seed).normal(), "c": x}


def part(name: str):
    return lambda params, seed: {name: measure(params, seed)[name]}


EXPERIMENT = RealExperiment(
    figure="3a",
    together=replace(PROBLEM, tasks={"all": Task(["f", "c"], cost=3)}),
    apart=replace(PROBLEM, tasks={"f": Task(["f"], cost=2), "c": Task(["c"])}),
    functions={"all": measure, "f": part("f"), "c": part("c")},
    contenders={"pesc": RealContender("random"), "pesc decoupled": RealContender("random", is_apart=True)},
    worst=1.0,
    share=100.0,
    unit="error, %",
    paper={"pesc": "7 ± 1"},
    every=3,
    repeats=2,
)


def test_what_is_infeasible_or_fails_counts_as_the_worst():
    good, bad = {"f": 0.25, "c": 0.4}, {"f": 0.05, "c": 0.7}
    assert EXPERIMENT.value_of([good]) == 0.25
    assert EXPERIMENT.value_of([bad]) == 1.0
    assert EXPERIMENT.value_of([good, {"f": 0.75, "c": 0.5}]) == 0.5
    assert EXPERIMENT.value_of([good, bad]) == 1.0  # on average it is infeasible
    assert EXPERIMENT.value_of([good, None]) == 1.0
    assert EXPERIMENT.value_of([]) == 1.0


def test_a_run_goes_on_where_it_stopped(tmp_path: Path):
    stops = RealRun("pesc", 0)
    assert not advance(EXPERIMENT, stops, 5, tmp_path, deadline=-math.inf)

    class Killed(Exception):
        pass

    def die() -> None:
        raise Killed

    with pytest.raises(Killed):
        advance(EXPERIMENT, stops, 5, tmp_path, watch=die)  # after the first look
    again = load_run(tmp_path, EXPERIMENT, "pesc", 0)
    assert [look["n"] for look in again.looks] == [3]
    assert advance(EXPERIMENT, again, 5, tmp_path)
    assert is_done(again, EXPERIMENT, 5)
    assert [(look["n"], look["spent"]) for look in again.looks] == [(3, 9.0), (5, 15.0)]
    assert again.asked == {"all": 5}
    assert len(again.last) == 2
    assert load_run(tmp_path, EXPERIMENT, "pesc", 0) == again
    # and one that ended goes further if that is asked for
    assert not is_done(again, EXPERIMENT, 6)
    assert not advance(EXPERIMENT, again, 6, tmp_path, deadline=-math.inf)
    assert again.last == []


def test_outcomes_apart_spend_the_same(tmp_path: Path):
    run = RealRun("pesc decoupled", 0)
    advance(EXPERIMENT, run, 3, tmp_path)
    assert 8 <= run.looks[-1]["spent"] <= 9
    assert run.asked["f"] * 2 + run.asked["c"] == run.looks[-1]["spent"]


def test_the_command_writes_results_a_picture_and_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    options = ["--contenders", "pesc", "--evaluations", "3", "--out", str(tmp_path), "--runs", str(tmp_path / "runs")]
    for contender, repetitions in (("pesc", "2"), ("pesc decoupled", "1")):
        options[1] = contender
        given = parser(EXPERIMENT, "about").parse_args([*options, "--repetitions", repetitions])
        assert main(EXPERIMENT, given) == 0
    given = parser(EXPERIMENT, "about").parse_args([*options, "--repetitions", "2", "--seconds", "0"])
    assert main(EXPERIMENT, given) == 3
    assert "1 of 2 runs are done: the same command goes on" in capsys.readouterr().out
    results = load_runs(tmp_path / "3a.json")
    assert {label: len(records) for label, records in results.runs.items()} == {"pesc": 2, "pesc decoupled": 1}
    assert results.values("pesc")[0] == [3]
    for path in draw_file(tmp_path / "3a.json"):
        assert path.stat().st_size > 1000
    table = tables_of(tmp_path / "3a.json").splitlines()
    assert table[0].startswith("| error, % | n = 3 | n = 3, measured again | without the infeasible | infeasible |")
    assert table[2].startswith("| `pesc` |")
    assert table[2].endswith("| 7 ± 1 |")
    assert " 3 all " in table[2]


def test_the_target_is_reached_when_it_is_kept(tmp_path: Path):
    runs = []
    for repetition, values in enumerate(([0.9, 0.2, 0.4, 0.1], [0.9, 0.2, 0.4, 0.3])):
        run = RealRun("pesc", repetition, asked={"all": 4})
        run.looks = [{"n": n + 1, "params": {"x": 0.25}, "measured": {"f": f, "c": 0.1}} for n, f in enumerate(values)]
        run.last = [{"f": values[-1], "c": 0.1}] * 2
        runs.append(run)
    results = save_runs(tmp_path / "3a.json", EXPERIMENT, 4, runs)
    assert reached(results, "pesc", 20) == 4
    assert reached(results, "pesc", 50) == 2
    assert reached(results, "pesc", 10) is None
    assert reached(replace(results, worst=0.0), "pesc", 15) == 1  # the more the better
    assert mean_and_error(results.final("pesc")) == (20, pytest.approx(10))
    assert np.isnan(mean_and_error(np.array([1.0]))[1])
    # results of another length are not mixed with these
    assert json.loads((tmp_path / "3a.json").read_text())["evaluations"] == 4
    longer = save_runs(tmp_path / "3a.json", EXPERIMENT, 8, runs[:1])
    assert [record.repetition for record in longer.runs["pesc"]] == [0]


def test_contenders_are_compared_in_the_repetitions_that_both_have(tmp_path: Path):
    runs = []
    ours = [("pesc", 0, 0.9, 0.3), ("pesc", 1, 0.7, 0.2), ("pesc", 2, 0.1, 0.1)]
    for label, repetition, first, last in [*ours, ("pesc decoupled", 2, 0.4, 1.0), ("pesc decoupled", 0, 0.8, 0.4)]:
        run = RealRun(label, repetition, asked={"all": 2})
        run.looks = [
            {"n": n, "params": {"x": 0.25}, "measured": {"f": f, "c": 0.1}} for n, f in ((1, first), (2, last))
        ]
        run.last = [{"f": last, "c": 0.1 if last < 1 else 0.7}] * 2
        runs.append(run)
    results = save_runs(tmp_path / "3a.json", EXPERIMENT, 2, runs)
    values, final = paired(results, "pesc decoupled", "pesc")
    np.testing.assert_allclose(values, [[-10, 10], [30, 90]])
    np.testing.assert_allclose(final, [10, 90])
    table = tables_of(tmp_path / "3a.json").split("\n\n")
    assert "| 70 ± 30 | 40 | 1 of 2 |" in table[0]  # the mean of all, and of the one that is feasible
    assert table[1].splitlines() == [
        "| error, %, less that of `pesc` | n = 1 | n = 2 | n = 2, measured again | repetitions of both |",
        "| --- | --- | --- | --- | --- |",
        "| `pesc decoupled` | +10 ± 20 | +50 ± 40 | +50 ± 40 | 2 |",
    ]


# -- the figures of the paper, tiny ------------------------------------------------------------------------------------


@pytest.mark.parametrize("figure", [figure_3a, figure_3b])
def test_their_problems_are_those_of_the_examples(figure):
    experiment = figure.EXPERIMENT
    assert experiment.together.parameters == experiment.apart.parameters
    assert set(experiment.functions) == {*experiment.together.tasks, *experiment.apart.tasks}
    assert {"pesc", "pesc decoupled", "eic", "jesc", "random", "pesc slice"} == set(experiment.contenders)
    assert experiment.problem_of("pesc decoupled") is experiment.apart


def test_the_network_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PESKY_ITERATIONS", "")  # so that what the options set is taken back
    monkeypatch.setenv("PESKY_PREDICTIONS", "")
    monkeypatch.setenv("PESKY_DEVICE", "")
    options = ["--contenders", "random", "--evaluations", "3", "--iterations", "3", "--predictions", "5"]
    done = figure_3a.run(
        [*options, "--device", "cpu", "--repetitions", "1", "--out", str(tmp_path), "--runs", str(tmp_path)]
    )
    assert done == 0
    (record,) = load_runs(tmp_path / "3a.json").runs["random"]
    assert record.asked == {"both": 3}
    assert 0.3 < record.final <= 1
    assert {"units1", "activation"} < record.params.keys()


def test_the_sampler_end_to_end(tmp_path: Path):
    options = ["--contenders", "random", "--evaluations", "3", "--repetitions", "1"]
    assert figure_3b.run([*options, "--out", str(tmp_path), "--runs", str(tmp_path)]) == 0
    (record,) = load_runs(tmp_path / "3b.json").runs["random"]
    assert record.asked == {"sample": 3}
    assert record.final >= 0
