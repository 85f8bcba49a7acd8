import math

import numpy as np
import pytest

from benchmarks.gaps import first_below, median_band, median_error


def test_first_below_counts_from_the_last_gap_above():
    assert first_below([1.0, 0.001, 0.5, 0.001, 0.002], 0.01, [3, 4, 5, 6, 7]) == 6
    assert first_below([0.001, 0.001], 0.01, [3, 10]) == 3
    assert first_below([0.1, 0.001], 0.01, [3, 10]) == 10
    assert first_below([0.001, 0.01], 0.01, [3, 4]) == math.inf
    assert first_below([0.001, math.nan], 0.01, [3, 4]) == math.inf


def test_error_of_the_median_of_normals():
    values = np.random.default_rng(1).normal(size=400)
    assert median_error(values.tolist()) == pytest.approx(math.sqrt(math.pi / 2 / 400), rel=0.3)
    assert median_error([0.1, 0.1, 0.1]) == 0.0


def test_error_of_the_median_of_three_is_that_of_all_their_draws():
    # Of 27 equally likely draws of three, the median is the lowest in 7, the middle one in 13, the highest in 7.
    assert median_error([-1.0, 0.0, 1.0]) == pytest.approx(math.sqrt(14 / 27), rel=0.05)


def test_band_is_one_error_either_side_and_never_negative():
    normal = np.random.default_rng(1).normal(size=400)
    low, high = median_band(np.stack([normal, np.exp(5 * normal)], axis=1))
    assert (high - low)[0] == pytest.approx(2 * math.sqrt(math.pi / 2 / 400), rel=0.3)
    assert np.log([low[1], high[1]]) / 5 == pytest.approx([low[0], high[0]], abs=1e-3)
