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
from pesky.test_functions import (
    PROBLEMS,
    Benchmark,
    branin_disk,
    crescent,
    gardner1,
    gardner2,
    hartmann6,
    pressure_vessel,
    speed_reducer,
    spring,
    welded_beam,
)


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
}
# Local searches stay this far inside, so that where they end is feasible without tolerance.
MARGIN = 1e-10


@pytest.fixture(scope="module", params=PROBLEMS)
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
    scale = abs(benchmark.optimum_value)

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
    u = benchmark.optimum
    slopes = torch.autograd.functional.jacobian(lambda v: benchmark.truth(v.unsqueeze(0))[0], u)
    assert isinstance(slopes, torch.Tensor)
    # The objective's gradient is a combination, with weights >= 0, of those of what is active: constraints and bounds.
    inward = torch.diag((u == 0).double() - (u == 1).double())
    active = torch.cat([slopes[sorted(CLAIMS[name].active)], inward[inward.abs().sum(-1) > 0]])
    residual = nnls(active.mT.numpy(), slopes[0].numpy())[1] if len(active) else slopes[0].norm().item()
    assert residual <= 1e-12 * max(1.0, slopes[0].norm().item())


def test_no_local_search_finds_a_better_point(benchmark, dense):
    U, rows = dense
    feasible = (rows[:, 1:] >= 0).all(-1)
    lowest = U[feasible][rows[feasible, 0].argsort()[:5]]
    ends = torch.stack([local_minimum(benchmark, start) for start in torch.cat([lowest, U[:15]])])
    values = benchmark.truth(ends)
    best = values[(values[:, 1:] >= 0).all(-1), 0].min().item()
    assert best >= benchmark.optimum_value - 1e-12 * abs(benchmark.optimum_value)
    assert best == pytest.approx(benchmark.optimum_value, rel=1e-7)


def test_no_point_of_a_dense_search_is_better_or_worse_than_the_extremes(benchmark, dense):
    _, rows = dense
    steps = torch.randn(2**14, len(benchmark.optimum), generator=torch.Generator().manual_seed(0))
    sizes = torch.logspace(-6, -1, len(steps), dtype=torch.float64).unsqueeze(-1)
    near = benchmark.truth((benchmark.optimum + sizes * steps).clamp(0, 1))
    for part in (rows, near):
        feasible = (part[:, 1:] >= 0).all(-1)
        assert feasible.sum() >= 8
        assert part[feasible, 0].min().item() >= benchmark.optimum_value
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


def test_constraints_hold_together_with_probability_95_percent(benchmark):
    confidences = benchmark.problem.confidences
    assert sum(1 - confidence for confidence in confidences) == pytest.approx(0.05)
    assert benchmark.problem.outcomes == ("f", *(f"c{k}" for k in range(1, len(confidences) + 1)))


def test_goes_to_another_process_unchanged(benchmark):
    again = pickle.loads(pickle.dumps(benchmark))
    assert again.problem == benchmark.problem
    assert torch.equal(again.truth(benchmark.optimum.unsqueeze(0)), benchmark.truth(benchmark.optimum.unsqueeze(0)))


@pytest.mark.parametrize(
    "make",
    [gardner1, gardner2, branin_disk, crescent, hartmann6, pressure_vessel, welded_beam, spring, speed_reducer],
)
def test_noise_is_the_standard_deviation_of_every_outcome(make):
    benchmark = make(noise=0.3, confidence=0.9)
    params = Space.of(benchmark.problem).decode(benchmark.optimum)
    generator = torch.Generator().manual_seed(0)
    values = torch.tensor([list(benchmark.evaluate(params, generator).values()) for _ in range(300)])
    assert values.std(0).tolist() == pytest.approx([0.3] * values.shape[1], rel=0.2)
    assert set(benchmark.problem.noise.values()) == {0.3}
    assert set(benchmark.problem.confidences) == {0.9}
    quiet = make()
    assert set(quiet.problem.noise.values()) == {quiet.noise} == {0.0}
