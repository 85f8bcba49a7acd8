import json

import numpy as np
import pytest

from experiments.compare import compare
from experiments.curves import Curve, keep, load, save


def made(label: str, realisations: int = 40, counts: int = 20, seed: int = 0, factor: float = 1.0) -> Curve:
    """A curve of gaps whose logarithms are normal around 1 / count; the same seed has the same realisations."""
    numbers = list(range(3, counts + 1))
    normal = np.random.default_rng(seed).normal(size=(realisations, len(numbers)))
    gaps = factor * np.exp(normal) / np.array(numbers)
    feasible = np.arange(realisations)[:, None] >= np.array(numbers[::-1])  # the last recommendation: 3 are infeasible
    return Curve(label, numbers, gaps, feasible, "cpu", 12.34, {"x*": 0.123456, "ep": 2.0}, f"python -m made {label}")


def test_what_is_kept_are_statistics_at_every_count_and_gaps_at_milestones():
    curve = made("pesc", realisations=400)
    kept = keep(curve)
    assert kept.median.value == pytest.approx(np.median(curve.gaps, axis=0), rel=1e-3)
    assert kept.mean.value == pytest.approx(curve.gaps.mean(0), rel=1e-3)
    assert kept.mean.error == pytest.approx(curve.gaps.std(0) / 20, rel=0.15)
    # The error of a median is 1 / (2 density sqrt(R)), and the density of exp(z) / n at its own, 1 / n, n / sqrt(2 pi).
    expected = np.sqrt(2 * np.pi) / np.array(curve.counts) / 2 / 20
    assert np.mean(np.array(kept.median.error) / expected) == pytest.approx(1.0, rel=0.15)
    assert all(low <= value <= high for low, value, high in zip(*band(kept.median), strict=True))
    assert list(kept.gaps) == [10, 20]
    assert kept.gaps[20] == pytest.approx(curve.gaps[:, -1], rel=5e-3)
    assert kept.infeasible[-1] == pytest.approx(3 / 400)
    assert (kept.realisations, kept.seconds, kept.per_step) == (400, 12.3, {"x*": 0.1235, "ep": 2.0})


def band(estimate):
    return estimate.low, estimate.value, estimate.high


def test_a_run_too_short_for_milestones_keeps_its_last_gaps():
    assert list(keep(made("pesc", counts=6)).gaps) == [6]


def test_what_is_loaded_is_what_was_saved(tmp_path):
    path = tmp_path / "new" / "2a.json"
    saved = save(path, "2a", "median", [made("pesc"), made("eic", seed=1)])
    loaded = load(path)
    assert (loaded.figure, loaded.statistic, list(loaded.curves)) == ("2a", "median", ["pesc", "eic"])
    for label, kept in saved.curves.items():
        assert loaded.curves[label].median == kept.median
        assert np.array_equal(loaded.curves[label].gaps[10], kept.gaps[10])
        assert loaded.curves[label].command == f"python -m made {label}"


def test_curves_are_added_to_those_in_the_file_and_replace_those_of_their_label(tmp_path):
    path = tmp_path / "2a.json"
    save(path, "2a", "median", [made("pesc"), made("eic")])
    save(path, "2a", "median", [made("random"), made("pesc", realisations=7)])
    curves = load(path).curves
    assert {label: kept.realisations for label, kept in curves.items()} == {"pesc": 7, "eic": 40, "random": 40}
    with pytest.raises(ValueError, match="holds figure '2a'"):
        save(path, "2b", "median", [made("pesc")])


def test_the_file_is_small_and_the_same_again(tmp_path):
    contents = []
    for name in ("one", "other"):
        save(tmp_path / name, "2a", "median", [made("pesc", realisations=500, counts=50)])
        contents.append((tmp_path / name).read_text())
    assert contents[0] == contents[1]
    assert 7 * len(contents[0]) < 300_000
    assert max(len(line) for line in contents[0].splitlines()) > 500  # a list is a line
    assert list(json.loads(contents[0])["curves"]["pesc"]["gaps"]) == ["10", "20", "30", "40", "50"]


def test_refuses_gaps_that_fit_no_counts_or_are_no_gaps():
    good = made("pesc")
    with pytest.raises(ValueError, match="a column per count"):
        Curve("pesc", [3], good.gaps, good.feasible, "cpu", 1.0, {}, "")
    with pytest.raises(ValueError, match="a row per realisation"):
        Curve("pesc", good.counts, good.gaps, good.feasible[:3], "cpu", 1.0, {}, "")
    for wrong in (np.nan, -0.1):
        with pytest.raises(ValueError, match="negative or not finite"):
            Curve("pesc", good.counts, np.where(good.gaps > 0.1, wrong, 1.0), good.feasible, "cpu", 1.0, {}, "")


def test_rules_on_the_same_realisations_are_compared_in_pairs():
    reference = keep(made("pesc", realisations=300))
    twice = keep(made("eic", realisations=300, factor=2.0))
    found = compare(twice, reference, 20)
    assert found.realisations == 300
    assert found.log10.value == pytest.approx(np.log10(2.0), abs=1e-3)
    assert found.log10.error < 1e-3  # every realisation is twice as bad: only the three digits differ
    assert found.mean.value == pytest.approx(reference.gaps[20].mean(), rel=1e-2)


def test_the_errors_of_differences_are_those_of_statistics():
    ours, theirs = (keep(made(label, realisations=300, seed=seed)) for label, seed in (("eic", 1), ("pesc", 2)))
    a, b = ours.gaps[20], theirs.gaps[20]
    assert compare(ours, theirs, 20).mean.error == pytest.approx((a - b).std() / 300**0.5, rel=0.1)


def test_of_a_rule_with_fewer_realisations_those_of_both_are_compared():
    many, few = made("pesc", realisations=300), made("eic", realisations=300, factor=2.0)
    few = Curve("eic", few.counts, few.gaps[:150], few.feasible[:150], "cpu", 1.0, {}, "")
    for ours, theirs, sign in ((few, many, 1), (many, few, -1)):
        found = compare(keep(ours), keep(theirs), 20)
        assert found.realisations == 150
        assert found.log10.value == pytest.approx(sign * np.log10(2.0), abs=1e-3)
        assert found.log10.error < 1e-3


def test_gaps_of_zero_have_the_logarithm_of_the_floor():
    curve = made("pesc")
    zero = Curve("zero", curve.counts, 0.0 * curve.gaps, curve.feasible, "cpu", 1.0, {}, "")
    floor = Curve("floor", curve.counts, 0.0 * curve.gaps + 1e-9, curve.feasible, "cpu", 1.0, {}, "")
    assert compare(keep(zero), keep(floor), 20).log10.value == 0.0
    with pytest.raises(ValueError, match=r"after 15 evaluations for pesc, zero: compare at one of \[10, 20\]"):
        compare(keep(curve), keep(zero), 15)
