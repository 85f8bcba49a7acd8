"""Declared ranges: kept, refused in words, and left by no value, prediction or interval."""

from dataclasses import replace

import pytest
import torch
from study.quick import quick

from pesky import DataError, Outcome, Problem, ProblemError, Real
from pesky.observations import collect
from pesky.problem.outcome_values import check_outcomes
from pesky.space import Space

SPACE = {"x": Real(0, 1), "y": Real(-2, 2)}


RANGES = ({"name": "f", "low": 0, "high": 1}, Outcome("c", low=-1))


def problem(outcomes=RANGES) -> Problem:
    return Problem(SPACE, minimize="f", constraints=["c >= 0"], outcomes=outcomes)


def test_a_range_is_declared_in_a_list_or_by_name_and_kept():
    given = problem()
    assert given.ranges["f"] == Outcome("f", 0.0, 1.0)
    assert given == problem({"f": {"low": 0, "high": 1}, "c": Outcome("c", -1)})
    assert Problem.from_json(given.to_json()) == given
    assert replace(given, noise=0.1).ranges == given.ranges
    assert given.to_dict()["outcomes"] == {"f": {"low": 0.0, "high": 1.0}, "c": {"low": -1.0}}
    assert "outcomes" not in problem(None).to_dict()
    assert problem(None).difference(given) == [
        "range of 'f' is new: from 0 to 1",
        "range of 'c' is new: from -1",
    ]


@pytest.mark.parametrize(
    ("outcomes", "message"),
    [
        ([Outcome("g", low=0)], "unknown outcome 'g'"),
        ({"f": {"least": 0}}, "unknown key 'least'"),
        ({"f": {}}, "'f': neither low nor high"),
        ({"f": {"low": 1, "high": 1}}, "low was 1 and high 1: expected low below high"),
        ({"f": {"low": float("nan")}}, "'f': low was nan: expected a finite number"),
        ([Outcome("f", low=0), Outcome("f", high=0)], "'f' was given twice"),
        ("f", "outcomes was 'f': expected a list"),
    ],
)
def test_what_is_no_range_is_refused_in_words(outcomes, message):
    with pytest.raises(ProblemError, match=message):
        problem(outcomes)


def test_what_is_known_or_a_yes_has_none():
    with pytest.raises(ProblemError, match="'c' is known and needs no range"):
        Problem(SPACE, minimize="f", constraints=["c >= 0"], known={"c": len}, outcomes=[Outcome("c", low=0)])
    with pytest.raises(ProblemError, match="'c' is a yes or no and has no range"):
        Problem(SPACE, minimize="f", constraints=["c is true"], outcomes=[Outcome("c", low=0)])


def test_a_value_outside_is_refused_and_the_ends_are_inside():
    assert check_outcomes(problem(), {"f": 0, "c": 1e9}) == {"f": 0.0, "c": 1e9}
    with pytest.raises(DataError, match=r"'f' was 1\.2: expected a value from 0 to 1"):
        check_outcomes(problem(), {"f": 1.2})
    with pytest.raises(DataError, match=r"'c' was -1\.5: expected a value from -1, as"):
        check_outcomes(problem(), {"c": -1.5})


def test_nothing_in_the_units_of_users_leaves_it():
    told = [(torch.tensor([0.1 * i, 0.5]), {"f": 0.01 * i, "c": i - 0.9}) for i in range(4)]
    o = collect(problem(), Space.of(problem()), told)
    quantiles = torch.linspace(-9, 9, 7)
    assert (o.to_user(0, quantiles) >= 0).all()
    assert o.to_user(0, quantiles)[0] == 0
    assert o.to_user(1, quantiles)[0] == -1
    mean, variance = torch.tensor([-1.0]), torch.tensor([1.0])
    z = torch.randn(100_000, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    clamped = o.to_user(0, mean + z)
    assert o.mean_to_user(0, mean, variance).item() == pytest.approx(clamped.mean().item(), rel=0.05)


def test_no_prediction_of_a_study_leaves_it():
    study = quick(problem(), seed=1)
    for x in (0.4, 0.6, 0.8, 1.0):
        study.add({"x": x, "y": 0.0}, {"f": x - 0.35, "c": x})
    predicted = study.predict({"x": 0.0, "y": 0.0}).outcomes["f"]
    assert predicted.mean >= 0
    assert predicted.interval[0] >= 0
    assert predicted.interval[1] <= 1
    assert study.recommend().expected >= 0
