"""What is believed of few data: as much as they tell, and no more."""

import math
from statistics import mean

import pytest
import torch
from small_beliefs import make_belief
from torch import Tensor

from pesky import GP, Problem, Real, Study
from pesky.errors import ProblemError
from pesky.model.evidence import marginal_likelihood
from pesky.model.fit import maximize
from pesky.model.hyper import Hyperparameters, padded_gram
from pesky.model.surrogate import SAMPLES_OF_FEW
from pesky.numerics.rng import source_of
from pesky.observations import Observations, _standardize, stack

ROWS, DATA, ELSEWHERE = 60, 5, 10


def rough_functions() -> tuple[Observations, Tensor, Tensor]:
    """Constraints as rough as the paper's functions, a few values of each; other points, and the values there."""
    g = torch.Generator().manual_seed(0)
    X = torch.rand(1, DATA + ELSEWHERE, 2, generator=g).expand(ROWS, -1, -1)
    there, one = torch.ones(X.shape[:2], dtype=torch.bool), torch.ones(ROWS)
    gram = padded_gram("se", X, there, Hyperparameters(torch.full((ROWS, 2), 0.1), one, 1e-8 * one, 0 * one))
    f = (torch.linalg.cholesky(gram) @ torch.randn(*X.shape[:2], 1, generator=g))[..., 0]
    y = f[:, :DATA] + 0.1 * torch.randn(ROWS, DATA, generator=g)
    scale = torch.tensor([_standardize(each, 1, 0.0)[2] for each in y])
    o = Observations(
        X[:, :DATA], y / scale[:, None], there[:, :DATA], 0.01 / scale**2, one, 0 * one, scale, ("gaussian",) * ROWS
    )
    return o, X[0, DATA:], f[:, DATA:] / scale[:, None]


def covered(model: GP, o: Observations, h: Hyperparameters, X: Tensor, truth: Tensor) -> float:
    """How often the truth is within the interval of 90 %."""
    belief = model.condition(o, h, None)
    X = X.expand(*h.amplitude.shape[:-1], *X.shape)
    below = torch.special.ndtr((truth - belief.mean(X)) / belief.variance(X).sqrt())
    below = below if below.dim() == 2 else below.mean(0)
    return float(((below > 0.05) & (below < 0.95)).double().mean())


def test_intervals_of_rough_functions_hold_what_they_promise():
    """A maximum of five data is surer of itself than it may be."""
    o, X, truth = rough_functions()
    best = maximize("matern52", o.X, o.y, o.mask, o.noise)
    doubted = GP(few=10).doubted(o, best, torch.Generator().manual_seed(0))
    assert doubted.amplitude.shape == (SAMPLES_OF_FEW, ROWS)
    assert covered(GP(), o, best, X, truth) < 0.75
    assert 0.8 < covered(GP(), o, doubted, X, truth) < 0.95


def in_a_corner(model: GP, seed: int = 0) -> Study:
    problem = Problem({"x": Real(0, 1), "y": Real(0, 1)}, minimize="f", constraints=["c >= 0"], noise=0.01)
    study = Study(problem, model=model, seed=seed)
    for x, y, c in ((0.0, 0.0, 1.0), (0.1, 0.0, 0.99), (0.0, 0.1, 1.01)):
        study.add({"x": x, "y": y}, {"f": x + y, "c": c})
    return study


def test_three_values_in_a_corner_say_little_of_the_opposite_one():
    far = {"x": 1.0, "y": 1.0}
    assert in_a_corner(GP()).predict(far).probabilities["c >= 0"] > 0.9999
    found = [in_a_corner(GP(few=10), seed).predict(far) for seed in range(5)]
    assert 0.8 < mean(each.probabilities["c >= 0"] for each in found) < 0.97
    assert mean(each.outcomes["c"].interval[0] for each in found) < 0.3


def test_more_data_are_relied_upon_and_what_is_known_is_known():
    belief = make_belief(rows=2, n=7, d=1, seed=3, kernel="matern52", noise=0.01, lengthscale=0.3)
    zero, one = torch.zeros(2), torch.ones(2)
    o = Observations(belief.X, belief.y, belief.mask, 0.01 * one, one, zero, one, ("gaussian",) * 2)
    h, source = belief.hyperparameters, torch.Generator().manual_seed(0)
    assert GP(few=6).doubted(o, h, source) is h
    assert GP(few=7).doubted(o, h, source) is not h
    assert GP(hyperparameters="slice").doubted(o, h, source) is h
    with pytest.raises(ProblemError, match="few was -1"):
        GP(few=-1)


def test_studies_in_lockstep_doubt_as_each_does_alone():
    o, _, _ = rough_functions()
    some = [o.select(torch.arange(ROWS) // 2 == i) for i in range(3)]
    both = stack(some)
    best = maximize("matern52", both.X, both.y, both.mask, both.noise)
    found = GP(few=10).doubted(both, best, source_of((7, 8, 9)))
    for i, seed in enumerate((7, 8, 9)):
        alone = GP(few=10).doubted(some[i], Hyperparameters(*(part[i] for part in best)), source_of(seed))
        torch.testing.assert_close(found.lengthscale[i], alone.lengthscale)
        torch.testing.assert_close(found.mean[i], alone.mean)


def test_an_amplitude_is_bounded_beside_what_is_typical_of_the_row():
    """Values of 1 +- 0.0003, in their own units: a thousand deviations from the threshold."""
    X = torch.tensor([[[0.1], [0.5], [0.9]]])
    y = torch.tensor([[3000.0, 3001.0, 2999.0]])
    h = maximize("matern52", X, y, torch.ones(1, 3, dtype=torch.bool), torch.tensor([math.nan]))
    assert h.amplitude.item() > 1e5


def test_the_precision_of_the_mean_is_what_the_inverse_says():
    belief = make_belief(rows=2, n=5, d=2, seed=1, kernel="se", noise=0.1)
    h = belief.hyperparameters
    found = marginal_likelihood("se", belief.X, belief.y, belief.mask, h).mean_precision
    inverse = torch.linalg.inv(padded_gram("se", belief.X, belief.mask, h))
    torch.testing.assert_close(found, inverse.sum((-2, -1)), rtol=1e-6, atol=1e-9)
