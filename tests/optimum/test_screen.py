"""Points that cannot be the solution are left out, and no others."""

from dataclasses import replace

import pytest
import torch
from small_beliefs import make_belief

from pesky.model import Hyperparameters
from pesky.optimum.minimize import best_candidates
from pesky.optimum.screen import possible_solutions


def everywhere(count: int = 400) -> torch.Tensor:
    return torch.rand(count, 2, generator=torch.Generator().manual_seed(5))


@pytest.mark.parametrize(("rows", "offsets"), [(1, ()), (2, (1.0,)), (3, (1.5, 0.5))])
def test_what_is_best_in_any_draw_is_kept(rows, offsets):
    belief, X = make_belief(rows=rows, n=30, seed=2, offsets=offsets), everywhere()
    kept = possible_solutions(belief, X)
    assert len(kept) < 0.7 * len(X)
    paths = belief.paths(3000, torch.Generator().manual_seed(1))
    best = best_candidates(paths, X, belief.amplitude.sqrt())
    is_kept = (X[:, None] == kept).all(-1).any(-1)
    assert is_kept[best.which].double().mean() > 0.9995


def test_where_no_point_certainly_holds_all_are_kept():
    belief, X = make_belief(rows=2, n=30, offsets=(-6.0,)), everywhere()
    assert torch.equal(possible_solutions(belief, X), X)


def test_what_one_hyperparameter_sample_may_have_for_its_solution_is_kept():
    one, X = make_belief(rows=2, n=30, seed=2, offsets=(1.0,)), everywhere()
    h = one.hyperparameters
    other = replace(one, hyperparameters=h._replace(lengthscale=0.4 * h.lengthscale))
    both = replace(one, hyperparameters=Hyperparameters(*map(torch.stack, zip(h, other.hyperparameters, strict=True))))
    kept = {tuple(x) for x in possible_solutions(both, X).tolist()}
    of_each = [{tuple(x) for x in possible_solutions(each, X).tolist()} for each in (one, other)]
    assert of_each[0] != of_each[1]
    assert kept == of_each[0] | of_each[1]


def test_of_very_many_data_all_are_kept(monkeypatch):
    belief, X = make_belief(rows=2, n=30, seed=2, offsets=(1.0,)), everywhere()
    monkeypatch.setattr("pesky.optimum.screen.MANY", 29)
    assert torch.equal(possible_solutions(belief, X), X)
