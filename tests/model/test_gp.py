"""The posterior against dense formulas and against BoTorch; padding, views and samples change nothing."""

import pytest
import torch
from small_beliefs import hyperparameters, make_belief

from benchmarks.as_botorch import as_botorch
from pesky.model import GaussianProcess, Hyperparameters
from pesky.model.belief import distinct

MASK = torch.tensor([[True] * 6, [True, True, False, True, False, False]])


def points(n: int = 9, d: int = 2) -> torch.Tensor:
    return torch.rand(n, d, generator=torch.Generator().manual_seed(99))


def dense_posterior(belief: GaussianProcess, row: int, X: torch.Tensor):
    """Mean and covariance of one row at X by the textbook's inverse."""
    h, mask = belief.hyperparameters, belief.mask[row]
    data, y = belief.X[row][mask], belief.y[row][mask]

    def kernel(a, b):
        r2 = ((a[:, None] - b[None]) / h.lengthscale[row]).square().sum(-1)
        if belief.kernel == "se":
            return h.amplitude[row] * torch.exp(-r2 / 2)
        r = (5 * r2).sqrt()
        return h.amplitude[row] * (1 + r + 5 * r2 / 3) * torch.exp(-r)

    inverse = torch.linalg.inv(kernel(data, data) + h.noise[row] * torch.eye(len(data)))
    to_data = kernel(X, data)
    mean = h.mean[row] + to_data @ inverse @ (y - h.mean[row])
    return mean, kernel(X, X) - to_data @ inverse @ to_data.mT


@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_posterior_is_the_textbooks(kernel):
    belief, X = make_belief(kernel=kernel, mask=MASK, mean=0.7), points()
    for row in range(2):
        mean, covariance = dense_posterior(belief, row, X)
        torch.testing.assert_close(belief.mean(X)[row], mean)
        torch.testing.assert_close(belief.covariance(X, X)[row], covariance)
        torch.testing.assert_close(belief.covariance(X[:3], X[2:])[row], covariance[:3, 2:])
        torch.testing.assert_close(belief.variance(X)[row], covariance.diagonal())


@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_posterior_is_botorchs(kernel):
    belief, X = make_belief(rows=3, kernel=kernel, d=3, mean=-0.4), points(d=3)
    with torch.no_grad():
        theirs = as_botorch(belief).posterior(X)
    torch.testing.assert_close(belief.mean(X), theirs.mean.mT, rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(belief.variance(X), theirs.variance.mT, rtol=1e-6, atol=1e-7)


def test_padded_entries_are_neutral_whatever_they_hold():
    belief, X = make_belief(mask=MASK), points()
    filled = GaussianProcess(
        belief.kernel,
        torch.where(MASK[..., None], belief.X, 0.37),
        torch.where(MASK, belief.y, 55.0),
        MASK,
        belief.hyperparameters,
    )
    torch.testing.assert_close(filled.mean(X), belief.mean(X), rtol=0, atol=0)
    torch.testing.assert_close(filled.variance(X), belief.variance(X), rtol=0, atol=0)
    torch.testing.assert_close(filled.points, belief.points, rtol=0, atol=0)


def test_a_view_sees_what_the_belief_says():
    belief, X = make_belief(rows=3, mask=torch.cat([MASK, MASK[1:]])), points()
    seen = belief.evaluator(X[:4])(X)
    torch.testing.assert_close(seen.mean, belief.mean(X))
    torch.testing.assert_close(seen.variance, belief.variance(X))
    torch.testing.assert_close(seen.covariance, belief.covariance(X[:4], X), rtol=0, atol=1e-9)


def test_samples_of_hyperparameters_are_a_leading_dimension():
    belief, X = make_belief(), points()
    others = [hyperparameters(2, 2, lengthscale=length, noise=0.05) for length in (0.2, 0.5, 0.9)]
    stacked = Hyperparameters(*(torch.stack(parts) for parts in zip(*others, strict=True)))
    several = GaussianProcess(belief.kernel, belief.X, belief.y, belief.mask, stacked)
    seen = several.evaluator(X[:4].expand(3, 4, 2))(X.expand(3, 9, 2))
    for s, h in enumerate(others):
        one = GaussianProcess(belief.kernel, belief.X, belief.y, belief.mask, h)
        torch.testing.assert_close(several.mean(X.expand(3, 9, 2))[s], one.mean(X))
        torch.testing.assert_close(several.variance(X.expand(3, 9, 2))[s], one.variance(X))
        torch.testing.assert_close(seen.covariance[s], one.covariance(X[:4], X), rtol=0, atol=1e-8)


def test_noise_free_data_are_met_exactly_also_when_repeated():
    belief = make_belief(n=8, noise=1e-10)
    twice = GaussianProcess(
        belief.kernel,
        torch.cat([belief.X, belief.X], 1),
        torch.cat([belief.y, belief.y], 1),
        torch.cat([belief.mask, belief.mask], 1),
        belief.hyperparameters,
    )
    for each in (belief, twice):
        torch.testing.assert_close(each.mean(belief.X[0]), belief.y, rtol=0, atol=1e-4)
        assert (each.variance(belief.X[0]) < 1e-8).all()
        assert (each.variance(belief.X[0]) > 0).all()
    assert twice.points.shape == (8, 2)


def test_a_row_without_data_is_its_prior():
    mask = torch.tensor([[True] * 6, [False] * 6])
    belief, X = make_belief(mask=mask, mean=0.3), points()
    torch.testing.assert_close(belief.mean(X)[1], belief.prior_mean[1].expand(9))
    torch.testing.assert_close(belief.variance(X)[1], belief.amplitude[1].expand(9))


def test_points_are_the_measured_ones_of_any_row_once_each():
    belief = make_belief(
        mask=torch.tensor([[True, True, True, False, False, False], [False, True, True, True, False, False]])
    )
    assert belief.points.shape == (4, 2)
    expected = {tuple(p.tolist()) for p in torch.cat([belief.X[0][:3], belief.X[1][1:4]])}
    assert {tuple(p.tolist()) for p in belief.points} == expected


def test_distinct_keeps_the_first_of_each():
    given = torch.tensor([[0.1, 0.2], [0.5, 0.5], [0.1, 0.2 + 1e-8], [0.1, 0.21]])
    assert torch.equal(distinct(given), given[[0, 1, 3]])
    assert distinct(given[:0]).shape == (0, 2)


def test_a_snapped_belief_is_constant_between_lattice_points():
    def snap(X: torch.Tensor) -> torch.Tensor:
        return torch.stack([X[..., 0], (X[..., 1].detach() * 4).round() / 4], -1)

    belief = make_belief()
    snapped = GaussianProcess(belief.kernel, belief.X, belief.y, belief.mask, belief.hyperparameters, snap)
    on, off = torch.tensor([[0.3, 0.5], [0.8, 0.25]]), torch.tensor([[0.3, 0.58], [0.8, 0.17]])
    torch.testing.assert_close(snapped.mean(on), belief.mean(on))
    torch.testing.assert_close(snapped.mean(off), belief.mean(on))
    torch.testing.assert_close(snapped.variance(off), belief.variance(on))
    torch.testing.assert_close(snapped.covariance(off, off), belief.covariance(on, on))
    torch.testing.assert_close(snapped.evaluator(off)(off).covariance, belief.evaluator(on)(on).covariance)
    paths = snapped.paths(3, torch.Generator().manual_seed(0))
    torch.testing.assert_close(paths.values(off), paths.values(on))
    value, gradient = paths.at(off[[0, 1, 0]])
    torch.testing.assert_close(value, paths.at(on[[0, 1, 0]])[0])
    assert (gradient[..., 1] == 0).all()
    assert (gradient[..., 0] != 0).all()


def test_every_datum_may_have_a_noise_of_its_own():
    plain, X = make_belief(mask=MASK, mean=0.7), points()
    noise = 0.01 + torch.rand(2, 6, generator=torch.Generator().manual_seed(3))
    belief = GaussianProcess("se", plain.X, plain.y, MASK, plain.hyperparameters, data_noise=noise)
    for row in range(2):
        keep = MASK[row]
        h, data = plain.hyperparameters, plain.X[row][keep]

        def kernel(a, b, row=row, h=h):
            r2 = ((a[:, None] - b[None]) / h.lengthscale[row]).square().sum(-1)
            return h.amplitude[row] * torch.exp(-r2 / 2)

        inverse = torch.linalg.inv(kernel(data, data) + torch.diag(noise[row][keep]))
        mean = h.mean[row] + kernel(X, data) @ inverse @ (plain.y[row][keep] - h.mean[row])
        covariance = kernel(X, X) - kernel(X, data) @ inverse @ kernel(data, X)
        torch.testing.assert_close(belief.mean(X)[row], mean)
        torch.testing.assert_close(belief.covariance(X, X)[row], covariance)
        torch.testing.assert_close(belief.variance(X)[row], covariance.diagonal())
        seen = belief.evaluator(X[:4])(X)
        torch.testing.assert_close(seen.mean[row], mean)
        torch.testing.assert_close(seen.covariance[row], covariance[:4], rtol=0, atol=1e-9)
        drawn = belief.paths(20_000, torch.Generator().manual_seed(0)).values(X)[row]
        deviation = covariance.diagonal().sqrt()
        assert ((drawn.mean(0) - mean) / deviation).abs().max() < 0.05
        assert (drawn.std(0) / deviation - 1).abs().max() < 0.06


def test_the_noise_of_a_row_is_that_of_all_its_data():
    belief, X = make_belief(mask=MASK), points()
    same = belief.noise[:, None].expand(2, 6)
    spelled = GaussianProcess("se", belief.X, belief.y, MASK, belief.hyperparameters, data_noise=same)
    assert torch.equal(spelled.mean(X), belief.mean(X))
    assert torch.equal(spelled.variance(X), belief.variance(X))
    drawn = [b.paths(5, torch.Generator().manual_seed(0)).values(X) for b in (belief, spelled)]
    assert torch.equal(*drawn)
    assert belief.likelihoods.is_gaussian.all()
