"""One outcome with several constraints is one function to every rule (METHOD 24)."""

import math

import pytest
import torch
from acquire.brute import brute_force
from contexts import context
from small_beliefs import make_belief
from torch import Tensor

from pesky.acquire.entropy.cmes import log_within
from pesky.acquire.entropy.power_expansion import power_expansion
from pesky.acquire.improvement.al import AugmentedLagrangian
from pesky.acquire.improvement.incumbent import log_improvement, log_share_within_limits, log_within_limits
from pesky.acquire.improvement.minimizer_entropy import row_violation
from pesky.acquire.registry import RULES, rule_of
from pesky.likelihood import Conditions
from pesky.model.belief import Belief
from pesky.model.limited import with_conditions
from pesky.optimum import recommend, sample_solutions
from pesky.optimum.assessment import assess
from pesky.strategy.masks import log_feasibility

BAND = ((1, 1, 0.0), (1, -1, 0.6))
OBJECTIVE = ((1, 1, 0.0), (0, 1, -0.4), (0, -1, 1.0))


def limited(conditions: tuple[tuple[int, int, float], ...] = BAND, seed: int = 1, **given) -> Belief:
    """A belief in one dimension, or of other kinds, under these conditions."""
    row, sense, bound = zip(*conditions, strict=True)
    belief = make_belief(**{"rows": 2, "n": 6, "d": 1, "seed": seed, "offsets": (0.0,), **given})
    return with_conditions(belief, Conditions(row, sense, torch.tensor(bound), belief.amplitude.shape[-1]))


def grid(count: int) -> Tensor:
    return torch.linspace(0, 1, count)[:, None]


# -- the gain ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("conditions", [BAND, OBJECTIVE], ids=["band", "objective"])
def test_the_ground_truth_is_that_of_plain_rejection_sampling(conditions):
    belief, X = limited(conditions), grid(9)
    gain = rule_of("rs", cells=61, samples=6000).acquisition(context(belief))
    value, error = gain.with_standard_errors(X)  # pyright: ignore[reportAttributeAccessIssue]
    truth = brute_force(belief, grid(61), X, 6000, seed=0)
    assert ((value - truth).abs() < 4 * error + 0.02).all()
    assert truth[:, 1].max() > 0.3


@pytest.mark.parametrize(("conditions", "least"), [(BAND, 0.85), (OBJECTIVE, 0.7)], ids=["band", "objective"])
def test_the_gain_of_pesc_is_that_of_one_function(conditions, least):
    """Where it is largest, and how large; as two functions the band was worth a quarter."""
    X = grid(31)
    for seed in (1, 4):
        belief = limited(conditions, seed)
        truth = rule_of("rs", cells=101, samples=4000).acquisition(context(belief))(X)
        ours = rule_of("pesc").acquisition(context(belief))(X)
        assert ours.shape == truth.shape == (31, 2)
        assert truth.sum(-1)[ours.sum(-1).argmax()] > least * truth.sum(-1).max()
        assert truth.flatten()[ours.argmax()] > least * truth.max()
        assert (ours.amax() / truth.amax() - 1).abs() < 0.8


def test_two_limits_far_apart_are_two_conditions_that_do_not_meet():
    """A limit that is never reached changes nothing."""
    X = grid(15)
    one = make_belief(rows=2, n=6, d=1, seed=1)
    two = limited(((1, 1, 0.0), (1, -1, 50.0)))
    for name in ("pesc", "jesc", "cmes", "eic", "evr", "ieci", "al", "rsdg"):
        values = [rule_of(name).acquisition(context(belief))(X) for belief in (one, two)]
        # one more condition moves the minimizers of draws a little
        torch.testing.assert_close(*values, rtol=5e-3, atol=1e-2)


@pytest.mark.parametrize("name", [name for name in RULES if name != "pes"])
@pytest.mark.parametrize("conditions", [BAND, OBJECTIVE, (*BAND, (0, -1, 1.0))], ids=["band", "objective", "both"])
def test_every_rule_has_finite_values_and_gradients(name, conditions):
    options = {"rs": {"cells": 41, "samples": 1000}, "rsdg": {"samples": 1000}}.get(name, {})
    acquisition = rule_of(name, **options).acquisition(context(limited(conditions)))
    X = grid(7).requires_grad_()
    values = acquisition(X)
    (gradient,) = torch.autograd.grad(values.sum(), X)
    assert torch.isfinite(values).all()
    assert torch.isfinite(gradient).all()


# -- its parts --------------------------------------------------------------------------------------------------------


def test_draws_of_the_solution_keep_both_limits():
    belief = limited()
    candidates, source = grid(64), torch.Generator().manual_seed(0)
    found = sample_solutions(belief, 16, 64, candidates, 8, source, "place")
    assert found.exists.any()
    t = found.values[1, found.exists]
    assert (t >= -1e-5).all()
    assert (t <= 0.6 + 1e-5).all()
    torch.testing.assert_close(found.optima.paths.at(found.optima.chosen.x)[0], found.values)


def test_the_probability_of_a_band_is_that_of_the_interval():
    belief, X = limited(), grid(25)
    now, ctx = assess(belief, X, torch.tensor([0.9, 0.8])), context(belief)
    mean, deviation = belief.mean(X)[1], belief.variance(X)[1].sqrt()
    low, high = (torch.special.ndtr((bound - mean) / deviation) for bound in (0.0, 0.6))
    torch.testing.assert_close(now.log_feasible.exp(), high - low, rtol=0, atol=1e-12)
    torch.testing.assert_close(now.log_probability.exp(), torch.stack([1 - low, high]), rtol=0, atol=1e-12)
    torch.testing.assert_close(log_feasibility(ctx, X).exp(), high - low, rtol=0, atol=1e-12)
    margins = torch.stack([mean, 0.6 - mean]) - torch.special.ndtri(torch.tensor([[0.9], [0.8]])) * deviation
    torch.testing.assert_close(now.margin, margins)


def test_a_recommendation_holds_each_limit_with_its_confidence():
    belief, confidence = limited(seed=4), torch.tensor([0.7, 0.8])
    advice = recommend(belief, context(belief).space, confidence, 0)
    assert bool(advice.is_confident)
    assert (advice.probabilities >= confidence - 1e-9).all()
    now = assess(belief, grid(2001), confidence)
    best = torch.where((now.margin >= 0).all(0), now.mean, torch.inf).min()
    assert advice.mean <= best + 1e-6


def test_what_a_number_tells_of_an_interval():
    """E P(low <= t <= high | y)^s by simulation over what y leaves."""
    expansion, normals = power_expansion(), torch.special.ndtri((torch.arange(2**16) + 0.5) / 2**16)
    for low, high in ((-0.3, 0.4), (-2.0, 5.0), (1.0, 1.05), (-9.0, 0.2)):
        for unexplained in (0.9, 0.3, 0.01, 1e-6):
            a, b, left = (torch.full((1, 1, 1), number) for number in (low, high, unexplained))
            found = expansion.given_interval(a, b, left)[0, 0, 0]
            mean, q = (1 - unexplained) ** 0.5 * normals, unexplained**0.5
            inside = torch.special.ndtr((high - mean) / q) - torch.special.ndtr((low - mean) / q)
            brute = (inside[:, None] ** expansion.power).mean(0)
            torch.testing.assert_close(found * expansion.weight, brute * expansion.weight, rtol=0, atol=1e-5)


def test_max_values_know_the_probability_of_an_interval():
    low, high = torch.tensor([-0.5, 0.1])[:, None, None], torch.tensor([0.3, 2.0])[:, None, None]
    log_event, log_complement = log_within(low, high)
    p = (torch.special.ndtr(high) - torch.special.ndtr(low)).prod()
    torch.testing.assert_close(log_event.exp()[0, 0], p)
    torch.testing.assert_close(log_complement.exp()[0, 0], 1 - p)


def test_an_improvement_below_the_objectives_limit_is_none():
    conditions = Conditions((0, 0), (1, -1), torch.tensor([-0.4, 1.0]), 1)
    likelihoods = limited().likelihoods.__class__(("gaussian",), conditions)
    mean, variance, eta = torch.tensor([[-0.9, 0.0, 0.7]]), torch.tensor([[0.5, 0.3, 1.0]]), torch.tensor(0.2)
    z = mean[0, :, None] + variance[0, :, None].sqrt() * torch.special.ndtri((torch.arange(2**18) + 0.5) / 2**18)
    gained = ((eta - z).clamp(min=0.0) * (z >= -0.4)).mean(-1)
    share = log_share_within_limits(likelihoods, mean, variance, eta)
    assert share is not None
    torch.testing.assert_close((log_improvement(mean[0], variance[0], eta) + share).exp(), gained, rtol=1e-3, atol=1e-6)
    within = log_within_limits(likelihoods, mean, variance, eta)
    assert within is not None
    expected = ((z <= eta) & (z >= -0.4)).double().mean(-1) / (z <= eta).double().mean(-1)
    torch.testing.assert_close(within.exp(), expected, rtol=1e-3, atol=1e-5)


def test_the_lagrangian_of_a_band_is_that_of_its_samples():
    """The constraints on one outcome are penalized for the same values, and so are those on the objective."""
    for conditions in (BAND, OBJECTIVE):
        belief = limited(conditions)
        found = AugmentedLagrangian(samples=2048).improvement(context(belief))
        posterior, X = found.posterior, grid(5)
        mean, deviation = posterior.moments(X)
        z = mean[:, None] + deviation[:, None] * torch.randn(2, 100_000, 1, generator=torch.Generator().manual_seed(0))
        margins = torch.stack([sense * (z[row] - bound) for row, sense, bound in conditions])
        level = z[0] + posterior.lagrangian.penalty(margins.flatten(-2)).view(z.shape[1:])
        gained = (found.lowest - level).clamp(min=0.0).mean(0)
        ours = posterior.log_improvement(mean, deviation, found.lowest).exp()
        torch.testing.assert_close(ours, gained, rtol=0.1, atol=0.01 * float(gained.max()))
        torch.testing.assert_close(posterior.mean(mean, deviation), level.mean(0), rtol=0.02, atol=0.02)


def test_violations_are_of_either_side():
    belief = limited((*BAND, (0, -1, 1.0)))
    values = torch.tensor([[-0.5, 0.3, 0.9]])
    amplitude = belief.amplitude
    own = torch.tensor([[0.25, 0.0, 0.09]]) / amplitude[1]
    torch.testing.assert_close(row_violation(belief, 1, values), own)
    objective = torch.tensor([[0.0, 0.0, 0.25]]) / amplitude[0]
    torch.testing.assert_close(row_violation(belief, 0, values + torch.tensor([0.0, 0.0, 0.6])), objective)
    assert math.isclose(float(row_violation(make_belief(rows=2, d=1), 0, values).sum()), 0.0)
