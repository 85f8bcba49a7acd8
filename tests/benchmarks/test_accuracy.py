import json

import pytest
import torch

from benchmarks.accuracy import main
from benchmarks.oracle import Dataset, read_oracle

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
    assert "decoupled" in dataset.name


def test_refuses_an_unknown_kernel(tmp_path):
    with pytest.raises(ValueError, match="periodic"):
        read_oracle(write_oracle(tmp_path / "oracle.json", kernel="periodic"))


def test_prints_and_writes_the_figures_of_every_setting(tmp_path, capsys):
    def curves(dataset: Dataset, grid, setting, samples, seed):
        assert (samples, len(grid)) == (7, 3)
        return dataset.gains if setting == "default" else dataset.gains.flip(-1)

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


def test_totals_are_the_sum_of_rows(tmp_path):
    (dataset,) = read_oracle(write_oracle(tmp_path / "oracle.json")).datasets
    assert torch.allclose(dataset.gains.sum(0), torch.tensor([0.1, 0.5, 0.7]))
