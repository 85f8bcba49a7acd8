"""The entropy of the minimizer and what a measurement takes off it: against exact updates by brute force."""

from dataclasses import replace

import pytest
import torch
from contexts import samples_of
from small_beliefs import make_belief
from torch import Tensor

from pesky.acquire.improvement.minimizer_entropy import entropy, entropy_reductions, equally_likely, minimizers
from pesky.model import GaussianProcess
from pesky.model.belief import Belief

GRID = torch.linspace(0, 1, 41)[:, None]
U = torch.tensor([0.37])


def line(rows: int, offset: float = 0.3, **given) -> GaussianProcess:
    return make_belief(rows=rows, n=4, d=1, seed=2, lengthscale=0.15, offsets=(offset,) * (rows - 1), **given)


def drawn(belief: Belief, X: Tensor, count: int, g: torch.Generator) -> Tensor:
    """Exact joint draws (j, s, x)."""
    covariance = belief.covariance(X, X) + 1e-9 * torch.eye(len(X))
    z = torch.randn(covariance.shape[0], count, len(X), generator=g)
    return belief.mean(X)[:, None] + z @ torch.linalg.cholesky(covariance).mT


def entropy_of(z: Tensor, belief: Belief) -> Tensor:
    """Of the minimizer: the lowest feasible point, or the least violation in prior deviations."""
    c = z[1:] / belief.amplitude.sqrt()[1:, None, None]
    f = torch.where((c >= 0).all(0), z[0], torch.inf)
    least = (c.clamp(max=0.0) ** 2).sum(0).argmin(-1)
    which = torch.where(f.isfinite().any(-1), f.argmin(-1), least)
    p = torch.bincount(which, minlength=z.shape[-1]) / len(which)
    return -(p[p > 0] * p[p > 0].log()).sum()


def told(belief: GaussianProcess, j: int, y: float) -> GaussianProcess:
    """The belief once row j was measured at U."""
    rows = belief.X.shape[0]
    mask = torch.zeros(rows, 1, dtype=torch.bool)
    mask[j] = True
    return replace(
        belief,
        X=torch.cat([belief.X, U.expand(rows, 1, 1)], 1),
        y=torch.cat([belief.y, torch.full((rows, 1), y)], 1),
        mask=torch.cat([belief.mask, mask], 1),
    )


@pytest.mark.parametrize(("rows", "offset"), [(2, 0.3), (3, -1.5)])
def test_gains_are_those_of_exact_updates(rows: int, offset: float):
    """-1.5: hardly any draw has a feasible point."""
    belief, g = line(rows, offset), torch.Generator().manual_seed(0)
    mine = entropy_reductions(belief, U, GRID, 5000, 16, g)
    before = entropy_of(drawn(belief, GRID, 50_000, g), belief)
    mean, variance = belief.mean(U[None])[:, 0], belief.variance(U[None])[:, 0] + belief.noise
    for j in range(rows):
        values = mean[j] + variance[j].sqrt() * torch.special.ndtri((torch.arange(30) + 0.5) / 30)
        after = torch.stack([entropy_of(drawn(after_y, GRID, 2000, g), belief) for after_y in (
            told(belief, j, float(y)) for y in values)])  # fmt: skip
        # 41 cells and 2000 draws: the entropy after is too small by less than 0.01
        assert float(mine[j]) == pytest.approx(float(before - after.mean()), abs=0.025)
    assert float(mine.max()) > 0.1


def test_the_gain_of_an_answer_is_that_of_draws_that_gave_it():
    belief, g = replace(line(2), kinds=("gaussian", "probit")), torch.Generator().manual_seed(0)
    mine = entropy_reductions(belief, U, GRID, 10_000, 8, g)[1]
    z = drawn(belief, torch.cat([GRID, U[None]]), 100_000, g)
    yes = torch.rand(z.shape[1], generator=g) < torch.special.ndtr(z[1, :, -1])
    z = z[..., :-1]
    left = sum(part.double().mean() * entropy_of(z[:, part], belief) for part in (yes, ~yes))
    assert float(mine) == pytest.approx(float(entropy_of(z, belief) - left), abs=0.01)
    assert float(mine) > 0.01


def test_few_draws_are_right_on_average():
    """What the correction of the entropy is for."""
    belief, g = line(2), torch.Generator().manual_seed(1)
    many = entropy_reductions(belief, U, GRID, 10_000, 8, g)
    few = torch.stack([entropy_reductions(belief, U, GRID, 200, 8, g) for _ in range(50)])
    assert ((few.mean(0) - many).abs() < 4 * few.std(0) / 50**0.5 + 0.01).all()
    which = torch.randint(30, (2000, 200), generator=g)
    assert float(entropy(which, 40).mean()) == pytest.approx(torch.tensor(30.0).log().item(), abs=5e-3)


def test_what_cannot_move_the_minimizer_is_worth_nothing():
    """A constraint that holds for certain, a noise-free point measured already, and a set of one point."""
    g = torch.Generator().manual_seed(2)
    certain = line(2, offset=50.0)
    gain = entropy_reductions(certain, U, GRID, 1000, 8, g)
    assert gain[0] > 0.05
    assert gain[1].abs() < 1e-12
    measured = line(2, noise=1e-10)
    assert (entropy_reductions(measured, measured.points[0], GRID, 1000, 8, g).abs() < 2e-2).all()
    assert (entropy_reductions(line(2), U, GRID[:1], 100, 8, g).abs() < 1e-12).all()


def test_batches_are_their_elements():
    several = samples_of(line(3), 3)
    g = torch.Generator().manual_seed(3)
    batched = entropy_reductions(several, U, GRID, 2000, 8, g)
    h = several.hyperparameters
    for i in range(3):
        one = replace(several, hyperparameters=type(h)(*(t[i] for t in h)), y=several.y[i])
        torch.testing.assert_close(batched[i], entropy_reductions(one, U, GRID, 2000, 8, g), rtol=0, atol=0.05)


def test_equally_likely_values_keep_the_mean_and_most_of_the_variance():
    z = torch.randn(1_000_000, generator=torch.Generator().manual_seed(0)).sort().values
    torch.testing.assert_close(equally_likely(8), z.view(8, -1).mean(-1), rtol=0, atol=5e-3)
    assert float(equally_likely(9)[4]) == pytest.approx(0.0, abs=1e-12)


def test_minimizers_are_feasible_where_any_point_is():
    f = torch.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    violation = torch.tensor([[0.0, 0.0, 0.0], [1e-12, 0.0, 0.0], [3.0, 2.0, 1e-9]])
    assert minimizers(f, violation).tolist() == [0, 1, 2]
