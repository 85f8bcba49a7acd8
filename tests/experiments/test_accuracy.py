import json

import numpy as np
import pytest

from benchmarks import accuracy as benchmark
from benchmarks.truth import SIZES, Size
from experiments import accuracy
from experiments.draw_accuracy import draw_accuracy


@pytest.fixture(autouse=True)
def coarse(monkeypatch):
    for dim in (1, 2):
        monkeypatch.setitem(SIZES, dim, Size(0.3, cells=13, points=7, samples=2000))


def arguments(tmp_path, *given: str) -> list[str]:
    return [*given, "--out", str(tmp_path / "out"), "--runs", str(tmp_path / "runs")]


def test_measures_what_the_benchmark_measures(tmp_path, capsys):
    accuracy.main(arguments(tmp_path, "--dim", "2", "--datasets", "1", "--seeds", "2"))
    ours = json.loads((tmp_path / "out" / "accuracy_2d.json").read_text())
    given = ["--truth", "rs", "--dim", "2", "--datasets", "1", "--seeds", "2", "--json", str(tmp_path / "theirs.json")]
    benchmark.main(given)
    theirs = json.loads((tmp_path / "theirs.json").read_text())
    assert ours["sets"] == theirs["sets"]
    assert {"paper", "default", "10 samples", "no neighbors"} <= ours["summary"].keys()
    assert ours["cpu_seconds"]["200 samples"] > ours["cpu_seconds"]["10 samples"] > 0
    assert ours["truth_errors"] == theirs["truth_errors"]
    for setting in ("paper", "default"):
        assert ours["summary"][setting] == pytest.approx(theirs["summary"][setting], abs=1e-4)
        for mine, others in zip(ours["figures"][setting], theirs["figures"][setting], strict=True):
            for one, other in zip(mine, others, strict=True):
                assert one == pytest.approx(other, abs=1e-4)

    figure = draw_accuracy(ours)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["everything together", "outcomes apart"]
    marks = figure.axes[0].lines[0]
    assert np.asarray(marks.get_ydata()) == pytest.approx(
        np.mean([[each["efficiency"] for each in sets] for sets in ours["figures"]["paper"]], axis=0)
    )
    legend = figure.axes[1].get_legend()
    assert legend is not None
    assert legend.get_texts()[2].get_text() == f"pesc: {ours['summary']['default']['decoupled']:.3f}"


class Made:
    """What `measure` would say, until it is interrupted."""

    def __init__(self) -> None:
        self.until, self.asked = 2, []

    def __call__(self, plan, i, device):
        if i >= self.until:
            raise KeyboardInterrupt
        self.asked.append(i)
        one = {"correlation": 0.9, "error": 0.2, "ratio": 1.0, "efficiency": 1.0 - 0.1 * i, "decoupled": 0.5}
        figures = dict.fromkeys(plan["settings"], [one] * plan["seeds"])
        cpu = dict.fromkeys(plan["settings"], 0.5)
        measured = {"dataset": i, "name": f"set {i}", "truth_error": 0.01, "figures": figures, "cpu_seconds": cpu}
        return {**plan, **measured, "device": device, "seconds": 2.0}


def test_an_interrupted_run_goes_on_where_it_was(tmp_path, monkeypatch, capsys):
    made = Made()
    monkeypatch.setattr(accuracy, "measure", made)
    given = arguments(tmp_path, "--datasets", "4", "--seeds", "2")
    with pytest.raises(KeyboardInterrupt):
        accuracy.main(given)
    runs = tmp_path / "runs" / "accuracy_2d.jsonl"
    with runs.open("a") as file:
        file.write('{"dim": 2, "dataset": 2, "na')  # killed while writing
    made.until = 4
    accuracy.main(given)
    assert made.asked == [0, 1, 2, 3]
    accuracy.main(given)
    assert made.asked == [0, 1, 2, 3]
    content = json.loads((tmp_path / "out" / "accuracy_2d.json").read_text())
    assert content["sets"] == ["set 0", "set 1", "set 2", "set 3"]
    assert content["summary"]["default"]["efficiency"] == pytest.approx(0.85)
    assert (content["seconds"], content["device"]) == (8.0, ["cpu"])
    assert content["cpu_seconds"]["default"] == 0.5
    assert "--datasets 4 --seeds 2" in content["command"]

    made.asked = []
    accuracy.main(arguments(tmp_path, "--datasets", "3", "--seeds", "2"))  # other data sets: N depends on their number
    assert made.asked == [0, 1, 2]
