"""E h(u), h(u) = u + (1 - u) log(1 - u): the sums that stand for it against the functions themselves."""

import pytest
import torch
from torch.quasirandom import SobolEngine

from pesky.acquire.entropy.power_expansion import power_expansion


def normals(count: int) -> torch.Tensor:
    uniform = SobolEngine(1, scramble=True, seed=4).draw(count, dtype=torch.float64)[:, 0].clamp(1e-12, 1 - 1e-12)
    return torch.special.ndtri(uniform)


def test_powers_add_up_to_h():
    expansion = power_expansion()
    u = torch.cat([torch.logspace(-3, -0.3, 500), 1 - torch.logspace(-0.3, -4, 500)])
    h = u + torch.special.xlogy(1 - u, 1 - u)
    error = (expansion.powers_of(u.log()) @ expansion.weight - h).abs()
    assert (error <= 4e-4 * h)[u < 0.5].all()
    assert (error <= 4e-4 * (1 - u))[u < 0.999].all()
    assert (error <= 1.1e-3 * (1 - u)).all()


def test_the_gap_of_a_number_that_is_certain_is_nothing():
    expansion = power_expansion()
    log_u = torch.tensor([-3.0, -0.1, -1e-5])
    assert (expansion.jensen_gap(expansion.powers_of(log_u), log_u) == 0).all()


@pytest.mark.parametrize("a", [-4.0, -0.7, 0.0, 1.5, 5.0])
@pytest.mark.parametrize("unexplained", [1.0, 0.9, 0.3, 0.01, 1e-6])
def test_a_noisy_number_tells_of_the_sign(a: float, unexplained: float):
    """E Phi(t)^s by simulation over the t that the measurement leaves."""
    expansion = power_expansion()
    moments = expansion.given_number(torch.full((1, 1, 1), a), torch.full((1, 1, 1), unexplained))[0, 0, 0]
    told = a + (1 - unexplained) ** 0.5 * normals(2**18)
    log_probability = torch.special.log_ndtr(told / unexplained**0.5)
    brute = (log_probability[:, None] * expansion.power).exp().mean(0)
    torch.testing.assert_close(moments * expansion.weight, brute * expansion.weight, rtol=0, atol=1e-5)


@pytest.mark.parametrize("mean", [-3.0, -0.4, 0.0, 1.2, 4.0])
@pytest.mark.parametrize("variance", [1e-8, 0.3, 2.0, 30.0])
def test_an_answer_of_yes_or_no_tells_of_the_latent_sign(mean: float, variance: float):
    expansion = power_expansion()
    moments = expansion.given_answer(torch.full((1, 1, 1), mean), torch.full((1, 1, 1), variance))[0, 0, 0]
    z = mean + variance**0.5 * normals(2**18)
    brute = torch.zeros_like(expansion.power)
    for sign in (1, -1):
        probability = torch.special.ndtr(sign * z)
        both = (probability * (z >= 0)).mean()
        brute += probability.mean() * (both / probability.mean().clamp(min=1e-300)) ** expansion.power
    torch.testing.assert_close(moments * expansion.weight, brute * expansion.weight, rtol=0, atol=1e-5)
