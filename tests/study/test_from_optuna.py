"""A study of Optuna's is read with its constraints, and nothing of it is made up."""

import logging
import sys
import warnings
from typing import Any

import optuna
import pytest
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState
from study.quick import QUICK

from pesky import Choice, DataError, Evaluation, Integer, PeskyError, Problem, ProblemError, Real, Study
from pesky.answer import advice
from pesky.store import Limit
from pesky.store.evaluation import OPTUNA

SPACE: dict[str, BaseDistribution] = {
    "x": FloatDistribution(0, 1),
    "n": IntDistribution(0, 10, step=5),
    "kind": CategoricalDistribution(["a", None]),
    "grid": FloatDistribution(0, 1, step=0.25),
}

optuna.logging.set_verbosity(optuna.logging.ERROR)


def trial(x: float = 0.5, value: float | None = 1.0, **given: Any) -> optuna.trial.FrozenTrial:
    params = {"x": x, "n": 5, "kind": None, "grid": 0.75}
    return optuna.create_trial(**{"params": params, "distributions": SPACE, "value": value, **given})


def study_of(*trials: optuna.trial.FrozenTrial, **given: Any) -> optuna.Study:
    study = optuna.create_study(**{"study_name": "theirs", **given})
    study.add_trials(trials)
    return study


def test_the_space_and_the_data_are_those_of_the_trials():
    theirs = study_of(trial(0.2, 3.0, constraints={"heat": 0.4}), trial(0.4, 2.0, constraints={"heat": -0.1}))
    study = Study.from_optuna(theirs)
    assert study.name == "theirs"
    assert dict(study.problem.parameters) == {
        "x": Real(0, 1),
        "n": Integer(0, 10, step=5),
        "kind": Choice(["a", "None"]),
        "grid": Real(0, 1),
    }
    assert study.problem.minimize == "value"
    assert [str(each) for each in study.problem.constraints] == ["heat <= 0"]
    first, second = study.evaluations.values()
    assert first.is_yours
    assert dict(first.params) == {"x": 0.2, "n": 5, "kind": "None", "grid": 0.75}
    assert [dict(each.outcomes) for each in (first, second)] == [
        {"value": 3.0, "heat": 0.4},
        {"value": 2.0, "heat": -0.1},
    ]


def test_it_can_be_asked():
    trials = [trial(x, x**2, constraints={"heat": 0.3 - x}) for x in (0.1, 0.5, 0.9, 0.7)]
    study = Study.from_optuna(study_of(*trials), rule=QUICK, noise=0.01)
    assert study.ask().gain is not None
    assert study.recommend().params.keys() == SPACE.keys()


def test_what_is_maximized_there_is_maximized_here():
    theirs = study_of(trial(), direction="maximize")
    with warnings.catch_warnings(action="ignore"):  # it is experimental
        theirs.set_metric_names(["accuracy"])
    assert Study.from_optuna(theirs).problem.maximize == "accuracy"


def test_constraints_may_be_on_what_trials_have_as_attributes():
    attributes = {"latency_ms": 3.5, "host": "a"}
    study = Study.from_optuna(study_of(trial(user_attrs=attributes, constraints={"heat": 0.1})), ["latency_ms <= 2"])
    (evaluation,) = study.evaluations.values()
    assert dict(evaluation.outcomes) == {"value": 1.0, "latency_ms": 3.5}
    assert evaluation.attributes == {"optuna trial": "theirs #0", "host": "a"}


def test_constraints_may_be_on_the_objective_and_on_parameters():
    study = Study.from_optuna(study_of(trial()), ["value <= 2", "x + grid <= 1"])
    assert [str(each) for each in study.problem.parameter_constraints] == ["x + grid <= 1"]
    assert study.problem.outcomes == ("value",)


@pytest.mark.parametrize(
    ("key", "name"),
    [("0", "constraint 0"), ("x", "constraint x"), ("a <= 3", "a below 3"), ("a=b", "a is b"), ("a + x", "a + x")],
)
def test_every_key_of_a_constraint_becomes_a_name(key: str, name: str):
    study = Study.from_optuna(study_of(trial(constraints={key: 0.5})))
    assert study.problem.outcomes == ("value", name)
    assert dict(study.evaluations[0].outcomes) == {"value": 1.0, name: 0.5}


def test_failed_and_pruned_trials_tell_what_they_have():
    theirs = study_of(
        trial(),
        trial(0.1, None, state=TrialState.FAIL),
        trial(0.2, None, state=TrialState.PRUNED, constraints={"heat": 0.7}),
        trial(0.3, None, state=TrialState.PRUNED),
        trial(0.4, float("inf"), constraints={"heat": 0.2}),
    )
    study = Study.from_optuna(theirs, failures="learn")
    found = [(e.params["x"], e.state.value, dict(e.outcomes), e.error) for e in study.evaluations.values()]
    assert found == [
        (0.5, "done", {"value": 1.0}, None),
        (0.1, "failed", {}, "the trial failed"),
        (0.2, "done", {"heat": 0.7}, None),
        (0.4, "failed", {"heat": 0.2}, "value was inf"),
    ]
    assert study.problem.tasks["trial"].failures == "learn"
    assert study.spent() == {"trial": 0.0}


def test_trials_that_failed_there_count_for_no_budget_here():
    study = Study.from_optuna(study_of(trial(), trial(0.1, None, state=TrialState.FAIL)), initial=2)
    assert study.ask(limit=Limit(evaluations=1)).id == 2


def test_answers_name_the_trial_and_not_only_the_number_here():
    theirs = study_of(trial(0.2, None, state=TrialState.PRUNED), trial(0.4, 1.0), trial(0.6, 1.0), trial(0.8, 3.0))
    study = Study.from_optuna(theirs, parameters={"x": Real(0, 1)}, noise=0)
    best = study.best()
    (id_,) = best.evaluations
    assert best.trials == best.to_dict()["trials"] == {id_: f"trial {id_ + 1}"}
    assert f"measured here (#{id_}, trial {id_ + 1}): value=1;" in str(best)
    assert f"The best measured point (#{id_}, trial {id_ + 1}) can" in advice.beside_measured(best, best)
    last = study.evaluations[2]
    assert str(last).startswith("#2 (trial 3) trial at x=0.8")
    assert advice.failed_here([last]) == "#2 (trial 3) was measured here and failed."


def test_an_attribute_that_names_no_trial_is_shown_as_none():
    study = Study(Problem({"x": Real(0, 1)}, minimize="f"))
    assert study.add({"x": 0.5}, {"f": 1.0}).named == "#0"
    assert [Evaluation(1, "trial", {}, attributes={OPTUNA: said}).named for said in ("theirs", 4)] == ["#1", "#1"]


def test_what_is_here_already_is_not_taken_twice(tmp_path):
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    theirs = study_of(trial(), trial(0.1, None, state=TrialState.FAIL))
    Study.from_optuna(theirs, storage=storage)
    theirs.add_trial(trial(0.3, 4.0))
    study = Study.from_optuna(theirs, storage=storage)
    assert [e.attributes["optuna trial"] for e in study.evaluations.values()] == [f"theirs #{n}" for n in range(3)]


def test_trials_that_run_are_left_out_with_a_word(caplog: pytest.LogCaptureFixture):
    theirs = study_of(trial())
    theirs.ask(SPACE)
    with caplog.at_level(logging.WARNING, "pesky"):
        assert len(Study.from_optuna(theirs).evaluations) == 1
    assert "1 of 2 trials of theirs are left out" in caplog.text


def test_trials_that_differ_need_parameters():
    only = {"params": {"x": 0.3}, "distributions": {"x": SPACE["x"]}, "value": 2.0}
    theirs = study_of(trial(), optuna.create_trial(**only))
    with pytest.raises(ProblemError, match=r"'n' is in 1 of 2 complete trials.*conditional.*parameters=\{"):
        Study.from_optuna(theirs)
    study = Study.from_optuna(theirs, parameters={"x": Real(0, 3)})
    assert [dict(e.params) for e in study.evaluations.values()] == [{"x": 0.5}, {"x": 0.3}]
    with pytest.raises(ProblemError, match=r"unknown parameter 'xx'.*Did you mean 'x'"):
        Study.from_optuna(theirs, parameters={"xx": Real(0, 3)})


def test_a_range_that_changed_has_to_be_said():
    wider = {"params": {"x": 2.0}, "distributions": {"x": FloatDistribution(0, 3)}, "value": 2.0}
    narrow = {"params": {"x": 0.5}, "distributions": {"x": FloatDistribution(0, 1)}, "value": 2.0}
    theirs = study_of(optuna.create_trial(**wider), optuna.create_trial(**narrow))
    with pytest.raises(ProblemError, match="'x' has several distributions"):
        Study.from_optuna(theirs)
    study = Study.from_optuna(theirs, parameters={"x": Real(0, 1)})
    assert [e.params["x"] for e in study.evaluations.values()] == [2.0, 0.5]


def test_what_cannot_be_read_is_said():
    with pytest.raises(DataError, match=r"the study was 'theirs'.*load_study"):
        Study.from_optuna("theirs")  # pyright: ignore[reportArgumentType]
    with pytest.raises(DataError, match="no complete trial"):
        Study.from_optuna(study_of())
    with pytest.raises(ProblemError, match="2 objectives"):
        Study.from_optuna(study_of(directions=["minimize", "maximize"]))
    with pytest.raises(ProblemError, match=r"no trial tells 'latency'.*Did you mean 'latency_ms'"):
        Study.from_optuna(study_of(trial(user_attrs={"latency_ms": 1.0})), ["latency <= 2"])


def test_without_optuna_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    theirs = study_of(trial())
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(PeskyError, match=r'pip install "optuna>='):
        Study.from_optuna(theirs)


ILL = ["\x1b]0;owned\x07", "\u202ea", "a\nb", "", "x <= 1", "<" * 5000, " " * 20_000 + "b", "a" * 100_000, "="]
SPACES = [
    (0.5, FloatDistribution(-1e308, 1e308)),
    (10**13, IntDistribution(0, 10**15)),
    (0.5, FloatDistribution(0, 1e13, step=0.5)),
    (0.5, FloatDistribution(0.5, 0.5)),
    (None, CategoricalDistribution([None, 1])),
    (True, CategoricalDistribution([True, 1, 1.0])),
    ("o1", CategoricalDistribution([f"o{i}" for i in range(20_000)])),
]


@pytest.mark.parametrize("ill", [*ILL, *SPACES], ids=range(len(ILL) + len(SPACES)))
def test_a_hostile_study_is_taken_over_or_refused_in_words(ill):
    x = FloatDistribution(0, 1)
    if isinstance(ill, str):
        two = CategoricalDistribution([ill, "other"])
        trials = [
            optuna.trial.create_trial(params={ill: 0.5}, distributions={ill: x}, value=1.0),
            optuna.trial.create_trial(params={"x": 0.5}, distributions={"x": x}, value=1.0, user_attrs={ill: ill}),
            optuna.trial.create_trial(params={"x": ill}, distributions={"x": two}, value=1.0),
        ]
    else:
        value, distribution = ill
        trials = [optuna.trial.create_trial(params={"x": value}, distributions={"x": distribution}, value=1e308)]
    for trial in trials:
        study = optuna.create_study()
        study.add_trial(trial)
        try:
            found = Study.from_optuna(study)
        except PeskyError:
            continue
        assert len(found.evaluations) == 1
