"""Whole numbers in steps: each has a cell of its own, and nothing in between is ever asked."""

import pytest
import torch

from pesky import Choice, Integer, Problem, ProblemError, Real
from pesky.numerics.rng import source_of
from pesky.problem.parameters import from_plain, in_words, to_plain
from pesky.problem.values import belongs
from pesky.space import Space

STEPPED = Integer(3, 23, step=5)
VALUES = [3, 8, 13, 18, 23]


def test_every_value_has_a_cell_as_wide_as_the_others():
    space = Space({"n": STEPPED})
    assert space.size == 5
    U = torch.linspace(0.0001, 0.9999, 1000, dtype=torch.float64)[:, None]
    decoded = space.decode_all(U)["n"].tolist()
    assert sorted(set(decoded)) == VALUES
    assert [decoded.count(value) for value in VALUES] == [200] * 5
    assert decoded == [space.decode(u)["n"] for u in U]
    for value in VALUES:
        u = space.encode({"n": value})
        assert space.decode(u) == {"n": value}
        torch.testing.assert_close(space.snap(u), u)
    torch.testing.assert_close(space.combinations(10), torch.tensor([[0.1], [0.3], [0.5], [0.7], [0.9]]).double())
    assert {space.decode(u)["n"] for u in space.neighbors(space.encode({"n": 13}))} == {8, 18}
    assert {space.decode(u)["n"] for u in space.latin(5, source_of(0))} == set(VALUES)
    torch.testing.assert_close(space.snap(U), torch.stack([space.encode({"n": int(value)}) for value in decoded]))


def test_it_is_stored_only_where_it_says_something():
    assert to_plain(Integer(0, 10)) == {"type": "integer", "low": 0, "high": 10, "log": False}
    plain = to_plain(STEPPED)
    assert plain["step"] == 5
    assert from_plain("n", plain) == STEPPED
    assert repr(STEPPED) == "Integer(low=3, high=23, log=False, step=5)"
    assert repr(Integer(0, 1)) == "Integer(low=0, high=1, log=False)"
    assert in_words(STEPPED) == "whole numbers from 3 to 23 in steps of 5"
    assert in_words(Integer(1, 1000000, log=True)) == "whole numbers from 1 to 1000000, on a log scale"
    assert in_words(Real(1e-5, 0.1, log=True)) == "from 1e-05 to 0.1, on a log scale"
    assert in_words(Choice(["a", True, 3])) == "one of a, True, 3"
    problem = Problem({"n": STEPPED, "x": Real(0, 1)}, minimize="f")
    assert Problem.from_json(problem.to_json()) == problem


def test_what_lies_between_does_not_belong():
    assert [value for value in range(30) if belongs(STEPPED, value)] == VALUES


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"step": 0}, "step was 0"),
        ({"step": 2.5}, "step was 2.5"),
        ({"step": 3}, "no step ends at high: make it 9 or 12"),
        ({"low": 1, "log": True, "step": 3}, "a log scale has no step"),
    ],
)
def test_a_step_that_cannot_be_is_refused(given, said):
    with pytest.raises(ProblemError, match=said):
        Integer(**{"low": 0, "high": 10, **given})


def test_choices_are_options():
    with pytest.raises(ProblemError, match=r"choices= is not known: write Choice\(\[\.\.\.\]\)"):
        Choice(choices=["a", "b"])
    assert Choice(options=["a", "b"]) == Choice(["a", "b"])
