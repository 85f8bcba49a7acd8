"""The optima of problems with integers and choices: every combination, with the best of the other parameters."""

import itertools
import math
import pickle

import numpy as np
import pytest
import torch

from pesky import Budget, Study
from pesky.space import Space
from pesky.test_functions import (
    Benchmark,
    concrete_beam,
    pressure_vessel_plates,
    process_synthesis,
    spring_turns,
)
from pesky.test_functions.concrete_beam import AREAS

# Of each, the point that is the worst.
WORST = {
    pressure_vessel_plates: (99, 99, 200, 200),
    spring_turns: (2, 1.3, 15),
    concrete_beam: (8.4, 40, 10),
    process_synthesis: (0,) * 7,
}


@pytest.fixture(params=WORST, ids=lambda make: make.__name__)
def make(request):
    return request.param


@pytest.fixture
def benchmark(make) -> Benchmark:
    return make()


def test_plates():
    s, h, share = np.meshgrid(np.arange(1, 100) / 16, np.arange(1, 100) / 16, np.linspace(0, 1, 301), indexing="ij")
    # the radii that c1 and c2 allow, with the least length that c3 allows: the cost grows with the length
    r = 10 + share * (np.minimum(np.minimum(s / 0.0193, h / 0.00954), 200) - 10)
    length = np.maximum((1296000 - 4 / 3 * np.pi * r**3) / (np.pi * r**2), 10)
    cost = 0.6224 * s * r * length + 1.7781 * h * r**2 + 3.1661 * s**2 * length + 19.84 * s**2 * r
    cost[(r < 10) | (length > 200)] = np.inf
    best = np.unravel_index(cost.argmin(), cost.shape)
    assert (s[best] * 16, h[best] * 16, share[best]) == (13, 7, 1)
    assert cost.min() == pytest.approx(pressure_vessel_plates().optimum_value, rel=1e-14)
    assert cost.min() == pytest.approx(6059.714335, abs=1e-6)  # the literature's


def test_turns():
    wire = torch.logspace(math.log10(0.05), math.log10(2), 50_000, dtype=torch.float64)
    benchmark = spring_turns()
    low, high = torch.tensor([0.05, 0.25]), torch.tensor([2.0, 1.3])
    best = {}
    for turns in range(2, 16):
        # the least coil that c1 allows: the weight grows with it
        coil = (71785 * wire**4 / turns * (1 + 1e-12)) ** (1 / 3)
        X = torch.stack([wire, coil.clamp(min=0.25)], -1)[coil <= 1.3]
        U = torch.cat([(X - low) / (high - low), torch.full((len(X), 1), (turns - 1.5) / 14)], -1)
        rows = benchmark.truth(U.double())
        best[turns] = rows[(rows[:, 1:] >= 0).all(-1), 0].min().item()
    assert min(best, key=best.__getitem__) == 11
    assert benchmark.optimum_value <= best[11] <= benchmark.optimum_value * (1 + 2e-4) < best[12]


def test_concrete():
    costs = {}
    for a, b in itertools.product(AREAS, range(28, 41)):
        # the least width that both constraints allow: the cost grows with it
        h = max(5, b / 4, 7.375 * a**2 / (a * b - 180) if a * b > 180 else math.inf)
        if h <= 10:
            costs[a, b, h] = 29.4 * a + 0.6 * b * h
    assert min(costs, key=costs.__getitem__) == (6.32, 34, 8.5)
    assert min(costs.values()) == pytest.approx(concrete_beam().optimum_value, rel=1e-14)


def test_process():
    values = {}
    for y1, y2, y3, y4 in itertools.product((0, 1), repeat=4):
        # without c1 and c2 every size is by itself, and best as large as it may be: no more than 1, 2 and 3
        x1 = min(1.2 - y1, 1.2 - y4, 1)
        x2 = min(1.8 - y2, math.sqrt(1.64 - y2), 2)
        x3 = min(2.5 - y3, math.sqrt(4.25 - y3), math.sqrt(4.64 - y2), 3)
        rest = (y1 - 1) ** 2 + (y2 - 2) ** 2 + (y3 - 1) ** 2 - math.log(y4 + 1)
        values[x1, x2, x3, y1, y2, y3, y4] = (x1 - 1) ** 2 + (x2 - 2) ** 2 + (x3 - 3) ** 2 + rest
    best = min(values, key=values.__getitem__)
    benchmark = process_synthesis()
    # the best without them holds them as well
    params = dict(zip(benchmark.problem.parameters, best, strict=True))
    assert benchmark.is_feasible(params)
    assert benchmark.utility_gap(params) < 1e-14
    assert values[best] == pytest.approx(benchmark.optimum_value, rel=1e-14)
    assert values[best] == pytest.approx(4.579582, abs=1e-6)  # the literature's


def test_optimum_is_feasible_and_its_value_is_as_claimed(benchmark):
    params = Space.of(benchmark.problem).decode(benchmark.optimum)
    values = benchmark.evaluate(params, torch.Generator())
    assert min(list(values.values())[1:]) >= -1e-12
    assert values["f"] == pytest.approx(benchmark.optimum_value, rel=1e-14)
    assert benchmark.utility_gap(params) == benchmark.utility_gap(benchmark.optimum) <= 1e-14 * benchmark.optimum_value


def test_no_point_of_a_dense_search_is_better_or_worse_than_the_extremes(make, benchmark):
    space = Space.of(benchmark.problem)
    U = space.sobol(2**17, seed=0)
    steps = torch.randn(2**14, space.dim, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    sizes = torch.logspace(-6, -1, len(steps), dtype=torch.float64).unsqueeze(-1)
    for part in (U, (benchmark.optimum + sizes * steps).clamp(0, 1)):
        rows = benchmark.truth(part)
        feasible = (rows[:, 1:] >= 0).all(-1)
        assert feasible.sum() >= 8
        assert rows[feasible, 0].min().item() >= benchmark.optimum_value
        assert rows[:, 0].max().item() <= benchmark.worst_value
    worst = dict(zip(benchmark.problem.parameters, WORST[make], strict=True))
    assert benchmark.evaluate(worst, torch.Generator())["f"] == pytest.approx(benchmark.worst_value, rel=1e-13)


def test_truth_is_that_of_the_values_that_a_point_stands_for(benchmark):
    space = Space.of(benchmark.problem)
    U = torch.rand(200, space.dim, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert torch.equal(benchmark.truth(U), benchmark.truth(space.snap(U)))
    for u, row in zip(U[:20], benchmark.truth(U[:20]), strict=True):
        assert list(benchmark.evaluate(space.decode(u)).values()) == pytest.approx(row.tolist(), rel=1e-12, abs=1e-12)


def test_a_study_runs_it_and_another_process_gets_it(benchmark):
    study = Study(benchmark.problem, rule="random")
    assert study.run(benchmark.evaluate, Budget(evaluations=3, confirm=0)).failed == 0
    assert all(0 < benchmark.utility_gap(evaluation.params) < math.inf for evaluation in study.evaluations.values())
    again = pickle.loads(pickle.dumps(benchmark))
    assert again.problem == benchmark.problem
    assert torch.equal(again.truth(benchmark.optimum.unsqueeze(0)), benchmark.truth(benchmark.optimum.unsqueeze(0)))
