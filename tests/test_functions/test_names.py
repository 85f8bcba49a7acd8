import inspect

import pytest
import torch

import pesky.test_functions
from pesky.errors import ProblemError
from pesky.test_functions import PROBLEMS, Benchmark, problem_by_name, toy

SIZES = {
    "toy": (2, 2), "gardner1": (2, 1), "gardner2": (2, 1), "branin-disk": (2, 1), "crescent": (2, 2),
    "hartmann6": (6, 1), "pressure-vessel": (4, 4), "welded-beam": (4, 7), "spring": (3, 4), "speed-reducer": (7, 11),
    "g04": (5, 6), "g07": (10, 8), "g08": (2, 2), "g09": (7, 4), "g10": (8, 6), "g12": (3, 1), "g24": (2, 2),
    "keane-bump": (10, 2), "mishra-bird": (2, 1), "townsend": (2, 1), "simionescu": (2, 1), "gomez-levy": (2, 1),
    "ackley10": (10, 2), "three-bar-truss": (2, 3), "cantilever": (5, 1), "car-side-impact": (7, 10),
    "pressure-vessel-plates": (4, 4), "spring-turns": (3, 4), "concrete-beam": (3, 2), "process-synthesis": (7, 9),
    "toy-yes-no": (2, 2), "branin-yes-no": (2, 1), "gardner1-noisy": (2, 1), "branin-disk-noisy": (2, 1),
    "hartmann6-noisy": (6, 1), "gardner2-costs": (2, 1), "welded-beam-costs": (4, 7),
}  # fmt: skip
"""Of every problem, its parameters and its constraints."""
NOISY = [name for name, make in PROBLEMS.items() if "noise" in inspect.signature(make).parameters]


def test_names():
    sizes = {name: (len(make().problem.parameters), len(make().problem.constraints)) for name, make in PROBLEMS.items()}
    assert list(sizes.items()) == list(SIZES.items())
    for name, make in PROBLEMS.items():
        assert getattr(pesky.test_functions, name.replace("-", "_")) is make


def test_each_name_is_that_problem_whatever_the_seed():
    for name, make in PROBLEMS.items():
        benchmark = problem_by_name(name, seed=5)
        assert benchmark.problem == make().problem
        assert benchmark.optimum_value == make().optimum_value


@pytest.mark.parametrize("name", PROBLEMS)
def test_constraints_hold_together_with_probability_95_percent(name):
    problem = PROBLEMS[name]().problem
    assert sum(1 - confidence for confidence in problem.confidences) == pytest.approx(0.05)
    assert problem.outcomes == ("f", *(f"c{k}" for k in range(1, len(problem.constraints) + 1)))
    assert set(PROBLEMS[name](confidence=0.9).problem.confidences) == {0.9}  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize("name", NOISY)
def test_noise_is_declared(name):
    benchmark = PROBLEMS[name](noise=0.3)  # pyright: ignore[reportCallIssue]
    declared = {outcome: 0 if outcome in benchmark.problem.yes_no else 0.3 for outcome in benchmark.problem.outcomes}
    assert dict(benchmark.problem.noise) == declared
    assert benchmark.noise == 0.3
    usual = PROBLEMS[name]()
    assert set(usual.problem.noise.values()) - {None} == {usual.noise}
    assert (usual.noise > 0) == name.endswith("noisy")


def test_only_toys_have_no_noise_to_set():
    assert set(PROBLEMS) - set(NOISY) == {"toy", "toy-yes-no"}


def test_drawn_problems_belong_to_the_seed(monkeypatch):
    drawn = []

    def draw(dim: int, generator: torch.Generator) -> Benchmark:
        drawn.append((dim, torch.rand(1, generator=generator).item()))
        return toy()

    monkeypatch.setattr("pesky.test_functions.names.gp_sample", draw)
    for name, seed in (("gp1", 0), ("gp2", 3), ("gp12", 3)):
        problem_by_name(name, seed)
    first, second = (torch.rand(1, generator=torch.Generator().manual_seed(seed)).item() for seed in (0, 3))
    assert drawn == [(1, first), (2, second), (12, second)]


def test_a_misspelled_name_is_answered_with_the_nearest():
    with pytest.raises(ProblemError, match=r"unknown test problem 'brannin-disk'.*'gardner1'.*mean 'branin-disk'"):
        problem_by_name("brannin-disk")


@pytest.mark.parametrize("name", ["gp", "gp0", "gp-1", "gp²", "gp2 ", "GP2"])
def test_dimensions_are_whole_numbers_from_one_on(name):
    with pytest.raises(ProblemError, match=r"'gp3', 'gp4', \.\. are functions drawn in so many dimensions"):
        problem_by_name(name)
