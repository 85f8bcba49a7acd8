"""The command of the figures: what it writes, and that it goes on where it stopped."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from experiments import checkpoint, command, figure_2a
from experiments.command import main
from experiments.figure_1c import EXPERIMENT

RULES = ("pesc", "pesc-paper")


def run(folder: Path, *arguments: str, rules: tuple[str, ...] = RULES[:1]) -> int:
    """Two realisations of figure 1c, and some steps of each."""
    given = ("--realisations", "2", "--evaluations", "6", "--out", str(folder), "--runs", str(folder / "runs"))
    return main([EXPERIMENT], [*given, "--rules", *rules, *arguments])


def results(folder: Path) -> dict[str, dict[str, Any]]:
    """What was measured, without when and how long."""
    curves = json.loads((folder / "1c.json").read_text())["curves"]
    left_out = ("command", "per_step", "seconds")
    return {
        label: {name: each for name, each in curve.items() if name not in left_out} for label, curve in curves.items()
    }


@pytest.fixture(scope="module")
def at_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a run wrote that was never stopped."""
    folder = tmp_path_factory.mktemp("at_once")
    assert run(folder, rules=RULES) == 0
    return folder


def stop_after(monkeypatch: pytest.MonkeyPatch, calls: int, *arguments: Any) -> int:
    """A run on a clock that goes a second each time it is looked at."""
    with monkeypatch.context() as patched:
        patched.setattr(command, "monotonic", itertools.count().__next__)
        return run(*arguments, "--seconds", str(calls))


def test_it_writes_curves_and_pictures(at_once: Path):
    assert sorted(path.name for path in at_once.iterdir()) == ["1c.json", "1c.png", "1c.svg", "runs"]
    found = results(at_once)
    assert list(found) == list(RULES)
    assert found["pesc"]["counts"] == [3, 4, 5, 6]
    assert found["pesc"]["realisations"] == 2
    kept = json.loads((at_once / "1c.json").read_text())["curves"]["pesc"]["command"]
    what = "python -m experiments.figure_1c --figures 1c --rules pesc --realisations 2 --evaluations 6"
    assert kept == f"{what} --every 1 --device cpu"
    assert (at_once / "1c.svg").read_bytes().startswith(b"<?xml")
    assert (at_once / "1c.png").read_bytes().startswith(b"\x89PNG")


def test_what_was_stopped_goes_on_to_the_same_end(at_once: Path, tmp_path: Path, monkeypatch, capsys):
    assert run(tmp_path, "--seconds", "0") == 3
    assert "the same command goes on" in capsys.readouterr().out
    assert not (tmp_path / "1c.json").exists()
    assert steps_of(tmp_path / "runs" / "1c-pesc-0-2-1.pt") == 0
    assert stop_after(monkeypatch, 6, tmp_path) == 3
    assert steps_of(tmp_path / "runs" / "1c-pesc-0-2-1.pt") in (1, 2)
    assert run(tmp_path) == 0
    assert results(tmp_path)["pesc"] == results(at_once)["pesc"]


def steps_of(path: Path) -> int:
    return torch.load(path, weights_only=True)["steps"]


def test_a_finished_run_is_not_done_again(at_once: Path, tmp_path: Path, monkeypatch):
    before = results(at_once)
    monkeypatch.setattr(command.Lockstep, "step", None)
    assert run(at_once, rules=RULES) == 0
    assert results(at_once) == before


def test_what_another_rule_left_is_not_taken_up(at_once: Path, tmp_path: Path):
    """Whatever its name is."""
    (tmp_path / "runs").mkdir()
    other = at_once / "runs" / "1c-pesc-paper-0-2-1.pt"
    (tmp_path / "runs" / "1c-pesc-0-2-1.pt").write_bytes(other.read_bytes())
    assert checkpoint.load(other, "another rule", "cpu") is None
    assert run(tmp_path) == 0
    assert results(tmp_path)["pesc"] == results(at_once)["pesc"]


def test_two_workers_do_what_one_does(tmp_path: Path):
    for workers in ("1", "2"):
        assert run(tmp_path / workers, "--workers", workers, "--together", "1", "--evaluations", "4") == 0
    one, two = (results(tmp_path / workers)["pesc"] for workers in ("1", "2"))
    assert one["counts"] == two["counts"]
    # products in single precision round by where in memory their factors are
    assert one["median"]["value"] == pytest.approx(two["median"]["value"], rel=1e-3)


def test_recommendations_may_be_rarer_and_a_shorter_run_is_a_part_of_a_longer_one(tmp_path: Path):
    assert run(tmp_path, "--every", "2") == 0
    longer = results(tmp_path)["pesc"]
    assert longer["counts"] == [4, 6]
    assert run(tmp_path, "--every", "2", "--evaluations", "5") == 0
    shorter = results(tmp_path)["pesc"]
    assert shorter["counts"] == [4]
    assert shorter["median"]["value"] == longer["median"]["value"][:1]


def test_fewer_evaluations_than_the_first_points_are_those(tmp_path):
    assert run(tmp_path, "--evaluations", "2", "--together", "1") == 0
    curve = json.loads((tmp_path / "1c.json").read_text())["curves"]["pesc"]
    assert curve["counts"] == [3]
    assert curve["command"].endswith("--evaluations 2 --every 1 --device cpu --together 1")


def test_says_so_if_there_is_nothing_to_run(capsys):
    with pytest.raises(SystemExit):
        main([EXPERIMENT, figure_2a.EXPERIMENT], ["--figures", "1c", "--rules", "eic"])
    assert "nothing to run: 1c has none of these rules: eic" in capsys.readouterr().err
