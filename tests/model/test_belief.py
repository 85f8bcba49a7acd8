"""What is one study's, and what each of its hyperparameter samples has."""

from dataclasses import dataclass, replace

import torch
from contexts import samples_of
from small_beliefs import make_belief

from pesky.likelihood import Conditions
from pesky.model import GaussianProcess, Hyperparameters
from pesky.model.belief import (
    MANY_POINTS,
    PosteriorMoments,
    anchored,
    for_hyper_samples,
    hyperparameter_samples,
    over_hyper_samples,
    repeats,
    studies,
    union,
)
from pesky.model.derived import DerivedBelief
from pesky.model.limited import with_conditions

W, S = 3, 2
"""Studies, and hyperparameter samples of each."""


def in_lockstep(samples: int | None = None) -> GaussianProcess:
    """Studies with beliefs of their own."""
    alone = [make_belief(seed=seed) for seed in range(W)]
    X, y, mask = (torch.stack([getattr(belief, name) for belief in alone]) for name in ("X", "y", "mask"))
    h = Hyperparameters(*(torch.stack(part) for part in zip(*(b.hyperparameters for b in alone), strict=True)))
    if samples is not None:
        h = Hyperparameters(*(t[:, None].expand(-1, samples, *t.shape[1:]) for t in h))
        y = y[:, None].expand(-1, samples, *y.shape[1:])
    return replace(alone[0], X=X, y=y, mask=mask, hyperparameters=h)


def test_studies_stand_before_hyperparameter_samples():
    one, lockstep = make_belief(), in_lockstep()
    assert (studies(one), hyperparameter_samples(one)) == ((), 1)
    assert (studies(samples_of(one, S)), hyperparameter_samples(samples_of(one, S))) == ((), S)
    assert (studies(lockstep), hyperparameter_samples(lockstep)) == ((W,), 1)
    assert (studies(in_lockstep(S)), hyperparameter_samples(in_lockstep(S))) == ((W,), S)


def test_beliefs_in_lockstep_are_those_of_each():
    X = torch.rand(W, 4, 2, generator=torch.Generator().manual_seed(0))
    lockstep = in_lockstep()
    for i in range(W):
        alone = make_belief(seed=i)
        torch.testing.assert_close(lockstep.mean(X)[i], alone.mean(X[i]))
        torch.testing.assert_close(lockstep.variance(X)[i], alone.variance(X[i]))
        torch.testing.assert_close(lockstep.points[i], alone.points)
    some = lockstep.of(torch.tensor([True, False, True]))
    torch.testing.assert_close(some.mean(X[[0, 2]]), lockstep.mean(X)[[0, 2]])


@dataclass(frozen=True)
class Plain(DerivedBelief):
    """A belief that answers no more than it must."""


def test_what_is_believed_at_fixed_points_comes_with_the_looks_from_there():
    bare, X = make_belief(rows=3, noise=1e-10), torch.rand(7, 2, generator=torch.Generator().manual_seed(0))
    P = torch.cat([X[:4], bare.points[:1]])
    limited = with_conditions(bare, Conditions((1,), (1,), torch.tensor([0.1]), 3))
    for belief in (bare, limited, Plain(bare)):
        here, evaluate = anchored(belief, P)
        torch.testing.assert_close(
            here, PosteriorMoments(bare.mean(P), bare.variance(P), bare.covariance(P, P)), rtol=1e-6, atol=1e-9
        )
        torch.testing.assert_close(evaluate(X), bare.evaluator(P)(X))


def test_points_are_the_same_for_all_samples_of_a_study():
    one = torch.rand(5, 2)
    assert for_hyper_samples(make_belief(), one).shape == (5, 2)
    assert torch.equal(for_hyper_samples(samples_of(make_belief(), S), one), one.expand(S, 5, 2))
    each = torch.rand(W, 5, 2)
    assert torch.equal(for_hyper_samples(in_lockstep(), each), each)
    assert torch.equal(for_hyper_samples(in_lockstep(S), each), each[:, None].expand(W, S, 5, 2))


def test_the_samples_of_a_study_are_one_dimension():
    batch = {(): make_belief(), (S,): samples_of(make_belief(), S)}
    for shape, belief in batch.items():
        values = torch.rand(*shape, 4, 7)
        assert torch.equal(over_hyper_samples(belief, values, 2), values.reshape(-1, 4, 7))
        assert torch.equal(over_hyper_samples(belief, values[..., 0]), values[..., 0].reshape(-1, 4))
    values = torch.rand(W, S, 4, 7)
    assert torch.equal(over_hyper_samples(in_lockstep(), values[:, 0], 2), values[:, :1])
    assert torch.equal(over_hyper_samples(in_lockstep(S), values, 2), values)


def test_a_repeat_is_close_to_an_earlier_point_of_its_own_study():
    line = torch.tensor([[0.1], [0.5], [0.1 + 1e-8], [0.5]])
    assert repeats(line).tolist() == [False, False, True, True]
    two = torch.stack([line, torch.tensor([[0.5], [0.4], [0.3], [0.2]])])
    assert repeats(two).tolist() == [[False, False, True, True], [False] * 4]
    assert repeats(line, 1.0).tolist() == [False, True, True, True]


def test_the_points_of_all_rows_are_united_study_by_study():
    a, b, c, zero = ([0.1, 0.1], [0.2, 0.2], [0.3, 0.3], [0.0, 0.0])
    X = torch.tensor([[[a, b], [b, c]], [[a, zero], [a, zero]], [[zero, c], [c, zero]]])
    mask = torch.tensor([[[True, True], [True, True]], [[True, False], [True, False]], [[True, True], [True, False]]])
    together = union(X, mask)
    # the second and the third have fewer: their first ones again
    assert together.tolist() == torch.tensor([[a, b, c], [a, a, a], [zero, c, zero]]).tolist()
    for i, count in enumerate((3, 1, 2)):
        assert torch.equal(union(X[i], mask[i]), together[i, :count])


def test_repeats_of_many_points_are_those_that_all_pairs_tell():
    p = torch.rand(400, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    near = p[:150] + 4e-7 * torch.randn(150, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    points = torch.cat([p, near, p[5:6].expand(30, 3)])
    assert len(points) > MANY_POINTS
    pairs = (torch.cdist(points, points, compute_mode="donot_use_mm_for_euclid_dist") < 1e-6).tril(-1).any(-1)
    assert torch.equal(repeats(points), pairs)
    assert 150 < int(pairs.sum()) <= 180
