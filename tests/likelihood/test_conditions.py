"""Several conditions of one row: intervals, margins and probabilities."""

import math

import torch

from pesky.likelihood import Conditions, Likelihoods


def phi(a: float) -> float:
    return 0.5 * math.erfc(-a / math.sqrt(2))


BAND = Conditions((1, 1, 2, 0), (1, -1, 1, -1), torch.tensor([0.0, 0.2, 0.0, 1.5]), 4)
"""0 <= row 1 <= 0.2, a yes or no, and an objective of at most 1.5; the last row has none."""
ROWS = Likelihoods(("gaussian", "gaussian", "probit", "gaussian"), BAND)


def test_intervals_of_rows():
    assert BAND.low.tolist() == [-math.inf, 0.0, 0.0, -math.inf]
    assert BAND.high.tolist() == [1.5, 0.2, math.inf, math.inf]
    assert BAND.is_limited.tolist() == [True, True, True, False]
    upper, low, high = BAND.limits
    assert (upper.tolist(), low.item(), high.item()) == ([0.2, math.inf, math.inf], -math.inf, 1.5)
    tight = Conditions((1, 1, 1), (1, 1, -1), torch.tensor([[0.0, -1.0, 2.0], [0.0, -3.0, 1.0]]), 2)
    assert tight.low.tolist() == [[-math.inf, 0.0]] * 2
    assert tight.high.tolist() == [[math.inf, 2.0], [math.inf, 1.0]]


def test_a_band_of_a_tenth_either_side_of_the_mean_holds_with_8_percent():
    mean, variance = torch.tensor([[0.5], [0.1], [0.3], [0.0]]), torch.tensor([[4.0], [1.0], [3.0], [1.0]])
    band, answer, objective = phi(0.1) - phi(-0.1), phi(0.15), phi(0.5)
    found = ROWS.feasibility(mean, variance)[:, 0].tolist()
    for p, expected in zip(found, [objective, band, answer, 1.0], strict=True):
        assert abs(p - expected) < 1e-12
    assert abs(found[1] - 0.0797) < 1e-4
    total = ROWS.log_all_hold(mean, variance).exp().item()
    assert abs(total - band * answer * objective) < 1e-12


def test_each_condition_has_a_probability_of_its_own():
    mean, variance = torch.tensor([[0.5], [0.15], [0.3], [0.0]]), torch.tensor([[4.0], [0.01], [3.0], [1.0]])
    found = ROWS.holds(mean, variance)[:, 0].tolist()
    for p, expected in zip(found, [phi(1.5), phi(0.5), phi(0.15), phi(0.5)], strict=True):
        assert abs(p - expected) < 1e-12


def test_margins_and_inequalities_follow_the_order_of_the_conditions():
    values = torch.tensor([[1.0, 2.0], [0.1, 0.5], [-1.0, 3.0], [9.0, 9.0]])
    assert torch.allclose(BAND.margins(values), torch.tensor([[0.1, 0.5], [0.1, -0.3], [-1.0, 3.0], [0.5, -0.5]]))
    assert torch.allclose(BAND.inequalities(values)[0], values[0])
    assert BAND.units(torch.tensor([1.0, 2.0, 3.0, 4.0])).tolist() == [1.0, 2.0, 2.0, 3.0, 1.0]


def test_without_conditions_every_row_but_the_first_must_be_zero_or_above():
    plain = Likelihoods(("gaussian", "gaussian", "probit"))
    stated = Likelihoods(plain.kinds, Conditions((1, 2), (1, 1), torch.zeros(2), 3))
    g = torch.Generator().manual_seed(0)
    mean, variance = torch.randn(3, 7, generator=g), torch.rand(3, 7, generator=g)
    torch.testing.assert_close(plain.holds(mean, variance), stated.holds(mean, variance))
    torch.testing.assert_close(plain.feasibility(mean, variance)[1:], stated.feasibility(mean, variance)[1:])
    torch.testing.assert_close(plain.log_all_hold(mean, variance), stated.log_all_hold(mean, variance))
