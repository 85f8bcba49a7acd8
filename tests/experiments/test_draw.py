import numpy as np
import pytest
from matplotlib.colors import to_hex

from experiments.curves import Curve, Results, Statistic, keep, save
from experiments.draw import draw_curves, draw_file, main

COUNTS = [3, 10, 20, 50]


def curve(label: str, end: float, realisations: int = 9) -> Curve:
    gaps = np.geomspace(1.0, max(end, 1e-12), 4) * np.linspace(0.5, 1.5, realisations)[:, None]
    gaps[:, -1] *= end > 0
    return Curve(label, COUNTS, gaps, gaps < 2, "cpu", 1.0, {}, "")


def results(*curves: Curve, figure: str = "2a", statistic: Statistic = "median") -> Results:
    return Results(figure, statistic, {each.label: keep(each) for each in curves})


def test_curves_are_the_statistic_in_the_colors_of_their_rules_and_end_at_their_names():
    figure = draw_curves(results(curve("pesc", 1e-4), curve("pesc decoupled", 1e-5), curve("a new rule", 1e-2)))
    (axes,) = figure.axes
    lines = {line.get_label(): line for line in axes.lines if not str(line.get_label()).startswith("_")}
    assert list(lines) == ["pesc", "pesc decoupled", "a new rule"]
    assert np.asarray(lines["pesc"].get_xdata()).tolist() == COUNTS
    assert np.asarray(lines["pesc"].get_ydata())[[0, -1]] == pytest.approx([1.0, 1e-4], rel=1e-3)
    assert to_hex(lines["pesc"].get_color()) == to_hex(lines["pesc decoupled"].get_color()) == "#1f4eb4"
    assert lines["pesc"].get_linestyle() == "-"
    assert lines["pesc decoupled"].get_linestyle() == "--"  # what matplotlib calls every pattern
    assert [text.get_text() for text in axes.texts] == ["pesc decoupled", "pesc", "a new rule"]
    assert axes.get_yscale() == "log"
    assert axes.get_ylabel() == "median utility gap"
    assert axes.get_title(loc="left") == "figure 2a: functions from the prior, d = 2, 9 realisations"


def test_bands_are_those_of_the_bootstrap_and_positive():
    shown = results(curve("pesc", 0.0), curve("eic", 1e-2, realisations=5), figure="made", statistic="mean")
    (axes,) = draw_curves(shown).axes
    band = np.asarray(axes.collections[1].get_paths()[0].vertices)
    at_start = band[band[:, 0] == 3.0, 1]
    assert at_start.min() == pytest.approx(shown.curves["eic"].mean.low[0])
    assert at_start.max() == pytest.approx(shown.curves["eic"].mean.high[0])
    for part in axes.collections:
        vertices = np.asarray(part.get_paths()[0].vertices)
        assert np.isfinite(vertices).all()
        assert vertices[:, 1].min() >= 1e-9
    assert axes.get_ylabel() == "mean utility gap"
    assert axes.get_title(loc="left") == "made: utility gaps, 5 to 9 realisations"


def test_pictures_stand_beside_the_file_and_are_the_same_again(tmp_path, capsys):
    for folder in ("one", "other"):
        path = tmp_path / folder / "2a.json"
        save(path, "2a", "median", [curve("pesc", 1e-4), curve("rs", 1e-3)])
        main([str(path)])
    for ending, start in {"svg": b"<?xml", "png": b"\x89PNG"}.items():
        one, other = ((tmp_path / folder / f"2a.{ending}").read_bytes() for folder in ("one", "other"))
        assert one.startswith(start)
        assert one == other
    assert str(tmp_path / "other" / "2a.png") in capsys.readouterr().out
    assert [each.name for each in draw_file(path)] == ["2a.svg", "2a.png"]
