"""What is told of an outcome is a finite number, or a yes or no."""

import math

import numpy as np
import pytest
import torch

from pesky import DataError
from pesky.problem.outcome_values import answer, finite_number


@pytest.mark.parametrize("given", [2, 0.5, math.nan, None, "yes"])
def test_only_a_yes_or_a_no_can_be_told(given):
    assert [answer("ok", each) for each in (True, 0, np.True_)] == [1.0, 0.0, 1.0]
    with pytest.raises(DataError, match=r"'ok' was .*yes or no.*True or False"):
        answer("ok", given)


@pytest.mark.parametrize(
    "given",
    [math.nan, math.inf, None, "many", [1.0, 2.0], 10**400, 10**5000],
    ids=lambda each: None if isinstance(each, float) else type(each).__name__,  # pytest shows no number of 5000 digits
)
def test_only_finite_numbers_can_be_told(given):
    with pytest.raises(DataError, match=r"'f' was .*expected a finite number.*`study\.fail`.*--failed") as raised:
        finite_number("f", given)
    assert len(str(raised.value)) < 250


@pytest.mark.parametrize("given", [2, np.int8(2), np.float32(2), np.array([2.0]), torch.tensor([2])])
def test_numbers_of_any_library_can_be_told(given):
    assert finite_number("f", given) == 2.0
