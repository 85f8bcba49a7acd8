import json

import numpy as np
import pytest

from experiments import figure_1ab
from experiments.draw_gains import draw_gains, draw_posterior


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(figure_1ab, "POINTS", 41)
    monkeypatch.setattr(figure_1ab, "CELLS", 101)


def test_gains_of_pesc_resemble_those_of_brute_force_and_both_are_drawn(small, tmp_path, capsys):
    figure_1ab.main(["--samples", "5000", "--out", str(tmp_path)])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1a.png", "1a.svg", "1ab.json", "1b.png", "1b.svg"]
    content = json.loads((tmp_path / "1ab.json").read_text())
    assert list(content["gains"]) == ["rs", "pesc", "pesc-paper"]
    total = {label: np.sum(list(rows.values()), axis=0) for label, rows in content["gains"].items()}
    for label in ("pesc", "pesc-paper"):
        assert np.corrcoef(total["rs"], total[label])[0, 1] > 0.85
    assert content["rs_error"] < 0.1 * total["rs"].max()
    assert sum(content["solutions"]) == pytest.approx(1.0, abs=1e-3)
    assert sum(share > 0.05 for share in content["solutions"]) > 2  # x* may be in several places

    gains = draw_gains(content)
    assert [axes.get_ylabel() for axes in gains.axes] == ["f + c1, nats", "f, nats", "c1, nats"]
    drawn = np.asarray(gains.axes[0].lines[0].get_ydata())
    assert drawn == pytest.approx(total["rs"])
    assert [text.get_text() for text in gains.legends[0].get_texts()][:2] == ["RS (brute force)", "PESC"]


def test_posterior_has_the_data_in_its_band_and_the_optimum_is_feasible(small, tmp_path):
    content = figure_1ab.measure(seed=1, device="cpu", samples=200)
    grid = np.array(content["grid"])
    for name, row in content["posterior"].items():
        assert len(row["x"]) == len(row["y"]) == 5
        mean, truth = (np.interp(row["x"], grid, row[what]) for what in ("mean", "truth"))
        assert np.abs(mean - row["y"]).max() < 0.4, name  # noise of 0.1, and a coarse grid
        assert np.abs(truth - row["y"]).max() < 0.4, name
        inside = np.abs(np.array(row["truth"]) - row["mean"]) < 3 * np.array(row["deviation"])
        assert inside.mean() > 0.9
    optimum = np.interp(content["optimum"][0], grid, content["posterior"]["c1"]["truth"])
    assert optimum > -0.1
    figure = draw_posterior(content)
    assert [axes.get_ylabel() for axes in figure.axes] == ["f(x)", "c1(x)", "p(x*)"]
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["± 2 sd", "posterior mean", "truth", "measured", "true x*"]
