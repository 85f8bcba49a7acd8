import math

import numpy as np
import pytest

from benchmarks.gaps import first_below, median_error


def test_first_below_counts_from_the_last_gap_above():
    assert first_below([1.0, 0.001, 0.5, 0.001, 0.002], 0.01, first=3) == 6
    assert first_below([0.001, 0.001], 0.01, first=3) == 3
    assert first_below([0.001, 0.01], 0.01, first=3) == math.inf
    assert first_below([0.001, math.nan], 0.01, first=3) == math.inf


def test_error_of_the_median_of_normals():
    values = np.random.default_rng(1).normal(size=400)
    assert median_error(values.tolist()) == pytest.approx(math.sqrt(math.pi / 2 / 400), rel=0.3)
    assert median_error([2.0, 2.0]) == 0.0
