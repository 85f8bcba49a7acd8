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
