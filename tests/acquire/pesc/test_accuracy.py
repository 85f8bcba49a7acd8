"""The gains against brute force, on the data sets and with the command of the README, with fewer seeds."""

import json
from pathlib import Path

import pytest

from benchmarks.accuracy import main
from benchmarks.gain_curves import gain_curves
from benchmarks.oracle import read_oracle
from pesky.acquire import PredictiveEntropySearch

ORACLE = Path(__file__).parents[3] / "benchmarks" / "oracles" / "one_dimension.json"


def summary(tmp_path: Path, options: str) -> dict[str, float]:
    file = tmp_path / "accuracy.json"
    main([str(ORACLE), "--options", options, "--samples", "50", "--seeds", "2", "--json", str(file)])
    return json.loads(file.read_text())["summary"][options]


@pytest.mark.slow
def test_the_default_gains_agree_with_brute_force(tmp_path):
    found = summary(tmp_path, "default")
    assert found["correlation"] >= 0.98
    assert found["error"] <= 0.25
    assert found["efficiency"] >= 0.97
    assert found["decoupled"] >= 0.95


def test_the_papers_gains_agree_with_brute_force_as_well_as_theirs_can(tmp_path):
    found = summary(tmp_path, "paper")
    assert found["correlation"] >= 0.92
    assert found["efficiency"] >= 0.9


def test_on_these_data_sets_no_digits_are_left_aside():
    oracle = read_oracle(ORACLE)
    rules = [PredictiveEntropySearch(indifference=None), PredictiveEntropySearch()]
    for dataset in oracle.datasets:
        gains, indifferent = (gain_curves(dataset, oracle.grid, rule, 0) for rule in rules)
        assert bool((gains == indifferent).all())
