"""What is asked while no function that fits the data has a feasible point."""

import pytest
from study.quick import SPACE, SPLIT, quick

from pesky import Problem

EXACT = Problem(SPACE, minimize="f", constraints=["c >= 0"], noise=0.0)


def hopeless(**given):
    """Six points, all of them as infeasible as the next: a belief that is sure, and may be sure of the wrong thing."""
    s = quick(EXACT, **given)
    for i, (x, y) in enumerate([(0.1, -1.5), (0.5, -1.0), (0.8, -1.7), (0.2, 0.1), (0.6, 0.5), (0.4, -0.4)]):
        s.add({"x": x, "y": y}, {"f": x + 0.1 * y, "c": -1 - 0.01 * i})
    return s


def test_every_other_question_is_where_all_constraints_most_probably_hold():
    s = hopeless()
    asked = []
    for _ in range(2):
        asked.append(s.ask())
        if (asked[-1].why or {})["kind"] == "seeking":
            here, *corners = (
                s.predict(params).probabilities["c >= 0"]
                for params in (asked[-1].params, *({"x": x, "y": y} for x in (0, 1) for y in (-2, 2)))
            )
            assert here >= max(corners) - 1e-6
            assert "hardly a function that fits the data" in str(s.explain(asked[-1]))
        s.tell(asked[-1], {"f": 0.5, "c": -1.0})
    kinds = [(e.why or {})["kind"] for e in asked]
    assert kinds.count("seeking") == 1


@pytest.mark.parametrize("given", [{"strategy": "plain"}, {"rule": "eic"}])
def test_a_rule_that_is_to_ask_alone_does(given):
    s = hopeless(**given)
    kinds = set()
    for _ in range(2):
        asked = s.ask()
        kinds.add((asked.why or {})["kind"])
        s.tell(asked, {"f": 0.5, "c": -1.0})
    assert "seeking" not in kinds


def test_where_a_solution_is_seen_nothing_changes():
    s = hopeless()
    s.add({"x": 0.3, "y": 1.0}, {"f": 0.4, "c": 0.2})
    for _ in range(2):
        asked = s.ask()
        assert (asked.why or {})["kind"] != "seeking"
        s.tell(asked, {"f": 0.5, "c": -0.5})


def test_tasks_that_are_measured_apart_are_not_sought_together():
    s = quick(SPLIT)
    for x, y in [(0.1, -1.5), (0.5, -1.0), (0.8, -1.7), (0.2, 0.1), (0.6, 0.5), (0.4, -0.4)]:
        s.add({"x": x, "y": y}, {"f": x + 0.1 * y, "c": -1.0})
    for _ in range(2):
        asked = s.ask()
        assert (asked.why or {})["kind"] != "seeking"
        s.tell(asked, dict.fromkeys(s.problem.tasks[asked.task].outcomes, -1.0))
