"""The benchmark of answers: what it counts, and that it runs."""

import json

import pytest

from benchmarks.calibration import Judged, holds, main, tabulate
from benchmarks.calibration_cases import CASES, case_by_name
from pesky import Problem, Real


@pytest.mark.parametrize("name", [name for name in CASES if name != "digits"])
def test_measurements_scatter_around_the_truth(name):
    import torch

    from pesky.space import Space

    case, chance = case_by_name(name, 0), torch.Generator().manual_seed(0)
    (u,) = Space.of(case.problem).sobol(1, 0)
    params = Space.of(case.problem).decode(u)
    truth = case.truth(params)
    measured = [case.measure(params, chance) for _ in range(16)]
    assert truth.keys() == measured[0].keys() == set(case.problem.outcomes)
    for outcome, value in truth.items():
        values = torch.tensor([each[outcome] for each in measured])
        assert float(values.mean()) == pytest.approx(value, abs=float(values.std()) + 1e-9 * abs(value))


def test_a_constraint_holds_up_to_rounding():
    problem = Problem({"x": Real(0, 1)}, minimize="f", constraints=["c >= 0", "d <= 100"])
    assert holds(problem, {"f": 0, "c": -1e-12, "d": 100.0}) == [True, True]
    assert holds(problem, {"f": 0, "c": -1e-3, "d": 101.0}) == [False, False]


def test_the_table_has_shares():
    one = Judged("toy", 0, [True, False], [0.96, 0.98], [True, True], is_feasible=True, is_worse=True)
    table = tabulate([one, Judged("toy", 1)], 20)
    assert [list(column.cells)[-1] for column in table.columns] == [
        "all", "2", "1/2 = 50%", "2/2 = 100%", "0.970", "1", "0", "1"
    ]  # fmt: skip


def test_it_runs(tmp_path, capsys):
    path = tmp_path / "calibration.json"
    main(["--problems", "toy,three kinds", "--seeds", "1", "--evaluations", "10", "--json", str(path)])
    runs = json.loads(path.read_text())["runs"]
    assert [run["name"] for run in runs] == ["toy", "three kinds"]
    assert "worse than best" in capsys.readouterr().out
