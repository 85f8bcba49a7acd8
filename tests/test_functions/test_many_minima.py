"""Optima that local searches from all over the box miss: what else speaks for them."""

import math

import pytest
import torch
from test_functions.test_optima import local_minimum

from pesky.test_functions import ackley10, keane_bump


def test_no_other_pattern_of_the_bump_is_better():
    # Minima have coordinates near pi, near pi / 2 and near 0.37, in this order, since later ones weigh more.
    benchmark = keane_bump()
    values = {}
    for threes in (3, 4, 5):
        for halves in (0, 1):
            x = [3.05] * threes + [1.5] * halves + [0.37] * (10 - threes - halves)
            end = local_minimum(benchmark, torch.tensor(x, dtype=torch.float64) / 10)
            row = benchmark.truth(end.unsqueeze(0))[0]
            if bool((row[1:] >= 0).all()):
                values[threes, halves] = row[0].item()
    assert min(values.values()) >= benchmark.optimum_value
    assert values[4, 1] == pytest.approx(benchmark.optimum_value, rel=1e-7)


def test_swapping_coordinates_of_the_bump_makes_it_worse():
    benchmark = keane_bump()
    for j in range(9):
        swapped = benchmark.optimum.clone()
        swapped[[j, j + 1]] = benchmark.optimum[[j + 1, j]]
        assert benchmark.truth(swapped.unsqueeze(0))[0, 0].item() > benchmark.optimum_value


def test_ackley_rises_from_its_cusp_in_every_direction():
    benchmark = ackley10()
    steps = torch.randn(1000, 10, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    steps = steps / steps.norm(dim=-1, keepdim=True)
    for size in (1e-9, 1e-6, 1e-4):
        values = benchmark.truth(benchmark.optimum + size * steps / 15)[:, 0]
        assert values.tolist() == pytest.approx([size * 4 / math.sqrt(10)] * 1000, rel=1e-2)
    # both of its terms are zero at the least
    assert bool((benchmark.truth(torch.rand(1000, 10, dtype=torch.float64))[:, 0] > 0).all())


def test_the_worst_of_ackley_has_equal_coordinates():
    # f is concave in s, the mean of x_i^2, and c, that of cos(2 pi x_i): no point is above the plane that touches it.
    x = 9.540020933902302
    slope_s, slope_c = 2 * math.exp(-0.2 * x) / x, math.exp(math.cos(2 * math.pi * x))
    line = torch.linspace(-5, 10, 150_001, dtype=torch.float64)
    plane = slope_s * line**2 - slope_c * torch.cos(2 * math.pi * line)
    assert plane.max().item() == pytest.approx(slope_s * x**2 - slope_c * math.cos(2 * math.pi * x), rel=1e-8)
