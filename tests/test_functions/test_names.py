import pytest
import torch

from pesky.errors import ProblemError
from pesky.test_functions import PROBLEMS, Benchmark, problem_by_name, toy


def test_names():
    assert list(PROBLEMS) == [
        "toy",
        "gardner1",
        "gardner2",
        "branin-disk",
        "crescent",
        "hartmann6",
        "pressure-vessel",
        "welded-beam",
        "spring",
        "speed-reducer",
    ]


def test_each_name_is_that_problem_whatever_the_seed():
    for name, make in PROBLEMS.items():
        benchmark = problem_by_name(name, seed=5)
        assert benchmark.problem == make().problem
        assert benchmark.optimum_value == make().optimum_value
    sizes = {name: (len(make().problem.parameters), len(make().problem.constraints)) for name, make in PROBLEMS.items()}
    assert list(sizes.values()) == [(2, 2), (2, 1), (2, 1), (2, 1), (2, 2), (6, 1), (4, 4), (4, 7), (3, 4), (7, 11)]


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
