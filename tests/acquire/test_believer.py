"""The belief of one who takes pending values for their means: that of a GP which really has them as data."""

from dataclasses import replace

import pytest
import torch
from contexts import points, sample_of, samples_of
from small_beliefs import make_belief

from pesky.acquire.believer import FantasyBelief, believe
from pesky.acquire.fantasy import Pending
from pesky.model import GaussianProcess

MEASURED = torch.tensor([[True, True], [True, False], [False, True]])


def pending() -> Pending:
    return Pending(points(3, seed=5), MEASURED)


def with_data(belief: GaussianProcess) -> GaussianProcess:
    """The pending points as data, at the means."""
    P = pending().X
    return replace(
        belief,
        X=torch.cat([belief.X, P.expand(2, *P.shape)], 1),
        y=torch.cat([belief.y, belief.mean(P.expand(*belief.y.shape[:-2], *P.shape))], -1),
        mask=torch.cat([belief.mask, MEASURED.mT], 1),
    )


@pytest.mark.parametrize("noise", [1e-2, 1e-8])
@pytest.mark.parametrize("samples", [0, 3])
def test_moments_are_those_of_a_gp_with_the_data(noise: float, samples: int):
    belief = make_belief(noise=noise)
    belief = samples_of(belief, samples) if samples else belief
    ours, exact = believe(belief, pending()), with_data(belief)
    batch = belief.amplitude.shape[:-1]
    X, Z = (points(n, seed=n).expand(*batch, n, 2) for n in (20, 7))
    for moment in ("mean", "variance"):
        torch.testing.assert_close(getattr(ours, moment)(X), getattr(exact, moment)(X), rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(ours.covariance(X, Z), exact.covariance(X, Z), rtol=1e-6, atol=1e-7)
    one, other = ours.evaluator(Z)(X), exact.evaluator(Z)(X)
    for ours_seen, exact_seen in zip(one, other, strict=True):
        torch.testing.assert_close(ours_seen, exact_seen, rtol=1e-6, atol=1e-7)
    assert (belief.variance(X) - ours.variance(X)).max() > 0.1
    for i in range(samples):
        alone = believe(sample_of(belief, i), pending())
        torch.testing.assert_close(ours.variance(X)[i], alone.variance(X[i]))


def test_draws_have_the_moments_and_their_own_gradients():
    belief = make_belief(noise=0.3)  # so much that draws without noise of their own would show
    ours = believe(belief, pending())
    X = torch.cat([points(6), pending().X])
    drawn = ours.paths(4000, torch.Generator().manual_seed(0))
    values = drawn.values(X)
    torch.testing.assert_close(values.mean(-2), ours.mean(X), rtol=0, atol=0.04)
    centered = values - values.mean(-2, keepdim=True)
    torch.testing.assert_close(centered.mT @ centered / 4000, ours.covariance(X, X), rtol=0, atol=0.04)

    few = drawn.select(torch.tensor([7, 3, 11]))
    torch.testing.assert_close(few.values(X), values[:, [7, 3, 11]])
    at = points(3, seed=1)
    value, gradient = few.at(at)
    torch.testing.assert_close(value, few.values(at).diagonal(dim1=-2, dim2=-1))
    for i in range(2):
        move = 1e-5 * torch.eye(2)[i]
        slope = (few.at(at + move)[0] - few.at(at - move)[0]) / 2e-5
        torch.testing.assert_close(gradient[..., i], slope, rtol=1e-5, atol=1e-6)


def test_noise_free_draws_go_through_the_means():
    belief = make_belief(noise=1e-10)
    drawn = believe(belief, pending()).paths(50, torch.Generator().manual_seed(0)).values(pending().X)
    means = belief.mean(pending().X)[:, None].expand_as(drawn)
    measured = MEASURED.mT[:, None].expand_as(drawn)
    torch.testing.assert_close(drawn[measured], means[measured], rtol=0, atol=1e-3)
    assert (drawn - means)[~measured].std() > 0.01


def test_nothing_pending_is_the_belief_itself_and_a_question_asked_twice_is_harmless():
    belief = make_belief(noise=0.0)
    assert believe(belief, None) is belief
    twice = Pending(points(1).repeat(2, 1), torch.ones(2, 2, dtype=torch.bool))
    once = Pending(points(1), torch.ones(1, 2, dtype=torch.bool))
    X = torch.cat([points(1), points(9, seed=2), belief.points]).requires_grad_()
    variance = believe(belief, twice).variance(X)
    torch.testing.assert_close(variance, believe(belief, once).variance(X), rtol=0, atol=1e-6)
    assert (variance > 0).all()
    assert torch.isfinite(torch.autograd.grad(variance.log().sum(), X)[0]).all()


def test_it_is_a_belief_in_all_else():
    belief = make_belief()
    ours = believe(belief, pending())
    assert isinstance(ours, FantasyBelief)
    for name in ("amplitude", "lengthscale", "noise", "binary", "points"):
        assert torch.equal(getattr(ours, name), getattr(belief, name))
