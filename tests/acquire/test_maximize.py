"""The best point for every task: known maxima, shares, discrete moves."""

import pytest
import torch

from pesky.acquire.maximize import FINALISTS, Effort, best_of, maximize
from pesky.optimum.starts import spread_out

CANDIDATES = torch.rand(200, 2, generator=torch.Generator().manual_seed(0))
PEAKS = torch.tensor([[0.2, 0.3], [0.8, 0.9]])


def bumps(x: torch.Tensor) -> torch.Tensor:
    """Row j has one peak, of height 1, at PEAKS[j]."""
    return torch.exp(-20 * (x[:, None] - PEAKS).square().sum(-1))


def test_each_task_has_the_maximum_of_its_own_rows():
    best = maximize(lambda x: bumps(x) @ torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.2, 1.0]]).mT, CANDIDATES)
    torch.testing.assert_close(best.x[:2], PEAKS, rtol=0, atol=1e-3)
    torch.testing.assert_close(best.value[:2], torch.ones(2), rtol=0, atol=1e-5)
    torch.testing.assert_close(best.x[2], PEAKS[1], rtol=0, atol=1e-2)


def test_the_best_is_sought_where_the_margin_allows():
    """The first peak is left of the line x = 0.5, the second right of it; the line cuts off the first."""
    best = maximize(bumps, CANDIDATES, margin=lambda x: x[:, 0] - 0.5)
    torch.testing.assert_close(best.x, torch.tensor([[0.5, 0.3], [0.8, 0.9]]), rtol=0, atol=5e-3)
    assert (best.x[:, 0] >= 0.5).all()


def test_the_best_within_a_curved_margin_is_at_its_edge_and_not_beyond():
    """Within the circle around (0.5, 0.5) that cuts both peaks off, the nearest points to these."""
    middle, radius = torch.tensor([0.5, 0.5]), 0.2
    best = maximize(bumps, CANDIDATES, margin=lambda x: radius**2 - (x - middle).square().sum(-1))
    apart = (best.x - middle).norm(dim=-1)
    assert (apart <= radius).all()
    torch.testing.assert_close(apart, torch.full_like(apart, radius), rtol=0, atol=2e-3)
    edge = middle + radius * torch.nn.functional.normalize(PEAKS - middle, dim=-1)
    assert (best.value >= bumps(edge).diagonal() - 1e-3).all()


def test_where_no_point_is_allowed_the_least_forbidden_are():
    best = maximize(bumps, CANDIDATES, margin=lambda x: x[:, 0] - 2.0)
    assert (best.x[:, 0] > 0.9).all()


def test_less_effort_is_still_no_worse_than_the_best_candidate():
    best = maximize(bumps, CANDIDATES, effort=Effort(starts=1, steps=2))
    assert (best.value >= bumps(CANDIDATES).amax(0)).all()


def test_a_rough_look_leaves_few_candidates_and_the_same_maxima():
    seen = []

    def values(x: torch.Tensor) -> torch.Tensor:
        seen.append(len(x))
        return bumps(x)

    best = maximize(values, CANDIDATES, rough=lambda x: bumps(x + 0.05))
    assert seen[0] == 2 * FINALISTS
    torch.testing.assert_close(best.x, PEAKS, rtol=0, atol=1e-3)


def test_maxima_on_the_faces_are_found():
    best = maximize(lambda x: x[:, :1] - 2 * x[:, 1:], CANDIDATES)
    torch.testing.assert_close(best.x, torch.tensor([[1.0, 0.0]]), rtol=0, atol=1e-6)


def test_the_best_is_no_worse_than_the_best_candidate():
    wavy = lambda x: torch.sin(40 * x).sum(-1, keepdim=True)  # noqa: E731
    best = maximize(wavy, CANDIDATES)
    assert best.value.item() >= wavy(CANDIDATES).max().item()


def test_discrete_moves_reach_what_the_ascent_cannot():
    """The second column is one of eleven levels, and flat in between; candidates know only the lowest."""

    def gains(x: torch.Tensor) -> torch.Tensor:
        level = (10 * x[:, 1].detach()).round() / 10
        return (-((x[:, 0] - 0.37) ** 2) + level)[:, None]

    def neighbors(u: torch.Tensor) -> torch.Tensor:
        up = u + torch.tensor([0.0, 0.5])
        down = u - torch.tensor([0.0, 0.5])
        return torch.stack([up, down]).clamp(0, 1)

    low = CANDIDATES * torch.tensor([1.0, 0.0])
    best = maximize(gains, low, neighbors)
    torch.testing.assert_close(best.x, torch.tensor([[0.37, 1.0]]), rtol=0, atol=1e-3)
    assert best.value.item() > 0.999


def test_starts_keep_apart_and_the_best_comes_first():
    values = -(CANDIDATES - 0.5).square().sum(-1)
    chosen = spread_out(CANDIDATES, values, 5)
    torch.testing.assert_close(chosen[0], CANDIDATES[values.argmax()])
    assert torch.cdist(chosen, chosen, p=float("inf")).fill_diagonal_(1).min() >= 0.05


def test_where_all_candidates_are_close_the_number_of_starts_is_kept():
    chosen = spread_out(torch.full((7, 2), 0.5), torch.zeros(7), 4)
    assert chosen.shape == (4, 2)
    assert torch.isfinite(spread_out(CANDIDATES, torch.full((200,), torch.nan), 3)).all()


def test_of_what_a_task_is_allowed_the_best_is_taken_that_has_the_most_margin():
    """To the first all is allowed, also what is inside; to the second only what is outside, and of that the nearest."""
    line = torch.linspace(0, 1, 101)[:, None]
    allowed = torch.cat([torch.ones_like(line), (line > 0.595)], -1).bool()
    best = best_of(lambda X: X.expand(-1, 2), line, allowed, lambda X: 0.505 - X[:, 0])
    torch.testing.assert_close(best.x[:, 0], torch.tensor([0.5, 0.62]))
    torch.testing.assert_close(best.value, best.x[:, 0])


@pytest.mark.parametrize("nothing", [-torch.inf, torch.nan])
def test_what_is_allowed_is_taken_even_if_it_is_worth_nothing(nothing: float):
    line = torch.linspace(0, 1, 11)[:, None]
    best = best_of(lambda X: torch.full_like(X, nothing), line, line > 0.95)
    assert best.x.item() == 1.0
