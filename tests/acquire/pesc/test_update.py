"""Partial updates (METHOD 20.2): the same x* samples and EP sites on a belief that has learnt more."""

from dataclasses import replace

import torch
from small_beliefs import make_belief

from pesky.acquire.pesc.gain import information_gain, updated_gain
from pesky.data.pending import Pending
from pesky.model import GaussianProcess
from pesky.optimum import sample_optima

X = torch.rand(40, 2, generator=torch.Generator().manual_seed(5))


def gain_of(belief: GaussianProcess, samples: int = 12):
    g = torch.Generator().manual_seed(0)
    return information_gain(belief, sample_optima(belief, samples, 120, 64, 4, g), 0.2, g)


def measured(belief: GaussianProcess, at: torch.Tensor) -> GaussianProcess:
    """The belief after every row was measured at a point, as it expected."""
    rows = belief.amplitude.shape[-1]
    y = belief.mean(at[None])
    return replace(
        belief,
        X=torch.cat([belief.X, at.expand(rows, 1, -1)], 1),
        y=torch.cat([belief.y, y], 1),
        mask=torch.cat([belief.mask, torch.ones(rows, 1, dtype=torch.bool)], 1),
    )


def test_nothing_new_changes_nothing():
    belief = make_belief(rows=3, n=8, seed=2)
    before = gain_of(belief)
    after = updated_gain(before, belief, torch.Generator())
    torch.testing.assert_close(after(X), before(X), rtol=0, atol=1e-9)


def test_a_point_that_was_measured_since_is_worth_less():
    belief = make_belief(rows=2, n=8, noise=1e-6, seed=3)
    before = gain_of(belief)
    best = X[before(X).sum(-1).argmax()]
    after = updated_gain(before, measured(belief, best), torch.Generator())
    assert after(best[None]).sum() < 0.1 * before(best[None]).sum()


def test_it_ranks_points_like_a_full_analysis_with_the_same_samples():
    """A measurement that was expected moves the means little: the sites still fit, and so do the gains."""
    belief = make_belief(rows=2, n=8, seed=4)
    before = gain_of(belief, samples=40)
    more = measured(belief, X[before(X).sum(-1).argmax()])
    g = torch.Generator().manual_seed(0)
    full = information_gain(more, before.optima, 0.2, g)(X).sum(-1)
    quick = updated_gain(before, more, g)(X).sum(-1)
    assert torch.corrcoef(torch.stack([full, quick]))[0, 1] > 0.9
    assert full[quick.argmax()] > 0.8 * full.max()


def test_what_others_have_asked_since_counts():
    belief = make_belief(rows=2, n=8, noise=1e-6, seed=3)
    before = gain_of(belief)
    best = X[before(X).sum(-1).argmax()]
    pending = Pending(best[None], torch.ones(1, 2, dtype=torch.bool))
    after = updated_gain(before, belief, torch.Generator().manual_seed(0), pending)
    assert after(best[None]).sum() < 0.2 * before(best[None]).sum()


def test_measurements_that_contradict_the_samples_do_not_break_it():
    """Sites of negative precision need not fit the new prior: they are halved until they do."""
    belief = make_belief(rows=3, n=8, seed=6)
    before = gain_of(belief)
    for value in (-30.0, 30.0):
        y = torch.cat([belief.y, torch.full((3, 4), value)], 1)
        there = before.optima.chosen.x[:4].expand(3, 4, 2)
        shocked = replace(
            belief, X=torch.cat([belief.X, there], 1), y=y, mask=torch.ones_like(y, dtype=torch.bool)
        )  # fmt: skip
        gains = updated_gain(before, shocked, torch.Generator())(X)
        assert torch.isfinite(gains).all()
