import json

import pytest

from benchmarks.optimize import main, summarize
from benchmarks.runs import INITIAL, Plan, Run, build_benchmark, optimize


def finished(rule: str, seed: int, gap: float) -> Run:
    """A run whose gap is 1 up to 9 evaluations and `gap` from then on."""
    gaps = [1.0 if n < 10 else gap for n in range(INITIAL, 16)]
    return Run(Plan("toy", rule, seed, 15), gaps=gaps, ask_seconds=[0.5, 1.5], recommend_seconds=[0.1])


def test_summary_of_runs():
    figures = summarize([finished("pesc", seed, gap) for seed, gap in enumerate([0.1, 0.002, 0.001])])
    assert figures["median"] == {10: 0.002, 15: 0.002}
    assert figures["mean"][15] == pytest.approx(0.103 / 3)
    assert figures["median_error"][10] > 0
    assert figures["first_below"] == 10
    assert (figures["ask_seconds"], figures["recommend_seconds"]) == (1.0, pytest.approx(0.1))


def test_a_rule_that_never_gets_there_says_so():
    assert summarize([finished("pesc", 0, 0.5)])["first_below"] is None


@pytest.mark.slow
def test_runs_and_tabulates_again_from_its_file(tmp_path, capsys):
    file = tmp_path / "runs.json"
    main(
        [
            "gp1",
            "--seeds",
            "2",
            "--evaluations",
            "10",
            "--rules",
            "random",
            "--workers",
            "1",
            "--json",
            str(file),
        ]
    )
    first = capsys.readouterr().out
    main([str(file)])
    assert capsys.readouterr().out == first
    assert "random (2 runs)" in first
    written = json.loads(file.read_text())
    assert [len(run["gaps"]) for run in written["runs"]] == [8, 8]
    assert written["summary"]["random"]["runs"] == 2


def test_rules_start_from_the_same_measurements():
    runs = [optimize(Plan("gp1", rule, 0, 4)) for rule in ("pesc", "logei", "random")]
    assert len({json.dumps(run.asked[:INITIAL]) for run in runs}) == 1
    assert len({run.gaps[0] for run in runs}) == 1
    assert len({json.dumps(run.asked[INITIAL:]) for run in runs}) == 3


def test_a_run_is_repeatable():
    plan = Plan("toy", "logei", 1, 5)
    assert optimize(plan).asked == optimize(plan).asked


def test_decoupled_runs_count_joint_evaluations():
    run = optimize(Plan("gp1", "pesc", 0, 5, is_decoupled=True))
    assert len(run.gaps) == 3
    assert [len(outcomes) for _, outcomes in run.asked] == [2] * INITIAL + [1] * 4


def test_unknown_problem():
    with pytest.raises(ValueError, match="gp0"):
        build_benchmark("gp0", 0)
