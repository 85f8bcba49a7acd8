"""The sampler of examples/hmc has the right moments and fails where it should; its diagnostics know known cases."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import Tensor

from examples.hmc import tuning
from examples.hmc.tuning.diagnostics import effective_samples, geweke, rhat
from examples.hmc.tuning.posterior import LogisticPosterior, german_credit
from examples.hmc.tuning.sampler import Integrator, sample

GOOD = {"step_size": 0.05, "steps": 8, "burn_in": 0.3, "mass": 1.0}


@dataclass(frozen=True)
class Gaussian:
    mean: Tensor
    covariance: Tensor

    @property
    def dim(self) -> int:
        return len(self.mean)

    def log_density(self, q: Tensor) -> Tensor:
        return 0.5 * ((q - self.mean) * self.gradient(q)).sum(-1)

    def gradient(self, q: Tensor) -> Tensor:
        return -torch.linalg.solve(self.covariance, (q - self.mean).T).T


@pytest.fixture
def gaussian() -> Gaussian:
    covariance = torch.tensor([[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 4.0]], dtype=torch.float64)
    return Gaussian(torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64), covariance)


@pytest.fixture
def rng() -> torch.Generator:
    return torch.Generator().manual_seed(0)


# -- the sampler -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("step", "mass"), [(0.5, 1.0), (1.0, 4.0)])
def test_its_draws_have_the_moments_of_the_target(gaussian: Gaussian, rng, step, mass):
    start = gaussian.mean.expand(1000, 3)
    trace = sample(gaussian, start, Integrator(step, 4, mass), 40, rng)
    draws = trace.draws[20:].reshape(-1, 3)
    assert not trace.has_diverged
    # steps so large that without the right decisions to accept the variances would be off by a tenth and more
    assert trace.accepted.double().mean() < 0.98
    torch.testing.assert_close(draws.mean(0), gaussian.mean, atol=0.07, rtol=0)
    torch.testing.assert_close(draws.T.cov(), gaussian.covariance, atol=0.07, rtol=0.04)


def test_a_trajectory_runs_back_and_its_energy_is_of_second_order(gaussian: Gaussian, rng):
    q, p = torch.randn(2, 5, 3, generator=rng, dtype=torch.float64)

    def energy(q: Tensor, p: Tensor) -> Tensor:
        return -gaussian.log_density(q) + p.square().sum(-1) / 2

    errors = []
    for step, steps in ((0.1, 10), (0.05, 20)):
        integrator = Integrator(step, steps)
        q_end, p_end, slope = integrator.move(gaussian, q, p, gaussian.gradient(q))
        torch.testing.assert_close(slope, gaussian.gradient(q_end))
        back = integrator.move(gaussian, q_end, -p_end, slope)
        torch.testing.assert_close((back[0], back[1]), (q, -p))
        errors.append((energy(q_end, p_end) - energy(q, p)).abs().max())
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)


def test_four_times_the_mass_is_half_the_step(gaussian: Gaussian, rng):
    q, p = torch.randn(2, 5, 3, generator=rng, dtype=torch.float64)
    slope = gaussian.gradient(q)
    light, heavy = Integrator(0.1, 7, 1.0).move(gaussian, q, p, slope), Integrator(0.2, 7, 4.0).move(
        gaussian, q, 2 * p, slope
    )  # fmt: skip
    torch.testing.assert_close(light[0], heavy[0])
    torch.testing.assert_close(2 * light[1], heavy[1])


def test_what_diverges_is_said_and_ends_the_trace(gaussian: Gaussian, rng):
    trace = sample(gaussian, gaussian.mean.expand(2, 3), Integrator(5.0, 200), 50, rng)
    assert trace.has_diverged
    assert len(trace.draws) == len(trace.errors) < 50
    assert trace.draws.isfinite().all()  # a chain never goes there


# -- the posterior -----------------------------------------------------------------------------------------------------


def test_the_gradient_is_that_of_the_log_density():
    rng = torch.Generator().manual_seed(1)
    design = torch.randn(30, 4, generator=rng, dtype=torch.float64)
    answers = (torch.rand(30, generator=rng) < 0.3).double()
    target = LogisticPosterior(design, answers, variance=2.0)
    q = torch.randn(3, 4, generator=rng, dtype=torch.float64, requires_grad=True)
    (expected,) = torch.autograd.grad(target.log_density(q).sum(), q)
    torch.testing.assert_close(target.gradient(q.detach()), expected)
    z = design @ q[0].detach()
    likelihood = torch.distributions.Bernoulli(logits=z).log_prob(answers).sum()
    expected = likelihood - q[0].detach().square().sum() / 4
    torch.testing.assert_close(target.log_density(q.detach())[0], expected)


def test_the_loans_are_all_there_and_standardized():
    target = german_credit()
    assert target.design.shape == (1000, 49)
    assert target.answers.sum() == 300
    assert (target.design[:, 0] == 1).all()
    torch.testing.assert_close(target.design[:, 1:].mean(0), torch.zeros(48, dtype=torch.float64))
    torch.testing.assert_close(target.design[:, 1:].std(0, correction=0), torch.ones(48, dtype=torch.float64))


# -- diagnostics -------------------------------------------------------------------------------------------------------


def test_independent_draws_are_worth_as_many_as_they_are():
    draws = np.random.default_rng(0).normal(size=(2, 2000, 20))
    assert effective_samples(draws) == pytest.approx(4000, rel=0.2)
    assert rhat(draws) < 1.01
    assert geweke(draws) == pytest.approx(1, abs=0.3)


def test_correlated_draws_are_worth_less_and_their_geweke_score_knows_it():
    rng, phi = np.random.default_rng(1), 0.8
    draws = rng.normal(size=(2, 8000, 30)) * (1 - phi**2) ** 0.5
    for n in range(1, 8000):
        draws[:, n] += phi * draws[:, n - 1]
    # of the worst of 30 coordinates, whose estimates vary by a few percent
    assert effective_samples(draws) == pytest.approx(16000 * (1 - phi) / (1 + phi), rel=0.2)
    # as independent draws the scores would be (1 + phi) / (1 - phi) = 9 times as large, squared
    assert geweke(draws) == pytest.approx(1, abs=0.35)


def test_a_drift_and_traces_apart_are_seen():
    draws = np.random.default_rng(2).normal(size=(2, 1000, 5))
    assert geweke(draws + np.linspace(1, 0, 1000)[:, None]) > 2
    apart = draws + np.array([0.0, 1.5])[:, None, None]
    assert rhat(apart) > 1.2
    assert geweke(apart) < 2
    assert effective_samples(apart) < 100


# -- what the study measures -------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_and_one_trace_costs_half():
    first = tuning.measure(GOOD, seed=3, budget=800)
    assert first == tuning.measure(GOOD, seed=3, budget=800)
    assert first != tuning.measure(GOOD, seed=4, budget=800)
    assert first.keys() == {"effective", "geweke", "rhat"}
    assert tuning.measure_one(GOOD, seed=3, budget=800).keys() == {"effective", "geweke"}


def test_the_budget_is_shared_by_steps_transitions_and_burn_in(gaussian: Gaussian):
    short = GOOD | {"steps": 7, "burn_in": 0.25}
    assert tuning.traces(short, 2, 0, target=gaussian, budget=1000).shape == (2, 75, 3)
    assert tuning.traces(short | {"steps": 2}, 1, 0, target=gaussian, budget=1000).shape == (1, 150, 3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"step_size": 1.0, "steps": 10}, "diverged"),
        ({"steps": 100}, "draws of each trace"),
    ],
)
def test_where_nothing_can_be_judged_the_sampler_fails(change: dict, said: str):
    with pytest.raises(tuning.SamplerFailure, match=said):
        tuning.measure(GOOD | change, seed=0, budget=800)


def test_a_chain_that_does_not_move_is_a_failure():
    narrow = Gaussian(torch.zeros(10, dtype=torch.float64), 0.2 * torch.eye(10, dtype=torch.float64))
    large = GOOD | {"step_size": 1.15, "steps": 1}  # a single one at a time does not go far off, and is never accepted
    with pytest.raises(tuning.SamplerFailure, match="did not move"):
        tuning.measure(large, seed=0, budget=400, target=narrow)
