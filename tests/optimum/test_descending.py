"""When a search for the answer ends that is one of several."""

import numpy as np

from pesky.numerics import sqp
from pesky.optimum.recommend import FIRST_STEPS, _Descending

STEPS = 25


def searches(*each: list[tuple[float, float]]) -> list[list[bool]]:
    """Whether searches go on, after each step, that have such objectives and margins on the way."""
    scale, doubt = np.ones((len(each), 2)), np.zeros(len(each))
    goes_on = _Descending(scale, doubt, studies=1, steps=STEPS)
    said = []
    for step, values in enumerate(zip(*each, strict=True)):
        progress = sqp.Progress(np.array(values), expected=np.ones(len(each)), steps=step)
        said.append(goes_on(progress).tolist())
    return said


def test_a_search_ends_that_does_not_come_to_hold_where_another_does():
    best = [(1.0, 0.1), (0.0, 0.1), (0.0, 0.1), (0.0, 0.1), (0.0, 0.1)]
    stuck = [(-1.0, -0.5), (-1.0, -0.5), (-1.0, -0.5), (-1.0, -0.499), (-1.0, -0.498)]
    nearing = [(-1.1, -0.5), (-1.0, -0.4), (-1.0, -0.3), (-1.0, -0.2), (-1.0, -0.1)]
    falling = [(0.5, -0.1), (0.2, -0.2), (-0.1, -0.3), (-0.4, -0.4), (-0.7, -0.5)]
    said = searches(best, stuck, nearing, falling)
    assert said[:3] == [[True] * 4] * 3
    assert said[3:] == [[True, False, True, True]] * 2
    assert searches(stuck)[-1] == [True]  # where nothing holds, the least that is missed is the answer


def test_a_search_ends_that_is_behind_by_more_than_its_speed_makes_up():
    best = [(0.5 - 0.1 * i, 0.0) for i in range(14)]
    slow = [(2.0 - 0.001 * i, 0.0) for i in range(14)]
    quick = [(1.85 - 0.1 * i, 0.0) for i in range(14)]
    said = searches(best, slow, quick)
    assert [on[0] for on in said] == [True] * 14
    assert [on[1] for on in said] == [True] * 3 + [False] * 11
    # in the steps that are left it would make that up, but later not in the few more that it has then
    assert [on[2] for on in said] == [True] * FIRST_STEPS + [False] * 2


def test_the_best_goes_on_however_slowly_and_a_trifle_outside():
    best = [(0.0, -9e-4), (0.0, -8e-4), (0.0, -7e-4), (0.0, -6e-4), (0.0, -5e-4)]
    assert searches(best, [(1.0, 0.0)] * 5)[-1] == [True, False]
