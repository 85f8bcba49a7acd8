import pickle

import pytest
import torch

from pesky.space import Space
from pesky.test_functions import Benchmark, decouple, gp_sample
from pesky.test_functions.gp_samples import DrawnFunctions, draw_functions, kernel
from pesky.test_functions.minimum import find_minimum


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture(scope="module")
def benchmark() -> Benchmark:
    return gp_sample(2, seeded(0))


def test_the_same_seed_gives_the_same_problem(benchmark):
    again = gp_sample(2, seeded(0))
    U = torch.rand(5, 2, dtype=torch.float64)
    assert torch.equal(again.truth(U), benchmark.truth(U))
    assert torch.equal(again.optimum, benchmark.optimum)


def test_another_seed_gives_other_functions():
    one, other = (draw_functions(2, 2, seeded(seed), 0.1, 1.0, 20) for seed in (0, 1))
    assert not torch.equal(one.weights, other.weights)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_no_random_point_beats_the_optimum(dim):
    benchmark = gp_sample(dim, seeded(1), constraints=2)
    U = torch.rand(20_000, dim, generator=seeded(3), dtype=torch.float64)
    rows = torch.cat([benchmark.truth(chunk) for chunk in U.split(2000)])
    feasible = (rows[:, 1:] >= 0).all(-1)
    assert benchmark.utility_gap(benchmark.optimum) == 0
    assert rows[feasible, 0].min().item() >= benchmark.optimum_value
    assert rows[:, 0].max().item() <= benchmark.worst_value


@pytest.mark.parametrize("dim", range(4, 9))
def test_more_dimensions_have_a_known_optimum_too(dim):
    benchmark = gp_sample(dim, seeded(1), points=300)
    assert isinstance(benchmark.truth, DrawnFunctions)
    assert len(benchmark.problem.parameters) == len(benchmark.optimum) == dim
    assert benchmark.utility_gap(benchmark.optimum) == 0
    # There the functions are narrow bumps around the points of the draw, between which random points fall.
    steps = torch.randn(3000, dim, generator=seeded(2), dtype=torch.float64)
    near = (benchmark.truth.centers.repeat(10, 1) + 0.05 * steps).clamp(0, 1)
    rows = benchmark.truth(torch.cat([near, benchmark.truth.centers]))
    feasible = (rows[:, 1:] >= 0).all(-1)
    assert rows[feasible, 0].min().item() >= benchmark.optimum_value
    assert rows[:, 0].max().item() <= benchmark.worst_value


def test_optimum_is_a_local_minimum(benchmark):
    steps = torch.randn(500, 2, generator=seeded(0), dtype=torch.float64)
    for size in (1e-2, 1e-4):
        near = (benchmark.optimum + size * steps).clamp(0, 1)
        rows = benchmark.truth(near)
        feasible = (rows[:, 1:] >= 0).all(-1)
        assert bool(feasible.any())
        assert rows[feasible, 0].min().item() >= benchmark.optimum_value - 1e-9


def test_draws_have_the_prior_covariance():
    functions = draw_functions(1, 20_000, seeded(0), lengthscale=0.1, amplitude=2.0, points=100)
    U = torch.tensor([[0.2], [0.25], [0.4]], dtype=torch.float64)
    values = functions(U)
    expected = kernel(U, U, 0.1, 2.0)
    assert expected[0, 1].item() == pytest.approx(2 * 0.8824969, rel=1e-6)
    assert torch.allclose(values @ values.mT / 20_000, expected, atol=0.05)
    assert torch.allclose(values.mean(-1), torch.zeros(3, dtype=torch.float64), atol=0.05)


def test_gradient_is_the_derivative():
    functions = draw_functions(2, 3, seeded(0), lengthscale=0.3, amplitude=1.0, points=50)
    u = torch.rand(2, generator=seeded(1), dtype=torch.float64)
    derivative = torch.autograd.functional.jacobian(lambda v: functions(v.unsqueeze(0))[0], u)
    assert isinstance(derivative, torch.Tensor)
    assert torch.allclose(functions.gradient(u), derivative, atol=1e-6)


def test_a_draw_without_feasible_point_has_no_minimum():
    centers = torch.rand(30, 2, generator=seeded(0), dtype=torch.float64)
    weights = torch.stack([torch.ones(30), -torch.ones(30)], -1).double()
    functions = DrawnFunctions(centers, weights, 0.3, 1.0)
    assert find_minimum(functions, centers, functions(centers), apart=0.1) is None


def test_infeasible_draws_are_drawn_again():
    # With so long a lengthscale a constraint is nearly constant: every other draw is nowhere feasible.
    for seed in range(3):
        benchmark = gp_sample(1, seeded(seed), lengthscale=3.0, points=50)
        assert benchmark.is_feasible(benchmark.optimum)


def test_noise_and_hyperparameters(benchmark):
    params = Space.of(benchmark.problem).decode(benchmark.optimum)
    generator = seeded(0)
    values = torch.tensor([list(benchmark.evaluate(params, generator).values()) for _ in range(1000)])
    truth = benchmark.truth(benchmark.optimum.unsqueeze(0))[0]
    assert torch.allclose(values.double().mean(0), truth, atol=0.02)
    assert values.std(0).tolist() == pytest.approx([0.1, 0.1], rel=0.1)
    assert benchmark.hyperparameters is not None
    assert benchmark.hyperparameters["c1"] == {
        "lengthscale": (0.1, 0.1),
        "amplitude": 1.0,
        "noise": 0.01,
        "mean": 0.0,
    }
    assert benchmark.problem.noise["f"] == pytest.approx(0.1)


def test_goes_to_another_process_unchanged(benchmark):
    again = pickle.loads(pickle.dumps(benchmark))
    assert again.problem == benchmark.problem
    assert again.utility_gap(benchmark.optimum) == 0


def test_decoupled_has_one_task_per_outcome(benchmark):
    assert {name: task.outcomes for name, task in decouple(benchmark).problem.tasks.items()} == {
        "f": ("f",),
        "c1": ("c1",),
    }
    assert decouple(benchmark).problem.constraints == benchmark.problem.constraints
