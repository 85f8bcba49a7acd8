from dataclasses import replace

import pytest
import torch
from torch import Tensor

from pesky.model import through
from pesky.model.belief import Belief
from pesky.model.hyper import Hyperparameters
from pesky.model.surrogate import GP
from pesky.model.through import with_others
from pesky.observations import Observations
from pesky.optimum import active_set
from pesky.optimum.active_set import Parted, has_many
from pesky.optimum.sample import sample_cells
from pesky.problem import Problem, Real
from pesky.space import Space

DIM, NOISE = 2, 0.01
SPACE = Space.of(Problem({"a": Real(0.0, 1.0), "b": Real(0.0, 1.0)}, minimize="f", constraints=["c >= 0"]))


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(through, "EXACT", 120)
    monkeypatch.setattr(active_set, "KEPT", 60)


def measured(counts: tuple[int, int], gathered: float = 0.6, seed: int = 0) -> tuple[Observations, Hyperparameters]:
    """An objective and a constraint of so many values, this share of them around the solution (0.42, 0.6)."""
    generator, N = torch.Generator().manual_seed(seed), max(counts)
    X = torch.rand(N, DIM, generator=generator, dtype=torch.float64)
    near = torch.tensor([0.42, 0.6]) + 0.05 * torch.randn(N, DIM, generator=generator, dtype=torch.float64)
    is_near = torch.rand(N, generator=generator) < gathered
    X = torch.where(is_near[:, None], near, X)
    truth = torch.stack([8 * (X - torch.tensor([0.3, 0.6])).square().sum(-1) - 1, 3 * (X[:, 0] - 0.42)])
    y = truth + NOISE**0.5 * torch.randn(2, N, generator=generator, dtype=torch.float64)
    mask, one = torch.arange(N) < torch.tensor(counts)[:, None], torch.ones(2, dtype=torch.float64)
    o = Observations(
        X.expand(2, N, DIM), torch.where(mask, y, 0.0), mask, NOISE * one, one, 0 * one, one, ("gaussian",) * 2
    )
    return o, Hyperparameters(torch.full((2, DIM), 0.4, dtype=torch.float64), 2 * one, NOISE * one, 0 * one)


def chosen(o: Observations, h: Hyperparameters) -> Parted:
    def believe(parted: Parted) -> Belief:
        return with_others(GP().condition(parted.kept, h, None), parted.others)

    assert has_many(o)
    return active_set.active_set(o, h, believe, SPACE, 0)


def values(o: Observations, row: int) -> list[float]:
    return o.y[row][o.mask[row]].tolist()


def error(belief: Belief, exact: Belief, cells: Tensor) -> float:
    """How far the means are apart, and how much the variances differ, in units of the exact ones."""
    variance = exact.variance(cells)
    off = ((belief.mean(cells) - exact.mean(cells)).square() / variance).mean().sqrt()
    return float(off + (belief.variance(cells) / variance - 1).abs().mean())


def test_every_value_is_kept_or_among_the_others():
    o, h = measured((300, 150))
    parted = chosen(o, h)
    for row in range(2):
        both = values(parted.kept, row) + values(parted.others, row)
        assert sorted(both) == sorted(values(o, row))
        assert len(values(parted.kept, row)) == 60


def test_a_row_of_few_values_keeps_them_all():
    o, h = measured((300, 100))
    parted = chosen(o, h)
    assert values(parted.kept, 1) == values(o, 1)
    assert not parted.others.mask[1].any()


def test_of_a_row_without_noise_as_many_are_kept_as_are_exact():
    o, h = measured((300, 150))
    free = h._replace(noise=torch.tensor([1e-10, 1.0], dtype=torch.float64) * h.noise)
    parted = chosen(replace(o, noise=torch.tensor([0.0, NOISE], dtype=torch.float64)), free)
    assert [len(values(parted.kept, row)) for row in range(2)] == [120, 60]


def test_it_is_the_same_every_time():
    o, h = measured((300, 150))
    assert torch.equal(chosen(o, h).kept.X, chosen(o, h).kept.X)


@pytest.mark.parametrize("gathered", [0.0, 0.6])
def test_it_says_where_the_solution_may_be_as_all_values_do_and_others_do_not(gathered: float):
    o, h = measured((400, 400), gathered)
    exact, generator = GP().condition(o, h, None), torch.Generator().manual_seed(1)
    candidates = torch.rand(300, DIM, generator=generator, dtype=torch.float64)
    cells = sample_cells(exact, 60, 100, candidates, 5, generator).chosen.x
    parted = chosen(o, h)
    kept = GP().condition(parted.kept, h, None)
    some = GP().condition(o.thinned(60), h, None)
    found = error(with_others(kept, parted.others), exact, cells)
    assert found < 0.3
    assert found < 0.5 * error(kept, exact, cells)
    assert found < 0.15 * error(some, exact, cells)


def test_each_row_keeps_what_is_near_by_its_own_lengthscales():
    o, h = measured((400, 400), 0.0)
    lengthscale = torch.tensor([[0.1, 10.0], [10.0, 0.1]], dtype=torch.float64)
    parted = chosen(o, h._replace(lengthscale=lengthscale))
    kept = [{tuple(x) for x in parted.kept.X[row].tolist()} for row in range(2)]
    assert len(kept[0] & kept[1]) < 50
    alike = chosen(o, h)
    assert torch.equal(*alike.kept.X)


def test_repeats_of_a_point_are_kept_once():
    o, h = measured((200, 200))
    few = (o.X * 6).round() / 6
    parted = chosen(replace(o, X=few), h)
    for row in range(2):
        X = parted.kept.X[row][parted.kept.mask[row]]
        assert len(X.unique(dim=0)) == len(X)
        assert len(X) == min(60, len(few[row].unique(dim=0)))


def test_yes_and_no_are_kept_as_often_as_they_were_told():
    o, h = measured((200, 200))
    o = replace(o, X=(o.X * 6).round() / 6, y=torch.stack([o.y[0], o.y[1].sign()]), kinds=("gaussian", "probit"))
    parted = chosen(o, h._replace(noise=torch.tensor([NOISE, 1.0], dtype=torch.float64)))
    X = parted.kept.X[1][parted.kept.mask[1]]
    assert len(X) == 60
    assert len(X.unique(dim=0)) < 60
