"""The two-stage rule: its point against EIC's, and whole runs."""

import pytest
import torch
from contexts import context, feasible, infeasible, samples_of
from small_beliefs import make_belief

from pesky import Study
from pesky.acquire import BotorchAcquisition
from pesky.acquire.improvement.eic import ExpectedImprovement
from pesky.acquire.improvement.eic_decoupled import TwoStageImprovement
from pesky.data.pending import Pending
from pesky.test_functions import toy
from pesky.test_functions.base import decouple

QUICK = TwoStageImprovement(samples=12, spread=64, draws=200)


@pytest.mark.parametrize("build", [feasible, infeasible])
@pytest.mark.parametrize("rows", [1, 2, 4])
def test_the_point_is_that_of_the_largest_improvement(build, rows: int):
    belief = build(rows, noise=1e-8)
    acquisition = QUICK.acquisition(context(belief))
    improvement = ExpectedImprovement().acquisition(context(belief))
    anywhere = improvement(torch.rand(2000, 2, generator=torch.Generator().manual_seed(0))).max()
    assert float(improvement(acquisition.u[None])) >= float(anywhere) - 1e-2
    assert acquisition.weight.shape == (rows,)
    assert (acquisition.weight > 0).all()
    assert torch.isfinite(acquisition.weight).all()
    assert torch.equal(acquisition(acquisition.u[None])[0], acquisition.weight)


def test_hyperparameter_samples_are_averaged():
    line = make_belief(rows=3, n=4, d=1, seed=2, lengthscale=0.15, offsets=(0.3, 0.3))
    assert QUICK.acquisition(context(samples_of(line, 3))).weight.shape == (3,)


def test_rows_that_were_never_measured_are_asked_for():
    """Only the constraint is known so far, or only the objective."""
    for known in (0, 1):
        mask = torch.zeros(2, 6, dtype=torch.bool)
        mask[known] = True
        belief = make_belief(rows=2, seed=4, noise=1e-6, mask=mask, offsets=(0.5,))
        weight = QUICK.acquisition(context(belief)).weight
        assert torch.isfinite(weight).all()
        if known == 1:
            assert weight[0] > weight[1]


def test_what_is_pending_is_believed_by_both_stages():
    belief = feasible(noise=1e-8)
    u = QUICK.acquisition(context(belief)).u
    everything, objective = torch.tensor([[True, True, True]]), torch.tensor([[True, False, False]])
    assert (QUICK.acquisition(context(belief, Pending(u[None], everything))).u - u).norm() > 0.01
    after = QUICK.acquisition(context(belief, Pending(u[None], objective)))
    assert torch.isfinite(after.weight).all()


def test_the_same_seed_gives_the_same_question():
    one, two = (QUICK.acquisition(context(feasible())) for _ in range(2))
    assert torch.equal(one.u, two.u)
    assert torch.equal(one.weight, two.weight)


def test_it_is_an_acquisition_of_botorchs():
    acquisition = BotorchAcquisition(feasible(), QUICK)
    X = torch.rand(5, 1, 2, generator=torch.Generator().manual_seed(0))
    assert acquisition(X).shape == (5,)
    assert acquisition.gains(X[:, 0]).shape == (5, 3)


def test_a_decoupled_study_measures_what_matters_and_gets_on():
    """c2 is active nowhere near the solution: its three initial values are enough."""
    benchmark, g = decouple(toy()), torch.Generator()
    study = Study(benchmark.problem, rule="eic-decoupled")
    asked = []
    for _ in range(22):
        e = study.ask()
        asked.append(e.task)
        study.tell(e, {e.task: benchmark.evaluate(e.params, g)[e.task]})
    assert asked.count("c1") > 3
    assert asked.count("f") > 3
    assert asked.count("c2") < asked.count("c1")
    assert benchmark.utility_gap(study.space.encode(study.recommend().params)) < 0.05
