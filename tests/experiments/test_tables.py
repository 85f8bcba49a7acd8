from pathlib import Path

import numpy as np
import pytest

from benchmarks.provenance import version
from experiments.curves import Curve, save
from experiments.files import write_json
from experiments.tables import main, rewrite

DOCS = Path(__file__).parents[2] / "docs"


def curve(label: str, gaps: list[float], counts: list[int], infeasible: int = 0, realisations: int = 8) -> Curve:
    feasible = np.arange(realisations)[:, None] >= np.array([*[0] * (len(counts) - 1), infeasible])
    stages = {"x*": 0.3, "ep": 0.1, "maximize": 0.1}
    return Curve(label, counts, np.tile(gaps, (realisations, 1)), feasible, "cpu", 8.6, stages, "")


def rewritten(tmp_path, text: str) -> str:
    file = tmp_path / "page.md"
    file.write_text(text)
    main([str(file), "--data", str(tmp_path)])
    once = file.read_text()
    main([str(file), "--data", str(tmp_path)])
    assert file.read_text() == once
    return once


def test_a_table_of_gaps_and_one_of_comparisons_stand_between_the_marks(tmp_path):
    pesc = curve("pesc", [1.0, 0.5, 0.012], [3, 10, 20], infeasible=2)
    save(tmp_path / "2a.json", "2a", "median", [pesc, curve("eic", [1.0, 0.7, 0.12], [3, 10, 20])])
    save(tmp_path / "2a.json", "2a", "median", [curve("close", [1.0, 0.5, 0.005], [3, 10, 20])])
    save(tmp_path / "2a.json", "2a", "median", [curve("short", [1.0, 0.25], [3, 10], realisations=4)])
    page = rewritten(tmp_path, "before\n<!-- table:2a -->\nan old table\n<!-- end -->\nafter\n")
    assert page.startswith("before\n<!-- table:2a -->\n\n| median gap | n = 10 | n = 20 | infeasible at the end |")
    assert page.endswith("\n<!-- end -->\nafter\n")
    assert "an old table" not in page
    assert "| `pesc` | 0.5 ± 0 | 0.012 ± 0 | 25.0% | 8 | 8 |" in page
    assert f"| 9 s, cpu | {version()} |" in page
    assert "| `close` | 0.5 ± 0 | 0.005 ± 0 | 0.0% | 0 | 8 |" in page
    assert "| `short` | 0.25 ± 0 | – | 0.0% | 4 | 4 |" in page  # noqa: RUF001
    assert "| `eic` | +0.15 ± 0 | +1 ± 0 | +0.11 ± 0 | 8 |" in page
    assert "| `short` | -0.3 ± 0 | – | -0.25 ± 0 | 4 |" in page  # noqa: RUF001


def test_a_table_counts_the_runs_that_are_far_away_at_each_milestone(tmp_path):
    far, near = curve("pesc", [1.0, 0.5, 0.012], [3, 10, 20]), curve("eic", [1.0, 0.5, 0.001], [3, 10, 20])
    save(tmp_path / "2a.json", "2a", "median", [far, near])
    page = rewritten(tmp_path, "<!-- table:2a-stuck -->\n<!-- end -->\n")
    assert "| `pesc` | 8 | 8 | 8 |\n| `eic` | 8 | 0 | 8 |" in page


def test_the_reference_of_decoupled_rules_is_pesc_decoupled_and_means_are_shown_where_they_are_asked_for(tmp_path):
    curves = [curve(label, [0.5], [10]) for label in ("pesc coupled", "pesc decoupled")]
    save(tmp_path / "apart.json", "apart", "mean", curves)
    page = rewritten(tmp_path, "<!-- table:apart -->\n<!-- end -->\n")
    assert "| mean gap |" in page
    assert "less that of `pesc decoupled`" in page
    assert "| `pesc coupled` | +0 ± 0 |" in page


def test_a_rule_alone_has_nothing_to_be_compared_with(tmp_path):
    save(tmp_path / "2a.json", "2a", "median", [curve("pesc", [0.5], [10])])
    assert "less that of" not in rewritten(tmp_path, "<!-- table:2a -->\n<!-- end -->\n")


EFFICIENCIES = {"paper": [0.7, 0.8], "default": [1.0, 0.9]}


def test_a_table_of_accuracy(tmp_path):
    names = ("efficiency", "worst", "decoupled", "worst_decoupled", "correlation", "error", "ratio", "share_below")
    summary = {name: 0.1 * i for i, name in enumerate(names)}
    content = {"summary": {"paper": summary, "default": summary}, "sets": ["a", "b"], "seeds": 3}
    content |= {"truth_errors": [0.01, 0.02], "cpu_seconds": {"paper": 0.3, "default": 0.6}}
    each = {name: [[{"efficiency": value} for value in sets]] * 3 for name, sets in EFFICIENCIES.items()}
    content |= {"figures": each}
    write_json(tmp_path / "accuracy_2d.json", content)
    page = rewritten(tmp_path, "<!-- table:accuracy_2d -->\n<!-- end -->\n")
    assert "| `paper` | 0.000 | 0.100 | 0.200 | 0.300 | 0.400 | 0.500 | 0.600 | 0.700 | -0.2 ± 0.07 | 0.50 |" in page
    assert "2 data sets, 3 seeds; standard error of the true gains: 2.0% of the largest at most." in page


def test_a_table_of_times_tells_of_pesc_in_every_figure(tmp_path):
    save(tmp_path / "2a.json", "2a", "median", [curve(label, [0.5], [20]) for label in ("pesc", "eic")])
    save(tmp_path / "1c.json", "1c", "median", [curve("pesc-paper", [0.5], [10])])
    write_json(tmp_path / "1ab.json", {"figure": "1ab"})
    page = rewritten(tmp_path, "<!-- table:time -->\n<!-- end -->\n")
    first, second = page.splitlines()[4:6]
    assert first == "| 1c | `pesc-paper` | cpu | 8 | 10 | 9 | 0.50 | 60% | 20% | 0% | 20% | 0% | 0% |"
    assert second.startswith("| 2a | `pesc` |")
    assert "eic" not in page


def test_a_mark_without_end_takes_nothing_away_and_missing_results_are_named(tmp_path):
    page = rewritten(tmp_path, "<!-- table:2a -->\nkept\n<!-- table:2b -->\n<!-- end -->\n")
    assert page == "<!-- table:2a -->\nkept\n<!-- table:2b -->\n\n(not run yet)\n\n<!-- end -->\n"


@pytest.mark.parametrize("page", ["experiments.md", "pesc_options.md"])
def test_the_tables_of_the_pages_are_those_of_their_files(page):
    text = (DOCS / page).read_text()
    assert rewrite(text, DOCS / "experiments") == text


def test_a_page_without_marks_is_a_mistake(tmp_path, capsys):
    (tmp_path / "page.md").write_text("nothing\n")
    with pytest.raises(SystemExit):
        main([str(tmp_path / "page.md")])
    assert "no place for a table" in capsys.readouterr().err
