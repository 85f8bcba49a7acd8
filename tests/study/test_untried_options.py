"""Every option of a choice is tried before the model may write it off."""

from typing import Any

from pesky import Choice, Problem, Real, Study, Task

ACIDS = ("HCl", "H2SO4", "HNO3", "citric")
SPACE = {"x": Real(0, 1), "acid": Choice(ACIDS)}
OFFSET: dict[str, float] = dict(zip(ACIDS, (0.0, 3.0, -2.0, 5.0), strict=True))


def f(x: Any, acid: Any) -> float:
    return 80 - 100 * (x - 0.3) ** 2 + OFFSET[acid]


def with_data(problem: Problem, acids=ACIDS[:3], **given) -> Study:
    """Six values of the user's own with each of these."""
    study = Study(problem, seed=0, **given)
    for i, acid in enumerate(acids * 6):
        x = (i * 0.382) % 1
        study.add({"x": x, "acid": acid}, {"f": f(x, acid), "g": x})
    return study


MIXED = Problem(SPACE, maximize="f", constraints=["g >= 0.25"])


def test_an_option_that_data_of_the_users_own_left_out_is_asked_for_at_the_best_point():
    study = with_data(MIXED)
    best = max((e for e in study.evaluations.values() if e.outcomes["g"] >= 0.25), key=lambda e: e.outcomes["f"])
    assert "No value of f is known with acid = citric: " in study.recommend().advice
    asked = study.ask()
    assert asked.params == {**best.params, "acid": "citric"}
    assert (asked.why or {})["kind"] == "untried"
    assert (study.ask().why or {})["kind"] != "untried"  # it is awaited
    x: Any = asked.params["x"]
    study.tell(asked, {"f": f(x, "citric"), "g": x})
    assert "citric" not in study.recommend().advice
    assert study.recommend().params["acid"] == "citric"


def test_what_failed_was_tried():
    study = with_data(MIXED)
    study.fail(study.ask(), "burst")
    assert (study.ask().why or {})["kind"] != "untried"


def test_a_value_of_a_constraint_alone_does_not_tell_of_the_objective():
    study = with_data(MIXED)
    study.add({"x": 0.3, "acid": "citric"}, {"g": 0.3})
    assert study.ask().params["acid"] == "citric"


def test_it_is_the_task_that_tells_of_the_objective_that_is_asked():
    apart = {"dear": Task(("f",), cost=5), "cheap": Task(("g",))}
    study = with_data(Problem(SPACE, maximize="f", constraints=["g >= 0.25"], tasks=apart))
    asked = study.ask()
    assert (asked.task, asked.params["acid"]) == ("dear", "citric")


def test_of_many_options_the_model_decides():
    many = Choice([f"o{k}" for k in range(7)])
    study = Study(Problem({"x": Real(0, 1), "o": many}, minimize="f"), seed=0)
    for i in range(6):
        study.add({"x": i / 5, "o": "o1"}, {"f": i / 5})
    assert (study.ask().why or {})["kind"] != "untried"


def test_before_there_are_many_values_the_rule_decides():
    study = with_data(MIXED, ACIDS[:3])
    for id_ in (15, 16, 17):
        study.exclude(id_, "less")
    assert (study.ask().why or {})["kind"] != "untried"


def test_where_all_questions_are_the_rules_own_they_are():
    assert (with_data(MIXED, strategy="plain").ask().why or {})["kind"] != "untried"


def test_it_is_asked_for_where_constraints_on_parameters_allow_for_it():
    wide = {"x": Real(0, 1), "y": Real(0, 1), "acid": Choice(ACIDS)}
    study = Study(Problem(wide, maximize="f", constraints=["x + y <= 1"]), seed=0)
    for i in range(16):
        study.add({"x": i / 40, "y": 0.1 if i == 12 else 0.95, "acid": ACIDS[i % 3]}, {"f": f(i / 40, ACIDS[i % 3])})
    assert study.ask().params == {"x": 0.3, "y": 0.1, "acid": "citric"}
