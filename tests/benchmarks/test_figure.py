import numpy as np
import pytest
from matplotlib.figure import Figure

from benchmarks.figure import draw_figure, draw_panel
from benchmarks.runs import Plan, Run
from benchmarks.styles import spread_out


def curves(*rules: str, problem: str = "toy") -> dict[str, list[Run]]:
    """Two runs of each rule, the last gap of which is zero."""
    return {
        rule: [Run(Plan(problem, rule, seed, 5), [3, 4, 5], [1.0, 0.1 * (seed + 1), 0.0]) for seed in range(2)]
        for rule in rules
    }


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_figure_is_written_and_the_same_again(tmp_path, ending, start):
    paths = [tmp_path / f"{i}.{ending}" for i in range(2)]
    for path in paths:
        draw_figure({"toy": curves("pesc", "random"), "gp2": curves("a-new-rule", problem="gp2")}, str(path))
    assert paths[0].read_bytes().startswith(start)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_panel_shows_medians_and_names_every_rule():
    axes = Figure().subplots()
    draw_panel(axes, "toy", curves("pesc", "eic"))
    assert [text.get_text() for text in axes.texts] == ["pesc", "eic"]
    assert np.asarray(axes.lines[0].get_ydata())[:2].tolist() == pytest.approx([1.0, 0.15])
    assert axes.get_title(loc="left") == "toy: 2 seeds"


def test_labels_keep_their_distance_and_move_no_further_than_they_must():
    places = spread_out(np.array([0.0, 0.5, 0.5, 0.5, 1.0]), 0.1)
    assert places == pytest.approx([0.0, 0.4, 0.5, 0.6, 1.0])
