"""A study in lockstep draws the very numbers that it draws alone."""

import pytest
import torch

from pesky.numerics import rng as chance
from pesky.numerics.rng import (
    draw_seed,
    draw_seeds,
    normal,
    normal_blocks,
    question_seed,
    sobol,
    source_of,
    split,
    studies_of,
    uniform,
)

LIKE = torch.zeros(0)
SEEDS = (3, 0, 2**40)


@pytest.mark.parametrize("drawn", [normal, uniform])
@pytest.mark.parametrize("many", [0, 10**9])
def test_each_study_draws_its_own_numbers_with_threads_or_without(drawn, many: int, monkeypatch):
    monkeypatch.setattr(chance, "MANY", many)
    sources = source_of(SEEDS)
    together = [drawn(sources, 3, 2, 5, like=LIKE) for _ in range(2)]  # and the second time others
    for i, seed in enumerate(SEEDS):
        source = source_of(seed)
        for each in together:
            assert torch.equal(each[i], drawn(source, 2, 5, like=LIKE))


def test_numbers_are_those_of_their_distribution_and_of_the_type_asked_for():
    z = normal(source_of(0), 100_000, like=LIKE)
    assert float(z.mean()) == pytest.approx(0.0, abs=0.02)
    assert float(z.std()) == pytest.approx(1.0, abs=0.02)
    u = uniform(source_of(0), 100_000, like=LIKE)
    assert float(u.min()) >= 0
    assert float(u.max()) < 1
    assert float(u.mean()) == pytest.approx(0.5, abs=0.01)
    assert normal(source_of(0), 2, like=LIKE.float()).dtype == torch.float32
    coarse = normal(source_of(0), 1000, like=LIKE, dtype=torch.float32)
    assert coarse.dtype == torch.float64
    assert torch.equal(coarse, coarse.float().double())


@pytest.mark.parametrize("many", [0, 10**9])
def test_a_study_of_fewer_columns_draws_as_many_and_has_zeros_before_them(many: int, monkeypatch):
    monkeypatch.setattr(chance, "MANY", many)
    widths = [2, 5, 1]
    together = normal(source_of(SEEDS), 3, 4, 5, like=LIKE, widths=widths)
    for part, seed, width in zip(together, SEEDS, widths, strict=True):
        assert torch.equal(part[:, 5 - width :], normal(source_of(seed), 4, width, like=LIKE))
        assert (part[:, : 5 - width] == 0).all()


@pytest.mark.parametrize("many", [0, 10**9])
def test_blocks_are_of_their_own_seeds_and_begin_alike_whatever_their_size(many: int, monkeypatch):
    monkeypatch.setattr(chance, "MANY", many)
    seeds = draw_seeds(source_of(SEEDS), 2, 3)
    assert seeds.shape == (3, 2, 3)
    assert torch.equal(seeds[1], draw_seeds(source_of(SEEDS[1]), 2, 3))
    together = normal_blocks(seeds, 7, 13, like=LIKE)
    assert together.shape == (3, 2, 3, 7, 13)
    for rows in (7, 4, 1):
        assert torch.equal(normal_blocks(seeds[1, 0, 2], rows, 13, like=LIKE), together[1, 0, 2, :rows])
    blocks = normal_blocks(torch.arange(20), 20, 500, like=LIKE)
    assert float(blocks.std()) == pytest.approx(1.0, abs=0.01)
    assert (blocks.flatten(1).double().corrcoef() - torch.eye(20)).abs().max() < 0.05


def test_points_and_seeds_are_each_study_s_own():
    together = sobol(2, 16, SEEDS)
    assert together.shape == (3, 16, 2)
    for part, seed in zip(together, SEEDS, strict=True):
        assert torch.equal(part, sobol(2, 16, seed))
    assert draw_seed(source_of(SEEDS)) == tuple(draw_seed(source_of(seed)) for seed in SEEDS)
    assert question_seed(SEEDS, 7) == tuple(question_seed(seed, 7) for seed in SEEDS)


def test_every_question_of_every_study_has_a_stream_of_its_own():
    seeds = {question_seed(seed, number) for seed in range(100) for number in range(100)}
    assert len(seeds) == 100 * 100
    assert 0 <= question_seed(2**62, 10) < 2**63  # a seed must fit


def test_only_several_studies_have_a_dimension():
    assert studies_of(source_of(SEEDS)) == (3,)
    assert studies_of(source_of(0)) == ()


def test_some_of_several_studies_can_leave_their_numbers_for_later():
    some = torch.tensor([False, True, False])
    others, own = split(source_of(SEEDS), some)
    one = torch.zeros(())
    whole = uniform(source_of(SEEDS), 3, 4, like=one)
    assert torch.equal(uniform(others, 3, 4, like=one)[~some], whole[~some])
    assert torch.equal(uniform(own, 1, 4, like=one), whole[some])
