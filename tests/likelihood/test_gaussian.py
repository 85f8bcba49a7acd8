import math

import torch

from pesky.likelihood.gaussian import GaussianLikelihood


def test_its_entropy_is_that_of_the_noisy_value_up_to_a_constant():
    mean, variance, noise = torch.tensor([0.0, 5.0]), torch.tensor([1.0, 0.3]), torch.tensor([0.1, 0.0])
    exact = torch.distributions.Normal(mean, (variance + noise).sqrt()).entropy()
    constant = 0.5 * math.log(2 * math.pi * math.e)
    torch.testing.assert_close(GaussianLikelihood().entropy(mean, variance, noise), exact - constant)


def test_repeating_a_measurement_settles_a_number():
    assert GaussianLikelihood.is_settled_by_repeating
