"""Sobol' indices against functions of which they are known."""

import numpy as np
import pytest
import torch
from show.studies import found

from pesky import Choice, Real
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
    found_indices = indices_of(found("mixed").grounds, points=32)
    assert list(found_indices) == ["accuracy", "latency", "converged", "profile succeeds"]
    assert all(list(each.total) == ["rate", "units", "kind"] for each in found_indices.values())


def test_the_parameters_that_matter_most_to_any_outcome_stay_in_order():
    indices = {
        "f": sobol_indices(lambda U: {"f": U.numpy() @ np.array([5.0, 0.0, 1.0])}, SPACE)["f"],
        "g": sobol_indices(lambda U: {"g": U.numpy() @ np.array([0.0, 0.0, 1.0])}, SPACE)["g"],
    }
    assert most_important(indices, ("a", "b", "c"), 2) == ("a", "c")
    assert most_important(indices, ("a", "b", "c"), 3) == ("a", "b", "c")
