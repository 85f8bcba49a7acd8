"""Problems that are others, measured in another way: with noise, as a yes or no, or by tasks of different costs."""

import pytest
import torch

from pesky import Study
from pesky.problem import Problem
from pesky.space import Space
from pesky.test_functions import PROBLEMS, Benchmark, branin_disk, gardner2_costs, toy_yes_no, welded_beam_costs

# Each, and the problem that it is otherwise.
SAME = {
    "toy-yes-no": "toy",
    "branin-yes-no": "branin-disk",
    "gardner1-noisy": "gardner1",
    "branin-disk-noisy": "branin-disk",
    "hartmann6-noisy": "hartmann6",
    "gardner2-costs": "gardner2",
    "welded-beam-costs": "welded-beam",
}


@pytest.fixture(params=SAME)
def name(request) -> str:
    return request.param


@pytest.fixture
def benchmark(name) -> Benchmark:
    return PROBLEMS[name]()


def test_truth_and_extremes_are_those_of_the_other(name, benchmark):
    other = PROBLEMS[SAME[name]]()
    U = Space.of(benchmark.problem).sobol(256, seed=0)
    assert torch.equal(benchmark.truth(U), other.truth(U))
    assert torch.equal(benchmark.optimum, other.optimum)
    assert (benchmark.optimum_value, benchmark.worst_value) == (other.optimum_value, other.worst_value)
    assert benchmark.utility_gap(benchmark.optimum) == other.utility_gap(other.optimum)


def test_a_study_runs_it(benchmark):
    study, tasks = Study(benchmark.problem, rule="random"), benchmark.problem.tasks
    asked = [study.ask() for _ in range(3 * len(tasks))]
    for evaluation in asked:
        values = benchmark.evaluate(evaluation.params)
        study.tell(evaluation, {name: values[name] for name in tasks[evaluation.task].outcomes})
    assert {evaluation.task for evaluation in asked} == set(tasks)
    assert all(benchmark.utility_gap(evaluation.params) > 0 for evaluation in asked)
    assert Problem.from_json(benchmark.problem.to_json()) == benchmark.problem


def test_a_yes_or_no_is_whether_the_constraint_holds():
    benchmark, truth = toy_yes_no(), toy_yes_no().truth
    space = Space.of(benchmark.problem)
    assert benchmark.problem.yes_no == {"c1"}
    U = space.sobol(64, seed=0)
    answers = [benchmark.evaluate(space.decode(u), torch.Generator()) for u in U]
    assert [each["c1"] for each in answers] == (truth(U)[:, 1] >= 0).double().tolist()
    assert {each["c1"] for each in answers} == {0.0, 1.0}
    assert [each["c2"] for each in answers] == pytest.approx(truth(U)[:, 2].tolist())
    # the optimum is on the edge, which is feasible
    assert benchmark.evaluate(space.decode(benchmark.optimum))["c1"] == 1.0
    assert benchmark.is_feasible(benchmark.optimum)


def test_a_yes_or_no_has_no_noise():
    benchmark = PROBLEMS["branin-yes-no"](noise=100.0)  # pyright: ignore[reportCallIssue]
    inside, outside = {"x1": 2.5, "x2": 7.5}, {"x1": -5.0, "x2": 0.0}
    values = [benchmark.evaluate(params) for params in [inside] * 20 + [outside] * 20]
    assert [each["c1"] for each in values] == [1.0] * 20 + [0.0] * 20
    assert len({each["f"] for each in values}) == 40


def test_costs():
    tasks = gardner2_costs().problem.tasks
    assert {key: (task.outcomes, task.cost) for key, task in tasks.items()} == {
        "objective": (("f",), 10),
        "constraint": (("c1",), 1),
    }
    drawing, simulation = welded_beam_costs().problem.tasks.values()
    assert sorted(drawing.outcomes + simulation.outcomes) == sorted(welded_beam_costs().problem.outcomes)
    assert (drawing.cost, simulation.cost) == (1, 10)


def test_noise_is_the_standard_deviation_of_every_outcome():
    benchmark = branin_disk(noise=0.3)
    params = Space.of(benchmark.problem).decode(benchmark.optimum)
    generator = torch.Generator().manual_seed(0)
    values = torch.tensor([list(benchmark.evaluate(params, generator).values()) for _ in range(300)])
    assert values.std(0).tolist() == pytest.approx([0.3] * values.shape[1], rel=0.2)
