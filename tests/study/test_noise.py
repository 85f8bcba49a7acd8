"""How much measurements scatter: as declared, or as their values say, in the outcome's own units."""

from dataclasses import replace
from math import exp

import pytest
import torch
from study.quick import COUPLED, measure, quick

from pesky import Problem, Real, Study
from pesky.data.formatting import noise_as_of_last_question, noise_in_words
from pesky.inference.noise import can_be_told
from pesky.store import Evaluation

UNDECLARED = replace(COUPLED, noise=None)
POINTS = torch.rand(40, 2, generator=torch.Generator().manual_seed(3), dtype=torch.float64).tolist()


def measured(problem: Problem, deviation: float, count: int = 30) -> Study:
    s, generator = Study(problem, seed=0), torch.Generator().manual_seed(1)
    errors = deviation * torch.randn(count, 2, generator=generator, dtype=torch.float64)
    for (x, y), (of_f, of_c) in zip(POINTS, errors.tolist(), strict=False):
        s.add({"x": x, "y": y}, {"f": 100 * (x**2 + exp(y)) + 100 * of_f, "c": x - y + of_c})
    return s


PLAIN = Problem({"x": Real(0, 1), "y": Real(0, 1)}, minimize="f", constraints=["c >= 0.1"])


def test_what_has_none_is_found_to_have_none():
    assert measured(PLAIN, 0.0).noise() == {"f": 0.0, "c": 0.0}


def test_what_is_found_is_in_the_units_of_each_outcome():
    noise = measured(PLAIN, 0.1).noise()
    assert noise["f"] == pytest.approx(10, rel=0.4)
    assert noise["c"] == pytest.approx(0.1, rel=0.4)


def test_what_was_declared_is_that():
    assert measured(replace(PLAIN, noise={"f": 2.0, "c": 0.0}), 0.0, 10).noise() == {"f": 2.0, "c": 0.0}


def test_it_can_be_told_of_three_values_for_each_parameter_or_three_repeats():
    s = measured(PLAIN, 0.1, 8)
    assert can_be_told(PLAIN, s.observations()) == set()
    s.add({"x": 0.5, "y": 0.5}, {"f": 1.0})
    assert can_be_told(PLAIN, s.observations()) == {"f"}
    repeated = measured(PLAIN, 0.1, 1)
    for value in (0.1, 0.2, 0.3):
        assert can_be_told(PLAIN, repeated.observations()) == set()
        repeated.add(dict(repeated.evaluations[0].params), {"c": value})
    assert can_be_told(PLAIN, repeated.observations()) == {"c"}


def test_it_is_kept_with_questions_and_said_by_them():
    s = quick(UNDECLARED)
    s.run(measure, budget=8, progress=False)
    full = max((e for e in s.evaluations.values() if e.why and "noise" in e.why), key=lambda e: e.id)
    found = noise_as_of_last_question(s.evaluations.values())
    assert found is not None
    id_, kept = found
    assert id_ == full.id
    assert kept.keys() == {"f", "c"}
    assert f"as the values said: {noise_in_words(kept)}" in str(s.explain(full))
    assert noise_as_of_last_question(list[Evaluation]()) is None
    declared = quick(replace(COUPLED, noise=0.0))
    declared.run(measure, budget=6, progress=False)
    assert not any("noise" in (e.why or {}) for e in declared.evaluations.values())
