"""Where samples have their minimum, and how they are grouped."""

import torch

from pesky.acquire.grouped.joint_samples import JointSamples, best_cells, group_by_cell


def test_the_minimum_is_sought_where_feasible_and_else_the_least_violation():
    z = torch.tensor([[[0.0, 1.0, 2.0, -9.0], [0.0, 1.0, 2.0, -9.0]], [[-1.0, 0.5, 1.0, 3.0], [-4.0, -3.0, -2.0, 5.0]]])
    cell, feasible = best_cells(z, torch.tensor([True, True, True, False]), torch.ones(2))
    assert cell.tolist() == [1, 2]
    assert feasible.tolist() == [True, False]


def test_small_groups_are_left_out_and_infeasible_samples_count_where_there_are_no_others():
    cell = torch.tensor([[0] * 5 + [3] * 3 + [2], [1] * 4 + [0] * 5])
    feasible = torch.ones(2, 9, dtype=torch.bool)
    feasible[1] = False
    groups = group_by_cell(JointSamples(torch.zeros(2, 1, 9, 1), cell, feasible), 4, 2)
    assert groups.cell.tolist() == [[0, 3], [0, 1]]
    assert groups.size.tolist() == [[5.0, 3.0], [5.0, 4.0]]
    assert groups.member.tolist() == [[0] * 5 + [1] * 3 + [2], [1] * 4 + [0] * 5]
