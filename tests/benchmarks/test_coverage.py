"""The benchmark of what few data are taken to tell: with the true hyperparameters intervals hold what they promise."""

import torch

from benchmarks.coverage import NOISE, draw, judge
from pesky.model import Hyperparameters
from pesky.model.fit import maximize


def test_the_true_hyperparameters_cover_what_they_should_and_predict_best():
    # of a Matern kernel, which is not the functions' own: nearly so where data are far apart
    rows = draw(200, 2, 0.1, 5, 0)
    o = rows.observations
    unit = o.scale.square().reciprocal()
    truth = Hyperparameters(torch.full((200, 2), 0.1), unit, NOISE**2 * unit, 0 * unit)
    coverage, density = judge(truth, rows)
    assert abs(coverage - 0.9) < 0.03
    at_maximum, of_maximum = judge(maximize("matern52", o.X, o.y, o.mask, o.noise), rows)
    assert at_maximum < coverage
    assert of_maximum < density


def test_samples_are_judged_as_a_mixture():
    rows = draw(3, 2, 0.3, 4, 1)
    one = torch.ones(3)
    h = Hyperparameters(torch.full((3, 2), 0.3), one, 0.01 * one, 0 * one)
    twice = Hyperparameters(*(part.expand(2, *part.shape) for part in h))
    torch.testing.assert_close(torch.tensor(judge(h, rows)), torch.tensor(judge(twice, rows)))


def test_noise_that_is_not_declared_is_inferred():
    told, untold = (draw(3, 4, 0.3, 5, 1, noise).observations for noise in (NOISE, None))
    assert told.noise.isfinite().all()
    assert untold.noise.isnan().all()
    assert untold.X.shape[-1] == 4
