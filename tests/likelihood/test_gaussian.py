import math

import pytest
import torch

from pesky.errors import DataError
from pesky.likelihood.gaussian import GaussianLikelihood
from pesky.likelihood.rows import LIKELIHOODS


def test_its_entropy_is_that_of_the_noisy_value_up_to_a_constant():
    mean, variance, noise = torch.tensor([0.0, 5.0]), torch.tensor([1.0, 0.3]), torch.tensor([0.1, 0.0])
    exact = torch.distributions.Normal(mean, (variance + noise).sqrt()).entropy()
    constant = 0.5 * math.log(2 * math.pi * math.e)
    torch.testing.assert_close(GaussianLikelihood().entropy(mean, variance, noise), exact - constant)


@pytest.mark.parametrize("given", [math.nan, math.inf, None, "many", [1.0, 2.0]])
def test_only_finite_numbers_can_be_told(given):
    likelihood = LIKELIHOODS["gaussian"]
    assert likelihood.check("f", torch.tensor([2])) == 2.0
    with pytest.raises(DataError, match=r"'f' was .*expected a finite number"):
        likelihood.check("f", given)


def test_repeating_a_measurement_settles_a_number():
    assert GaussianLikelihood.is_settled_by_repeating
