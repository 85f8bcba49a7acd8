"""Values as tables and command lines write them."""

import math

import numpy as np
import pytest

from pesky import Choice, Integer, Real
from pesky.errors import DataError
from pesky.problem.reading import is_empty, read_number, read_value


@pytest.mark.parametrize(
    ("parameter", "given", "value"),
    [
        (Real(0, 1), "0.25", 0.25),
        (Real(0, 1), 3, 3.0),
        (Real(0, 1), np.float32(0.5), 0.5),
        (Integer(1, 4), 3.0, 3),
        (Integer(1, 4), "3.0", 3),
        (Integer(1, 4), np.int64(9), 9),
        (Choice(["a", "1"]), "1", "1"),
        (Choice(["1", 1]), 1, 1),
        (Choice([16, 32]), "32", 32),
        (Choice([16, 32]), 32.0, 32),
        (Choice([True, False]), "no", False),
        (Choice(["yes", "no"]), "no", "no"),
        (Choice(["a b", "c"]), " a b ", "a b"),
    ],
)
def test_a_value_is_read_as_the_parameter_has_it(parameter, given, value):
    found = read_value("p", parameter, given)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("parameter", "given", "words"),
    [
        (Real(0, 1), "a lot", "'p' was 'a lot': expected a finite number"),
        (Real(0, 1), True, "expected a finite number"),
        (Real(0, 1), math.inf, "expected a finite number"),
        (Integer(1, 4), 2.5, "'p' was 2.5: expected a whole number"),
        (Choice(["a", "b"]), "c", "'p' was 'c': expected one of 'a', 'b'"),
        (Choice([1, 2]), "x", "expected one of 1, 2"),
    ],
)
def test_what_is_no_value_is_said_so(parameter, given, words):
    with pytest.raises(DataError, match=words):
        read_value("p", parameter, given)


def test_empty_cells_and_numbers():
    assert all(map(is_empty, (None, "", " ", math.nan, np.float64("nan"))))
    assert not any(map(is_empty, (0, "0", False, "nan?")))
    assert [read_number(each) for each in ("1e-3", "Yes", "false", np.float32(2), True)] == [1e-3, 1.0, 0.0, 2.0, 1.0]
    assert math.isnan(read_number("many"))
