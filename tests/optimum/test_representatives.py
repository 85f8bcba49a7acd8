"""Weighted medoids stand for the draws; plain draws are the paper's."""

import torch

from pesky.optimum.representatives import plain_draws, representatives


def clusters() -> tuple[torch.Tensor, torch.Tensor]:
    """Thirty draws around one corner, ten around another, one far away; and which cluster each is of."""
    g = torch.Generator().manual_seed(0)
    centers = torch.tensor([[0.2, 0.2]] * 30 + [[0.8, 0.7]] * 10 + [[0.1, 0.9]])
    return centers + 0.02 * torch.randn(41, 2, generator=g), torch.tensor([0] * 30 + [1] * 10 + [2])


def run(x, count, usable=None, lengthscale=(0.3, 0.3), seed=0):
    usable = torch.ones(x.shape[:-1], dtype=torch.bool) if usable is None else usable
    scale = torch.tensor(lengthscale).expand(*x.shape[:-2], x.shape[-1])
    return representatives(x, usable, scale, count, torch.Generator().manual_seed(seed))


def test_medoids_are_draws_with_their_clusters_shares_heaviest_first():
    x, cluster = clusters()
    found = run(x, 3)
    assert cluster[found.draw].tolist() == [0, 1, 2]
    torch.testing.assert_close(found.weight, torch.tensor([30.0, 10.0, 1.0]) / 41)
    torch.testing.assert_close(found.x, x[found.draw])
    # the medoid is the draw nearest to the middle of its cluster
    middle = x[:30].mean(0)
    assert found.draw[0] == (x[:30] - middle).norm(dim=-1).argmin()


def test_weights_sum_to_one_and_no_draw_comes_twice():
    g = torch.Generator().manual_seed(1)
    for count in (1, 5, 20):
        found = run(torch.rand(100, 3, generator=g), count, lengthscale=(0.3, 0.1, 1.0))
        torch.testing.assert_close(found.weight.sum(), torch.tensor(1.0))
        assert found.draw.unique().numel() == found.draw.numel() == count
        assert (found.weight.diff() <= 0).all()


def test_repeated_draws_are_one_point():
    x = torch.tensor([[0.1], [0.9], [0.1], [0.1]])
    found = run(x, 4, lengthscale=(0.3,))
    torch.testing.assert_close(found.x, torch.tensor([[0.1], [0.9]]))
    torch.testing.assert_close(found.weight, torch.tensor([0.75, 0.25]))


def test_unusable_draws_have_no_say():
    x, cluster = clusters()
    found = run(x, 3, usable=cluster != 1)
    assert set(cluster[found.draw].tolist()) == {0, 2}
    torch.testing.assert_close(found.weight.sum(), torch.tensor(1.0))


def test_distances_are_in_lengthscales():
    g = torch.Generator().manual_seed(2)
    x = torch.rand(200, 2, generator=g)
    found = run(x, 8, lengthscale=(0.1, 100.0))
    nearest = (x[:, None, 0] - found.x[None, :, 0]).abs().argmin(-1)
    shares = torch.bincount(nearest, minlength=8) / 200
    torch.testing.assert_close(found.weight, shares.double())
    assert found.x[:, 0].sort().values.diff().min() > 0.04


def test_batch_elements_have_clusters_of_their_own():
    x, cluster = clusters()
    both = torch.stack([x, torch.full_like(x, 0.4)])
    found = run(both, 3)
    assert cluster[found.draw[0]].tolist() == [0, 1, 2]
    torch.testing.assert_close(found.weight[1].max(), torch.tensor(1.0))
    torch.testing.assert_close(found.weight.sum(-1), torch.ones(2))


def test_the_same_generator_gives_the_same_medoids():
    x = torch.rand(60, 2, generator=torch.Generator().manual_seed(3))
    assert torch.equal(run(x, 7, seed=1).draw, run(x, 7, seed=1).draw)


def test_plain_draws_are_usable_ones_equally_weighted():
    x = torch.tensor([0.5, 0.9, 0.1, 0.3, 0.8, 0.2])[:, None]
    usable = torch.tensor([False, True, False, True, True, True])
    found = plain_draws(x, usable, 3)
    assert found.draw.unique().numel() == 3
    assert usable[found.draw].all()
    torch.testing.assert_close(found.x, x[found.draw])
    torch.testing.assert_close(found.weight, torch.full((3,), 1 / 3))
    assert set(plain_draws(x, usable, 4).draw.tolist()) == {1, 3, 4, 5}


def test_unusable_draws_fill_up_where_too_few_are_usable():
    x = torch.tensor([0.5, 0.9, 0.1, 0.3, 0.8, 0.2])[:, None]
    found = plain_draws(x, torch.tensor([False, True, False, True, False, False]), 4)
    assert found.draw.unique().numel() == 4
    assert {1, 3} <= set(found.draw.tolist())
    assert plain_draws(x, torch.zeros(6, dtype=torch.bool), 9).draw.unique().numel() == 6


def test_thinned_draws_keep_the_distribution():
    x = torch.rand(4000, 2, generator=torch.Generator().manual_seed(4)).square()
    found = plain_draws(x, torch.ones(4000, dtype=torch.bool), 400)
    torch.testing.assert_close(found.x.mean(0), x.mean(0), rtol=0, atol=0.04)
    torch.testing.assert_close(found.x.std(0), x.std(0), rtol=0, atol=0.03)
