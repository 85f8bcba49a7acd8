"""What every test problem claims of its optimum and of its worst point, checked in the same way for all of them."""

import math
import pickle
from typing import NamedTuple

import numpy as np
import pytest
import torch
from scipy.optimize import minimize, nnls
from torch.quasirandom import SobolEngine

from pesky.space import Space
from pesky.test_functions import PROBLEMS, Benchmark


class Claim(NamedTuple):
    """What is said of a problem.

    value:     the objective at the optimum, as far as the literature has it
    active:    the constraints that are active there
    at_bound:  the parameters that are at a bound there
    worst:     a point, in the problem's units, where the objective is highest
    """

    value: float
    active: set[int]
    at_bound: set[str]
    worst: tuple[float, ...]


CLAIMS = {
    "toy": Claim(0.59979, {1}, set(), (1, 1)),
    "gardner1": Claim(-2.0, set(), {"y"}, (math.pi / 2, math.pi)),
    "gardner2": Claim(0.25324, {1}, set(), (math.pi / 2, 6)),
    "branin-disk": Claim(0.397887, set(), set(), (-5, 0)),
    "crescent": Claim(-6961.8139, {1, 2}, set(), (100, 100)),
    "hartmann6": Claim(-3.32237, set(), set(), (1, 1, 0, 1, 1, 1)),
    "pressure-vessel": Claim(5885.3328, {1, 2, 3}, {"length"}, (6.1875, 6.1875, 200, 200)),
    "welded-beam": Claim(1.724852, {1, 2, 3, 7}, set(), (2, 10, 10, 2)),
    "spring": Claim(0.012665, {1, 2}, set(), (2, 1.3, 15)),
    "speed-reducer": Claim(
        2996.3482, {5, 6, 8}, {"module", "teeth", "length_1", "length_2"}, (3.6, 0.8, 28, 8.3, 8.3, 3.9, 5.5)
    ),
    "g04": Claim(-30665.538672, {2, 5}, {"x1", "x2", "x4"}, (102, 45, 45, 45, 45)),
    "g07": Claim(24.306209068, {1, 2, 3, 4, 5, 6}, set(), (-10,) * 10),
    "g08": Claim(-0.0958250414, set(), set(), (0, 0.71514832656210138)),
    "g09": Claim(680.630057374, {1, 4}, set(), (-10, -10, -10, -10, -10, -10, 10)),
    "g10": Claim(7049.248020529, {1, 2, 3, 4, 5, 6}, set(), (10000,) * 3 + (10,) * 5),
    "g12": Claim(-1, set(), set(), (0, 0, 0)),
    "g24": Claim(-5.508013272, {1, 2}, set(), (0, 0)),
    "keane-bump": Claim(-0.747310, {1}, set(), (math.pi / 2,) * 10),
    "mishra-bird": Claim(-106.764537, set(), set(), (-10, 0)),
    "townsend": Claim(-2.0239884, {1}, set(), (2.25, -2.161620606368786)),
    "simionescu": Claim(-0.072, {1}, set(), (1.25, 1.25)),
    "gomez-levy": Claim(-1.031628453, set(), set(), (-1, -1)),
    "ackley10": Claim(0.0, {1}, set(), (9.540020933902302,) * 10),
    "three-bar-truss": Claim(263.895843, {1}, set(), (1, 1)),
    "cantilever": Claim(1.339956, {1}, set(), (100,) * 5),
    "car-side-impact": Claim(23.585658, {7, 8, 10}, {"x1", "x3", "x5", "x7"}, (1.5, 1.35, 1.5, 1.5, 2.625, 1.2, 1.2)),
}
# Local searches stay this far inside, so that where they end is feasible without tolerance.
MARGIN = 1e-10
# So few points are feasible that a dense search finds a handful at most.
RARE = {"g07", "g10", "ackley10"}
# So many local minima, or so sharp a one, that twenty searches do not find the optimum: `test_many_minima.py`.
RUGGED = {"keane-bump", "ackley10"}


@pytest.fixture(scope="module", params=CLAIMS)
def name(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def benchmark(name) -> Benchmark:
    return PROBLEMS[name]()


@pytest.fixture(scope="module")
def dense(benchmark) -> tuple[torch.Tensor, torch.Tensor]:
    """Points all over the unit cube, and their rows."""
    U = SobolEngine(len(benchmark.optimum), scramble=True, seed=0).draw(2**17, dtype=torch.float64)
    return U, benchmark.truth(U)


def difference_quotients(benchmark: Benchmark, x: np.ndarray) -> np.ndarray:
    """The gradients of all rows, (J, d), by central differences in one call."""
    steps = 1e-6 * torch.eye(len(x), dtype=torch.float64)
    rows = benchmark.truth(torch.cat([torch.from_numpy(x) + steps, torch.from_numpy(x) - steps]))
    ahead, behind = rows.chunk(2)
    return ((ahead - behind) / 2e-6).mT.numpy()


def local_minimum(benchmark: Benchmark, start: torch.Tensor) -> torch.Tensor:
    """Where SLSQP ends, from `start`."""
    scale = abs(benchmark.optimum_value) or 1.0

    def row(x: np.ndarray) -> np.ndarray:
        return benchmark.truth(torch.from_numpy(x).unsqueeze(0))[0].numpy()

    found = minimize(
        lambda x: row(x)[0] / scale,
        start.numpy(),
        jac=lambda x: difference_quotients(benchmark, x)[0] / scale,
        bounds=[(0, 1)] * len(start),
        constraints={
            "type": "ineq",
            "fun": lambda x: row(x)[1:] - MARGIN,
            "jac": lambda x: difference_quotients(benchmark, x)[1:],
        },
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 200},
    )
    return torch.as_tensor(found.x).clamp(0, 1)


def test_optimum_is_feasible_and_its_value_is_as_claimed(name, benchmark):
    value = benchmark.truth(benchmark.optimum.unsqueeze(0))[0, 0].item()
    assert benchmark.is_feasible(benchmark.optimum)
    assert value == pytest.approx(benchmark.optimum_value, rel=1e-14)
    assert value == pytest.approx(CLAIMS[name].value, rel=3e-5)
    assert benchmark.utility_gap(benchmark.optimum) <= 1e-14 * abs(value)


def test_optimum_stays_feasible_as_parameters(benchmark):
    params = Space.of(benchmark.problem).decode(benchmark.optimum)
    values = list(benchmark.evaluate(params, torch.Generator()).values())
    assert min(values[1:]) >= -1e-12


def test_active_constraints_and_bounds_are_those_claimed(name, benchmark):
    constraints = benchmark.truth(benchmark.optimum.unsqueeze(0))[0, 1:]
    active = {k for k, c in enumerate(constraints.tolist(), 1) if c < 1e-2}
    assert active == CLAIMS[name].active
    assert all(abs(constraints[k - 1]) < 1e-13 for k in active)
    at_bound = {key for key, u in zip(benchmark.problem.parameters, benchmark.optimum, strict=True) if u in (0, 1)}
    assert at_bound == CLAIMS[name].at_bound


def test_optimum_satisfies_the_conditions_of_a_constrained_minimum(name, benchmark):
    if name == "ackley10":
        pytest.skip("its optimum is a cusp")
    u = benchmark.optimum
    slopes = torch.autograd.functional.jacobian(lambda v: benchmark.truth(v.unsqueeze(0))[0], u)
    assert isinstance(slopes, torch.Tensor)
    # The objective's gradient is a combination, with weights >= 0, of those of what is active: constraints and bounds.
    inward = torch.diag((u == 0).double() - (u == 1).double())
    active = torch.cat([slopes[sorted(CLAIMS[name].active)], inward[inward.abs().sum(-1) > 0]])
    residual = nnls(active.mT.numpy(), slopes[0].numpy())[1] if len(active) else slopes[0].norm().item()
    assert residual <= 1e-12 * max(1.0, slopes[0].norm().item())


def test_no_local_search_finds_a_better_point(name, benchmark, dense):
    U, rows = dense
    feasible = (rows[:, 1:] >= 0).all(-1)
    lowest = U[feasible][rows[feasible, 0].argsort()[:5]]
    ends = torch.stack([local_minimum(benchmark, start) for start in torch.cat([lowest, U[:15]])])
    values = benchmark.truth(ends)
    best = values[(values[:, 1:] >= 0).all(-1), 0].min().item()
    assert best >= benchmark.optimum_value - 1e-12 * abs(benchmark.optimum_value)
    assert name in RUGGED or best == pytest.approx(benchmark.optimum_value, rel=1e-7)


def test_no_point_of_a_dense_search_is_better_or_worse_than_the_extremes(name, benchmark, dense):
    _, rows = dense
    steps = torch.randn(2**14, len(benchmark.optimum), generator=torch.Generator().manual_seed(0))
    sizes = torch.logspace(-6, -1, len(steps), dtype=torch.float64).unsqueeze(-1)
    near = benchmark.truth((benchmark.optimum + sizes * steps).clamp(0, 1))
    for part, least in ((rows, 0 if name in RARE else 8), (near, 1 if name in RARE else 8)):
        feasible = (part[:, 1:] >= 0).all(-1)
        assert feasible.sum() >= least
        assert bool((part[feasible, 0] >= benchmark.optimum_value).all())
        assert part[:, 0].max().item() <= benchmark.worst_value
        assert bool(part.isfinite().all())


def test_worst_value_is_attained_and_no_local_search_exceeds_it(name, benchmark, dense):
    params = dict(zip(benchmark.problem.parameters, CLAIMS[name].worst, strict=True))
    assert benchmark.evaluate(params, torch.Generator())["f"] == pytest.approx(benchmark.worst_value, rel=1e-13)
    U, rows = dense
    highest = U[rows[:, 0].argsort(descending=True)[:5]]
    for start in torch.cat([highest, U[:10]]):
        end = minimize(
            lambda x: -benchmark.truth(torch.from_numpy(x).unsqueeze(0))[0, 0].item(),
            start.numpy(),
            jac=lambda x: -difference_quotients(benchmark, x)[0],
            bounds=[(0, 1)] * len(start),
            method="L-BFGS-B",
        )
        assert -end.fun <= benchmark.worst_value + 1e-12 * abs(benchmark.worst_value)


def test_goes_to_another_process_unchanged(benchmark):
    again = pickle.loads(pickle.dumps(benchmark))
    assert again.problem == benchmark.problem
    assert torch.equal(again.truth(benchmark.optimum.unsqueeze(0)), benchmark.truth(benchmark.optimum.unsqueeze(0)))
