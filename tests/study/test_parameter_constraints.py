"""Studies with constraints on parameters: every question and the recommendation obey them."""

from typing import Any

import pytest
from study.quick import QUICK

from pesky import Integer, Problem, ProblemError, Real, Study, Task

SQUARE = {"x": Real(0, 1), "z": Real(0, 1)}
TRIANGLE = Problem(SQUARE, minimize="f", constraints=["c >= 0", "x + z <= 1"], noise=0.0)


def at(given: Any) -> tuple[float, float]:
    """The point of an evaluation or a recommendation, as numbers."""
    x, z = given.params.values()
    return float(x), float(z)


def measure(p):
    return {"f": (p["x"] - 1) ** 2 + (p["z"] - 1) ** 2, "c": p["x"] - 0.2}


@pytest.mark.parametrize("given", [{"rule": QUICK}, {"rule": "random"}, {"rule": QUICK, "deciding_share": 1e-6}])
def test_nothing_is_asked_outside(given):
    s = Study(TRIANGLE, initial=4, **given)
    s.run(measure, 9)
    assert len(s.evaluations) == 9
    assert all(sum(at(e)) <= 1 for e in s.evaluations.values())
    advice = s.recommend()
    assert sum(at(advice)) <= 1
    assert advice.probabilities["x + z <= 1"] == 1.0


def test_the_edge_is_found():
    s = Study(TRIANGLE, rule=QUICK)
    s.run(measure, 12)
    assert s.recommend().expected == pytest.approx(0.5, abs=0.05)


def test_a_finite_space_ends_when_what_is_allowed_was_measured():
    problem = Problem({"n": Integer(0, 4), "m": Integer(0, 4)}, minimize="f", constraints=["n + m <= 2"], noise=0.0)
    s = Study(problem, rule=QUICK)
    s.add({"n": 4, "m": 4}, {"f": 8.0})  # data of one's own may lie anywhere
    ending = s.run(lambda p: (p["n"] - 2) ** 2 + (p["m"] - 2) ** 2, 40)
    assert ending.kind == "space"
    asked = [at(e) for e in s.evaluations.values() if not e.is_yours]
    assert sorted(asked) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0)]


def test_tasks_apart_obey_them_too():
    problem = Problem(
        SQUARE, minimize="f", constraints=["c >= 0", "x <= z"], tasks={"f": Task(["f"]), "c": Task(["c"])}, noise=0.0
    )
    s = Study(problem, rule=QUICK, initial=2)
    s.run({"f": lambda p: measure(p)["f"], "c": lambda p: measure(p)["c"]}, 7)
    assert all(x <= z for x, z in map(at, s.evaluations.values()))


def test_a_stored_study_needs_nothing_again(tmp_path):
    url = f"sqlite:///{tmp_path / 'study.db'}"
    s = Study(TRIANGLE, storage=url, rule="random")
    s.run(measure, 3)
    again = Study.load(url, rule="random")
    e = again.ask()
    assert sum(at(e)) <= 1
    assert again.recommend().probabilities["x + z <= 1"] == 1.0
    assert Study(TRIANGLE, storage=url, rule="random").evaluations.keys() == again.evaluations.keys()


def test_a_region_without_a_point_is_refused_before_anything_is_asked():
    nowhere = "(x - z) * (x - z) <= -1e-9"  # which the problem's own look leaves open
    with pytest.raises(ProblemError, match=r"no point of the space was found where .* holds"):
        Study(Problem(SQUARE, minimize="f", constraints=[nowhere]), rule="random").ask()
