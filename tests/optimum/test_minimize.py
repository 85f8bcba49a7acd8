"""The constrained minimizer of each draw, against a fine grid."""

import torch
from small_beliefs import make_belief

from pesky.model import GaussianProcess, Hyperparameters
from pesky.model.paths import ROUGH
from pesky.optimum.minimize import Minimizers, best_candidates, lowest_feasible, polish

GRID = torch.cartesian_prod(*[torch.linspace(0, 1, 201)] * 2)


def candidates(n: int = 200) -> torch.Tensor:
    return torch.rand(n, 2, generator=torch.Generator().manual_seed(3))


def draws(belief: GaussianProcess, count: int = 12):
    return belief.paths(count, torch.Generator().manual_seed(0))


def minimizers(paths, X: torch.Tensor, deviation: torch.Tensor, steps: int) -> Minimizers:
    """The best of the candidates X, polished; as it is, without steps."""
    best = best_candidates(paths, X.expand(*deviation.shape[:-1], *X.shape), deviation)
    if steps == 0:
        return Minimizers(X[best.which], (best.values[..., 1:, :] >= 0).all(-2))
    lengthscale = torch.ones(*deviation.shape, X.shape[-1])
    return polish(paths, X[best.which], deviation, lengthscale, 0.5 * len(X) ** -0.5, steps)


def on_grid(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Lowest feasible value of each draw on the grid, and whether there is any."""
    feasible = (values[1:] >= 0).all(0)
    return torch.where(feasible, values[0], torch.inf).amin(-1), feasible.any(-1)


def test_polished_minimizers_are_feasible_and_match_a_fine_grid():
    belief = make_belief(rows=3, lengthscale=0.35, amplitude=4.0, seed=1)
    paths = draws(belief)
    best, feasible = on_grid(paths.values(GRID))
    found = minimizers(paths, candidates(800), belief.amplitude.sqrt(), 15)
    value = paths.at(found.x)[0]
    assert torch.equal(found.feasible, feasible)
    assert (value[1:, feasible] >= -1e-5 * belief.amplitude.sqrt().max()).all()
    # a few draws may sit in the basin next to the best one
    gap = (value[0] - best)[feasible]
    assert (gap < 0.01).double().mean() > 0.8
    assert gap.min() < 1e-4  # and off the grid it is lower still
    assert ((found.x >= 0) & (found.x <= 1)).all()


def test_without_polish_it_is_the_best_candidate():
    belief = make_belief(rows=3, seed=1)
    paths, X = draws(belief), candidates()
    found = minimizers(paths, X, belief.amplitude.sqrt(), 0)
    best, feasible = on_grid(paths.values(X))
    assert torch.equal(found.feasible, feasible)
    torch.testing.assert_close(paths.at(found.x)[0][0, feasible], best[feasible])


def test_polishing_never_makes_a_draw_worse():
    belief = make_belief(rows=3, seed=2, offsets=(-0.5, 0.3))
    paths, X = draws(belief, 60), candidates(40)
    scale = belief.amplitude.sqrt()
    rough = minimizers(paths, X, scale, 0)
    for steps in (1, 2, 8):
        fine = minimizers(paths, X, scale, steps)
        before, after = paths.at(rough.x)[0], paths.at(fine.x)[0]
        short = [(-(v[1:] / scale[1:, None])).clamp(min=0).amax(0) for v in (before, after)]
        # draws are looked at in single precision, and so are their steps
        assert (after[0] <= before[0] + ROUGH)[rough.feasible].all()
        assert (short[1] <= 1e-6 + ROUGH)[rough.feasible].all()
        assert fine.feasible[rough.feasible].all()
        # where nothing was feasible, the violation has not grown, or the point has become feasible
        left = ~rough.feasible
        assert ((short[1] <= short[0] + ROUGH) | fine.feasible)[left].all()
        assert (short[1] <= 1e-6 + ROUGH)[fine.feasible].all()


def test_without_constraints_every_draw_is_feasible():
    belief = make_belief(rows=1, seed=3)
    paths = draws(belief)
    found = minimizers(paths, candidates(), belief.amplitude.sqrt(), 15)
    assert found.feasible.all()
    assert ((paths.at(found.x)[0][0] - paths.values(GRID)[0].amin(-1)) < 0.01).double().mean() > 0.8


def test_where_nothing_is_feasible_the_violation_is_least():
    belief = make_belief(rows=2, seed=4, offsets=(-6.0,))
    paths = draws(belief)
    found = minimizers(paths, candidates(), belief.amplitude.sqrt(), 20)
    assert not found.feasible.any()
    least = paths.values(GRID)[1].amax(-1)
    assert (least - paths.at(found.x)[0][1] < 0.02).double().mean() > 0.6
    rough = minimizers(paths, candidates(), belief.amplitude.sqrt(), 0)
    torch.testing.assert_close(paths.at(rough.x)[0][1], paths.values(candidates())[1].amax(-1))


def test_the_least_violation_weighs_constraints_by_their_deviations():
    belief = make_belief(rows=3, seed=5, offsets=(-6.0, -6.0))
    paths, X = draws(belief), candidates()
    scale = torch.tensor([1.0, 0.1, 10.0])
    found = minimizers(paths, X, scale, 0)
    total = (-(paths.values(X)[1:] / scale[1:, None, None])).clamp(min=0).square().sum(0)
    torch.testing.assert_close(found.x, X[total.argmin(-1)])


def test_hyperparameter_samples_are_minimized_side_by_side():
    one = make_belief(rows=2, seed=6)
    h = one.hyperparameters
    both = GaussianProcess(one.kernel, one.X, one.y, one.mask, type(h)(*(torch.stack([p, p]) for p in h)))
    found = minimizers(both.paths(4, torch.Generator().manual_seed(0)), candidates(), both.amplitude.sqrt(), 5)
    assert found.x.shape == (2, 4, 2)
    assert found.feasible.shape == (2, 4)


def test_values_of_the_best_candidates_are_in_prior_deviations():
    belief = make_belief(rows=2, seed=6, amplitude=9.0)
    paths, scale = draws(belief), belief.amplitude.sqrt()
    best = best_candidates(paths, candidates(), scale)
    expected = paths.at(candidates()[best.which])[0] / scale[:, None]
    torch.testing.assert_close(best.values, expected, rtol=0, atol=ROUGH)


def test_without_noise_candidates_are_looked_at_in_double_precision():
    belief = make_belief(rows=2, seed=6, noise=1e-9, n=40)
    paths, scale = draws(belief), belief.amplitude.sqrt()
    best = best_candidates(paths, candidates(), scale)
    expected = paths.at(candidates()[best.which])[0] / scale[:, None]
    torch.testing.assert_close(best.values, expected, rtol=0, atol=1e-7)


def test_the_lowest_feasible_point_met_is_kept_wherever_the_steps_lead():
    belief = make_belief(rows=3, seed=2, offsets=(-0.5, 0.3))
    paths, scale = draws(belief, 60), belief.amplitude.sqrt()
    best = torch.full((60,), torch.inf)
    for steps in range(8):
        found = minimizers(paths, candidates(40), scale, steps)
        value = torch.where(found.feasible, paths.at(found.x)[0][0], torch.inf)
        assert (value <= best + 2 * ROUGH).all()
        best = torch.minimum(value, best)


def test_lengthscales_that_differ_by_axis_do_not_slow_the_search_down():
    X, start = torch.rand(40, 4, generator=torch.Generator().manual_seed(0)), torch.full((50, 4), 0.5)
    lengthscale = torch.tensor([[0.2, 0.4, 2.0, 4.0]])
    h = Hyperparameters(lengthscale, torch.ones(1), torch.full((1,), 1e-2), torch.zeros(1))
    y, there = torch.sin(9 * X[:, 0])[None], torch.ones(1, 40, dtype=torch.bool)
    paths = GaussianProcess("matern52", X[None], y, there, h).paths(50, torch.Generator().manual_seed(1))
    known, unknown = (
        paths.at(polish(paths, start, torch.ones(1), each, 0.25, 6).x)[0].mean()
        for each in (lengthscale, torch.ones(1, 4))
    )
    assert known < unknown - 0.02


def test_the_minimum_is_sought_where_feasible_and_else_the_least_violation():
    z = torch.tensor([[[0.0, 1.0, 2.0, -9.0], [0.0, 1.0, 2.0, -9.0]], [[-1.0, 0.5, 1.0, 3.0], [-4.0, -3.0, -2.0, 5.0]]])
    cell, feasible = lowest_feasible(z, torch.ones(2), torch.tensor([True, True, True, False]))
    assert cell.tolist() == [1, 2]
    assert feasible.tolist() == [True, False]
