from dataclasses import astuple

import pytest
import torch

from benchmarks.agreement import Agreement, compare, correlation, summarize

TRUTH = torch.tensor([[0.0, 1.0, 2.0, 0.0], [0.5, 0.0, 1.0, 2.5]])


def test_perfect_agreement():
    assert astuple(compare(TRUTH, TRUTH)) == pytest.approx((1.0, 0.0, 1.0, 1.0, 1.0))


def test_figures_computed_by_hand():
    # Totals: ours 0, 2, 1, 0; true 0.5, 1, 3, 2.5. Our best total and single gain (row 0) are at point 1.
    ours = torch.tensor([[0.0, 1.5, 1.0, 0.0], [0.0, 0.5, 0.0, 0.0]])
    figures = compare(ours, TRUTH)
    assert figures.error == pytest.approx(2.5 / 3)
    assert figures.ratio == pytest.approx(2 / 3)
    assert figures.efficiency == pytest.approx(1 / 3)
    assert figures.decoupled == pytest.approx(1.0 / 2.5)
    expected = torch.corrcoef(torch.stack([ours.sum(0), TRUTH.sum(0)]))[0, 1]
    assert figures.correlation == pytest.approx(expected.item())


def test_a_constant_curve_has_no_correlation():
    assert correlation(torch.ones(4), TRUTH[0]) == 0.0


def test_summary_over_seeds_and_sets():
    def figures(efficiency: float) -> Agreement:
        return Agreement(0.9, 0.2, 1.0, efficiency, efficiency - 0.1)

    summary = summarize([[figures(1.0), figures(0.8)], [figures(0.95), figures(0.95)]])
    assert summary.efficiency == pytest.approx(0.925)
    assert summary.decoupled == pytest.approx(0.825)
    assert summary.share_below == pytest.approx(0.25)
    assert summary.seed_sd == pytest.approx(0.05 / 2**0.5)
    assert summary.worst == pytest.approx(0.8)
    assert summary.worst_decoupled == pytest.approx(0.7)
    assert summarize([[figures(1.0)]]).seed_sd == 0.0
