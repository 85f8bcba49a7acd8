import math

import mpmath
import numpy as np
import torch

from pesky.likelihood.base import z_score
from pesky.likelihood.probit import YES_NO_NOISE, ProbitLikelihood

MEAN, VARIANCE = torch.tensor([0.0, 0.7, -2.0, 3.0]), torch.tensor([1.0, 4.0, 0.01, 0.5])


def probability() -> torch.Tensor:
    """Of a yes, E Phi(z), by Gauss-Hermite quadrature."""
    nodes, weights = (torch.from_numpy(each) for each in np.polynomial.hermite_e.hermegauss(60))
    z = MEAN[:, None] + VARIANCE.sqrt()[:, None] * nodes
    return (torch.special.ndtr(z) * weights).sum(-1) / weights.sum()


def test_phi_of_its_score_is_the_probability_of_a_yes():
    found = torch.special.ndtr(z_score(MEAN, VARIANCE, ProbitLikelihood.answer_noise))
    torch.testing.assert_close(found, probability(), rtol=1e-6, atol=1e-9)


def test_its_entropy_is_that_of_the_answer():
    exact = torch.distributions.Bernoulli(probability()).entropy()
    found = ProbitLikelihood().entropy(MEAN, VARIANCE, torch.tensor(YES_NO_NOISE))
    torch.testing.assert_close(found, exact, rtol=1e-6, atol=1e-9)


def test_the_entropy_of_an_answer_is_exact_and_smooth_far_out():
    mean = torch.linspace(-40, 40, 161).requires_grad_()
    variance = torch.full_like(mean, 0.5)
    found = ProbitLikelihood().entropy(mean, variance, torch.zeros(()))
    (slope,) = torch.autograd.grad(found.sum(), mean)
    u = (mean / math.sqrt(1.5)).detach()
    exact = [binary_entropy(float(each)) for each in u.flatten()]
    torch.testing.assert_close(found.detach().flatten(), torch.tensor(exact), rtol=1e-9, atol=0)
    density = torch.exp(-0.5 * u.square()) / math.sqrt(2 * math.pi)
    odds = torch.special.log_ndtr(u) - torch.special.log_ndtr(-u)
    torch.testing.assert_close(slope, -density * odds / math.sqrt(1.5), rtol=1e-7, atol=1e-200)
    out = torch.tensor([-1e6, -200, 200, 1e6]).requires_grad_()
    far = ProbitLikelihood().entropy(out, torch.ones_like(out), torch.zeros(()))
    assert (far == 0).all()
    assert (torch.autograd.grad(far.sum(), out)[0] == 0).all()


def binary_entropy(u: float) -> float:
    """Entropy of a yes of probability Phi(u), in digits enough for 1 - Phi(33)."""
    with mpmath.workdps(300):
        p, q = (mpmath.erfc(-s * mpmath.mpf(u) / mpmath.sqrt(2)) / 2 for s in (1, -1))
        return float(-sum(each * mpmath.log(each) for each in (p, q)))


def test_a_pending_answer_tells_as_much_as_one_can_at_zero():
    """The Fisher information of an answer is largest where yes and no are as likely."""
    z = torch.linspace(-3, 3, 601).requires_grad_()
    yes = torch.special.ndtr(z)
    (slope,) = torch.autograd.grad(yes.sum(), z)
    information = slope.square() / (yes * (1 - yes))
    assert information.argmax() == 300
    torch.testing.assert_close(information.max(), torch.tensor(1 / YES_NO_NOISE))
    assert ProbitLikelihood.fixed_noise == YES_NO_NOISE
    assert not ProbitLikelihood.is_settled_by_repeating
