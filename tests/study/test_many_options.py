"""A choice of many options: what a recommendation takes, and from how many on none is made."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pesky import Choice, Problem, ProblemError, Real
from pesky.problem.problem import MOST_OPTIONS

RECOMMEND = Path(__file__).with_name("recommend_of_options.py")


def usage(options: int, reals: int) -> dict[str, float]:
    """Gigabytes and processor seconds of a process that recommends one of so many options."""
    arguments = [sys.executable, str(RECOMMEND), str(options), str(reals)]
    return json.loads(subprocess.run(arguments, check=True, capture_output=True, text=True, timeout=300).stdout)


@pytest.mark.skipif(sys.platform == "win32", reason="the system does not say what a process used")
@pytest.mark.parametrize("reals", [0, 1, 5])
def test_memory_grows_with_options_and_not_with_their_square(reals):
    used = usage(300, reals)
    assert used["gigabytes"] < 0.15, used  # with one real parameter it was 1.5
    assert used["seconds"] < 8, used


@pytest.mark.skipif(sys.platform == "win32", reason="the system does not say what a process used")
@pytest.mark.parametrize("reals", [0, 1])
def test_one_of_a_thousand_options_is_recommended(reals):
    used = usage(1000, reals)
    assert used["whole gigabytes"] < 1, used
    assert used["seconds"] < 15, used  # 7 on a machine that does nothing else


@pytest.mark.parametrize("choices", [1, 4])
def test_more_options_than_a_model_takes_are_refused(choices):
    each = Choice([f"o{i}" for i in range(20_000 // choices)])
    with pytest.raises(ProblemError, match="the choices have 20,000 options: expected at most 2,000 in all"):
        Problem({"x": Real(0, 1), **{f"k{i}": each for i in range(choices)}}, minimize="f")
    most = Choice([f"o{i}" for i in range(MOST_OPTIONS)])
    problem = Problem({"k": most}, minimize="f")
    assert Problem.from_json(problem.to_json()) == problem
    stored = problem.to_json().replace('"o0"', '"o0", "one more"')
    with pytest.raises(ProblemError, match="2,001 options"):
        Problem.from_json(stored)
