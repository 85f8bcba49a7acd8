"""Sobol' indices against functions of which they are known."""

from typing import Any

import numpy as np
import pytest
import torch
from show.studies import found, started

from pesky import Choice, Problem, Real
from pesky.answer.outlook import outlook_at
from pesky.show import importance
from pesky.show.indices import indices_of, most_important, sobol_indices
from pesky.space import Space

SPACE = Space({"a": Real(0, 1), "b": Real(0, 1), "c": Real(0, 1)})


def ishigami(U: torch.Tensor) -> dict[str, np.ndarray]:
    a, b, c = (np.pi * (2 * U.numpy().T - 1))[:3]
    return {"f": np.sin(a) + 7 * np.sin(b) ** 2 + 0.1 * c**4 * np.sin(a)}


def test_those_of_ishigamis_function():
    """The values of Sobol' and Levitan (1999) for 7 and 0.1."""
    found = sobol_indices(ishigami, SPACE, points=2**14)["f"]
    assert found.main == pytest.approx({"a": 0.3139, "b": 0.4424, "c": 0.0}, abs=0.02)
    assert found.total == pytest.approx({"a": 0.5576, "b": 0.4424, "c": 0.2437}, abs=0.02)


def test_those_of_a_sum_are_the_shares_of_its_variance():
    weights, shift = np.array([3.0, 1.0, 0.0]), 1e3
    found = sobol_indices(lambda U: {"f": U.numpy() @ weights + shift}, SPACE)["f"]
    assert found.main == pytest.approx({"a": 0.9, "b": 0.1, "c": 0.0}, abs=0.05)
    assert found.total == pytest.approx({"a": 0.9, "b": 0.1, "c": 0.0}, abs=0.05)


def test_all_columns_of_a_choice_are_one_parameter():
    space = Space({"kind": Choice(["p", "q", "r"]), "x": Real(0, 1)})
    found = sobol_indices(lambda U: {"f": U.numpy() @ np.array([0.0, 1.0, 2.0, 0.0])}, space)["f"]
    assert found.main == pytest.approx({"kind": 1.0, "x": 0.0}, abs=0.05)
    assert found.total == pytest.approx({"kind": 1.0, "x": 0.0}, abs=0.05)


def test_what_does_not_vary_has_none():
    found = sobol_indices(lambda U: {"f": np.full(len(U), 0.1)}, SPACE)["f"]
    assert found.total == {"a": 0.0, "b": 0.0, "c": 0.0}


def test_those_of_a_belief_name_every_outcome():
    found_indices = indices_of(found("mixed").inferred, points=32)
    assert list(found_indices) == ["accuracy", "latency", "converged", "profile succeeds"]
    assert all(list(each.total) == ["rate", "units", "kind"] for each in found_indices.values())


def test_options_of_which_nothing_was_told_are_left_out():
    study = started(Problem({"kind": Choice(["a", "b", "c"]), "x": Real(0, 1)}, minimize="f", constraints=["c >= 0"]))
    for x in (0.0, 0.5, 1.0):
        study.add({"kind": "a", "x": x}, {"f": x, "c": x})
        study.add({"kind": "c", "x": x}, {"c": 1 - x})
    both = indices_of(study.inferred(), points=64)
    assert (both["f"].untried, both["c"].untried) == (("b", "c"), ("b",))
    assert both["f"].total["kind"] == 0.0  # all that is known is of one option
    assert both["f"].total["x"] == pytest.approx(1.0, abs=0.1)
    assert both["c"].total["kind"] > 0.5
    figure: Any = importance(study)
    assert "f without b, c, c without b, of which nothing was told" in figure.layout.title.text


def test_where_all_options_were_tried_indices_are_those_of_the_whole_space():
    inferred = found("mixed").inferred
    whole = sobol_indices(lambda U: outlook_at(inferred, U, with_intervals=False).mean, inferred.space, 32)
    assert indices_of(inferred, points=32)["accuracy"] == whole["accuracy"]


def test_the_parameters_that_matter_most_to_any_outcome_stay_in_order():
    indices = {
        "f": sobol_indices(lambda U: {"f": U.numpy() @ np.array([5.0, 0.0, 1.0])}, SPACE)["f"],
        "g": sobol_indices(lambda U: {"g": U.numpy() @ np.array([0.0, 0.0, 1.0])}, SPACE)["g"],
    }
    assert most_important(indices, ("a", "b", "c"), 2) == ("a", "c")
    assert most_important(indices, ("a", "b", "c"), 3) == ("a", "b", "c")
