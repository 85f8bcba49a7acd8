"""Random and quasi-random questions: which point, and which row."""

from dataclasses import replace

import torch
from contexts import context, feasible

from pesky.acquire.baselines import QuasiRandom, Random, prefer_row


def test_quasi_random_points_are_one_sobol_sequence_and_the_rows_take_turns():
    belief = feasible(rows=3)
    asked = [QuasiRandom().acquisition(replace(context(belief), asked=n, seed=5)) for n in range(8)]
    sequence = context(belief).space.sobol(8, 5)
    assert torch.equal(torch.stack([acquisition.u for acquisition in asked]), sequence)
    assert [int(acquisition.weight.argmax()) for acquisition in asked] == [0, 1, 2, 0, 1, 2, 0, 1]


def test_random_questions_are_uniform_and_follow_from_study_and_number_alone():
    belief = feasible(rows=3)
    asked = [Random().acquisition(replace(context(belief), asked=n, seed=5)) for n in range(300)]
    u = torch.stack([acquisition.u for acquisition in asked])
    rows = torch.stack([acquisition.weight.argmax() for acquisition in asked])
    torch.testing.assert_close(u.mean(0), torch.full((2,), 0.5), rtol=0, atol=0.07)
    torch.testing.assert_close(u.var(0), torch.full((2,), 1 / 12), rtol=0, atol=0.015)
    assert rows.bincount(minlength=3).min() > 70
    again = Random().acquisition(replace(context(belief, seed=99), asked=7, seed=5))
    assert torch.equal(again.u, u[7])


def test_where_no_task_measures_the_row_another_is_preferred_by_chance():
    belief = feasible(rows=3)
    weights = torch.stack([prefer_row(context(belief, seed=s), torch.tensor(4)) for s in range(40)])
    assert torch.equal(weights[:, 1], torch.ones(40))
    others = weights[:, [0, 2]]
    assert ((others > 0) & (others <= 1e-6)).all()
    assert 5 < int(others.argmax(-1).sum()) < 35
