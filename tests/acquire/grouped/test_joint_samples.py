"""Samples and their mirror images, and how they are grouped."""

import torch
from small_beliefs import make_belief

from pesky.acquire.grouped.inducing import whiten
from pesky.acquire.grouped.joint_samples import (
    JointSamples,
    draw_joint_samples,
    first_part,
    group_by_cell,
    pair_members,
    sum_by_group,
    values_at,
    without_digits,
)
from pesky.optimum.minimize import lowest_feasible


def test_small_groups_are_left_out_and_infeasible_samples_count_where_there_are_no_others():
    cell = torch.tensor([[0] * 5 + [3] * 3 + [2], [1] * 4 + [0] * 5])
    feasible = torch.ones(2, 9, dtype=torch.bool)
    feasible[1] = False
    groups = group_by_cell(
        JointSamples(torch.zeros(2, 9, 1), torch.zeros(2, 1, 9, dtype=torch.long), cell, feasible), 4, 2
    )
    assert groups.cell.tolist() == [[0, 3], [0, 1]]
    assert groups.size.tolist() == [[5.0, 3.0], [5.0, 4.0]]
    assert groups.member.tolist() == [[0] * 5 + [1] * 3 + [2], [1] * 4 + [0] * 5]


def test_half_of_the_samples_mirror_the_others():
    belief = make_belief(2, 5, 1, offsets=(0.3,), lengthscale=0.2)
    cells = torch.linspace(0, 1, 30)[:, None]
    whitened, everywhere = whiten(belief, cells), torch.ones(30, dtype=torch.bool)
    samples = draw_joint_samples(belief, whitened, cells, everywhere, 401, torch.tensor([1, 2]))
    moments, loadings = whitened(cells)
    first = values_at(samples.coordinates, loadings)
    apart = torch.cat([first, -first], 1)
    assert apart.shape[-2] == len(samples.cell) == 402
    cell, is_feasible = lowest_feasible(moments.mean[:, None] + apart, belief.amplitude.sqrt(), everywhere)
    assert bool((cell == samples.cell).all())
    assert bool((is_feasible == samples.is_feasible).all())

    few = first_part(samples)
    assert bool((few.coordinates == samples.coordinates[:, :50]).all())
    assert few.cell.tolist() == [*cell[:50].tolist(), *cell[201:251].tolist()]


def test_sums_over_groups_have_mirror_images_with_their_sign():
    values, member = torch.randn(2, 3, 6, 4), torch.randint(5, (2, 12))
    for sign in (1, -1):
        all_of_them = torch.cat([values, sign * values], -2)
        expected = torch.stack([(all_of_them * (member == g)[:, None, :, None]).sum(-2) for g in range(5)], -2)
        torch.testing.assert_close(sum_by_group(values, pair_members(member, 3, 5), sign), expected.double())


def known_at(*values: float) -> torch.Tensor:
    return torch.tensor(values)


def test_digits_do_not_matter_where_few_samples_gain_nearly_all():
    value = torch.tensor([0.01, -0.01, 0.02, -0.02, 0.0, 0.01, -0.03, 0.0, -1.0, -2.0])
    cell, everywhere = torch.arange(10), torch.ones(10, dtype=torch.bool)
    known = known_at(0.5, 0.0, *(torch.inf,) * 8)
    assert without_digits(cell, everywhere, value, known, 0.3).tolist() == [1] * 8 + [8, 9]


def test_digits_are_what_is_gained_where_most_samples_gain_as_much():
    """Improvements of one solution: half-normal, as those of a mean of finite accuracy are."""
    value = 1e-3 * torch.randn(2000, generator=torch.Generator().manual_seed(0))
    cell, everywhere = torch.arange(2000), torch.ones(2000, dtype=torch.bool)
    assert bool((without_digits(cell, everywhere, value, known_at(0.0, 1.0), 0.3) == cell).all())


def test_where_nothing_is_known_to_be_had_all_cells_count():
    value, cell = torch.zeros(6), torch.arange(6)
    nowhere = torch.full((6,), torch.inf)
    assert without_digits(cell, torch.ones(6, dtype=torch.bool), value, nowhere, 0.3).tolist() == cell.tolist()


def test_samples_that_are_feasible_nowhere_stay_where_they_are_and_batch_elements_by_themselves():
    value = torch.tensor([[0.0, 0.0, 0.0, 0.0, -1.0], [-1.0, -1.1, -0.9, -1.0, -1.2]])
    is_feasible = torch.tensor([[True, True, True, False, True], [True] * 5])
    cell = torch.arange(5).expand(2, 5)
    known = torch.tensor([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    assert without_digits(cell, is_feasible, value, known, 0.3).tolist() == [[2, 2, 2, 3, 4], [0, 1, 2, 3, 4]]
