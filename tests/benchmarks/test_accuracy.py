import json

import pytest
import torch

from benchmarks import grid_truth
from benchmarks.accuracy import main
from benchmarks.gain_curves import COMPARABLE, gain_curves, named
from benchmarks.oracle import Dataset, read_oracle
from benchmarks.truth import SIZES, Size, draw_truth
from pesky.acquire import PredictiveEntropySearch

GAINS = [[0.1, 0.4, 0.2], [0.0, 0.1, 0.5]]


def write_oracle(path, **changes):
    rows = [{"x": [1.0, 3.0], "y": [0.5, -0.5], "ls": 0.2, "amp": 1.5, "noise": 0.01}]
    rows.append({**rows[0], "x": [], "y": []})
    dataset = {"seed": 1, "N": 2, "K": 1, "decoupled": True, "tasks": rows, "rs_acq_per_task": GAINS}
    content = {"kernel": "squared exponential", "domain": [1.0, 3.0], "grid": [1.0, 2.0, 3.0]}
    path.write_text(json.dumps({**content, "datasets": [dataset], **changes}))
    return path


def test_reads_an_oracle_into_the_unit_interval(tmp_path):
    oracle = read_oracle(write_oracle(tmp_path / "oracle.json"))
    (dataset,) = oracle.datasets
    assert oracle.grid.tolist() == [[0.0], [0.5], [1.0]]
    assert dataset.rows[0].X.tolist() == [[0.0], [1.0]]
    assert dataset.rows[0].lengthscale == pytest.approx(0.1)
    assert (dataset.rows[0].amplitude, dataset.rows[0].noise) == (1.5, 0.01)
    assert dataset.rows[1].X.shape == (0, 1)
    assert dataset.gains.tolist() == GAINS
    assert dataset.errors is None
    assert "decoupled" in dataset.name


def test_refuses_an_unknown_kernel(tmp_path):
    with pytest.raises(ValueError, match="periodic"):
        read_oracle(write_oracle(tmp_path / "oracle.json", kernel="periodic"))


def test_prints_and_writes_the_figures_of_all_options(tmp_path, capsys):
    def curves(dataset: Dataset, grid, rule, seed):
        assert isinstance(rule, PredictiveEntropySearch) or rule.samples == 7
        assert len(grid) == 3
        return dataset.gains if isinstance(rule, PredictiveEntropySearch) else dataset.gains.flip(-1)

    out = tmp_path / "accuracy.json"
    file = write_oracle(tmp_path / "oracle.json")
    main([str(file), "--samples", "7", "--seeds", "2", "--sets", "--json", str(out)], curves)
    written = json.loads(out.read_text())
    assert written["summary"]["default"]["efficiency"] == pytest.approx(1.0)
    assert written["summary"]["paper"]["efficiency"] == pytest.approx(0.1 / 0.7)
    assert len(written["figures"]["paper"]) == 2
    printed = capsys.readouterr().out
    assert "paper" in printed
    assert "default" in printed
    assert "CPU s" in printed


def test_draws_are_minimized_by_as_many_steps_as_are_given(tmp_path, capsys):
    def curves(dataset: Dataset, grid, rule, seed):
        return dataset.gains if rule.polish_steps == 20 else dataset.gains.flip(-1)

    file, out = write_oracle(tmp_path / "oracle.json"), tmp_path / "accuracy.json"
    main([str(file), "--options", "ep", "--polish", "0", "20", "--seeds", "1", "--json", str(out)], curves)
    found = {name: each["efficiency"] for name, each in json.loads(out.read_text())["summary"].items()}
    assert found == {"ep, polish 0": pytest.approx(0.1 / 0.7), "ep, polish 20": pytest.approx(1.0)}


def test_in_four_dimensions_the_truth_is_on_a_grid_of_places_where_x_may_be_best(tmp_path, monkeypatch):
    monkeypatch.setitem(grid_truth.GRID_SIZES, 4, grid_truth.GridSize(0.5, 8, cells=30, samples=600))
    monkeypatch.setattr(grid_truth, "CHECK_DRAWS", 40)
    monkeypatch.setattr(grid_truth, "CHECK_BLOCK", 20)
    out = tmp_path / "accuracy.json"

    def curves(dataset: Dataset, points, rule, seed):
        assert points.shape == (sum(grid_truth.PLACES), 4)
        return dataset.gains

    main(["--truth", "grid", "--dim", "4", "--datasets", "1", "--seeds", "1", "--check", "--json", str(out)], curves)
    summary = json.loads(out.read_text())["summary"]
    assert summary["default"]["efficiency"] == pytest.approx(1.0)
    assert 0 < summary["by nearness"]["efficiency"] <= 1


def test_totals_are_the_sum_of_rows(tmp_path):
    (dataset,) = read_oracle(write_oracle(tmp_path / "oracle.json")).datasets
    assert torch.allclose(dataset.gains.sum(0), torch.tensor([0.1, 0.5, 0.7]))


@pytest.mark.parametrize("dim", [1, 2])
def test_draws_data_sets_and_their_true_gains_where_there_is_no_file(tmp_path, capsys, monkeypatch, dim):
    monkeypatch.setitem(SIZES, dim, Size(0.3, cells=13, points=7, samples=2000))
    out = tmp_path / "accuracy.json"
    given = ["--truth", "rs", "--dim", str(dim), "--datasets", "3", "--rule", "pesc", "rs", "--options", "default"]
    main([*given, "--seeds", "1", "--json", str(out)])
    written = json.loads(out.read_text())
    assert list(written["summary"]) == ["default", "rs"]
    assert written["summary"]["rs"]["correlation"] > 0.95
    assert written["summary"]["default"]["correlation"] > 0.7
    assert [name.split(",")[0] for name in written["sets"]] == ["0 (N=5", "1 (N=10", "2 (N=15"]
    assert all(0 < error < 0.1 for error in written["truth_errors"])
    assert "Standard error of the true gains" in capsys.readouterr().out


def test_drawn_data_sets_are_the_same_every_time_and_of_every_kind(monkeypatch):
    monkeypatch.setitem(SIZES, 1, Size(0.3, cells=13, points=7, samples=200))
    first, again = (draw_truth(1, 3, 0, None) for _ in range(2))
    for one, other in zip(first.datasets, again.datasets, strict=True):
        assert torch.equal(one.gains, other.gains)
        assert one.gains.shape == (len(one.rows), 7)
    assert [len(dataset.rows) for dataset in first.datasets] == [2, 3, 2]
    shared = [torch.equal(dataset.rows[0].X, dataset.rows[1].X) for dataset in first.datasets]
    assert shared == [True, True, False]


def test_every_rule_that_gives_nats_for_each_row_can_be_compared(tmp_path):
    dataset = read_oracle(write_oracle(tmp_path / "oracle.json")).datasets[0]
    assert {"pesc", "rs", "rsdg"} <= set(COMPARABLE)
    curves = gain_curves(dataset, torch.rand(4, 1), named("rsdg", 200), seed=0)
    assert curves.shape == (2, 4)


def test_wants_a_file_or_a_truth_and_not_both(tmp_path, capsys):
    for given in ([], [str(write_oracle(tmp_path / "oracle.json")), "--truth", "rs"]):
        with pytest.raises(SystemExit):
            main(given)
        assert "FILE" in capsys.readouterr().err
