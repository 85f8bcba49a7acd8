"""The noise of data, their covariance where some are missing, and the amplitude that is typical of them."""

import math

import torch
from small_beliefs import hyperparameters, make_belief

from pesky.model.hyper import NOISE_FLOOR, noise_variance, padded_gram, typical_amplitude

MASK = torch.tensor([[True] * 7, [True, True, False, True, True, False, False]])
H = hyperparameters(2, 2, lengthscale=0.45, amplitude=1.7, noise=0.03)


def test_noise_is_the_given_one_or_inferred_and_never_below_the_floor():
    given = torch.tensor([math.nan, 0.5, 0.0])
    found = noise_variance(torch.log(torch.tensor([0.2, 0.2, 0.2])), torch.full((3,), 4.0), given)
    torch.testing.assert_close(found, torch.tensor([0.2, 0.5, 4 * NOISE_FLOOR]), rtol=1e-12, atol=0)


def test_the_padded_gram_is_the_identity_where_there_are_no_data():
    gram = padded_gram("se", make_belief(n=7, mask=MASK).X, MASK, H)
    pad = ~MASK[1]
    torch.testing.assert_close(gram[1][pad], torch.eye(7)[pad])
    torch.testing.assert_close(gram[0].diagonal(), (H.amplitude[0] + H.noise[0]).expand(7))


def test_the_typical_amplitude_is_measured_from_zero_and_is_one_without_data():
    y = torch.tensor([[1.0, -1.0, 7.0], [5.0, 5.0, 5.0], [0.0, 0.0, 0.0]])
    mask = torch.tensor([[True, True, False], [True, True, True], [False, False, False]])
    torch.testing.assert_close(typical_amplitude(y, mask), torch.tensor([1.0, 25.0, 1.0]))
