"""What is particular to our sampler: constraints, and what each kind of trial tells."""

import importlib
import logging
import pickle
import sys
from typing import Any

import optuna
import pytest
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, Trial, TrialState
from study.functions import measure
from study.quick import QUICK, quick

from pesky import PeskyError, Problem, ProblemError, Real, Study
from pesky.adapt.optuna import PeskySampler
from pesky.test_functions import toy

SPACE: dict[str, BaseDistribution] = {"x": FloatDistribution(0, 1), "y": FloatDistribution(-2, 2)}
POINTS = [(0.1, -1.0), (0.4, 0.5), (0.8, 1.5), (0.6, -0.3)]

optuna.logging.set_verbosity(optuna.logging.ERROR)


def started(sampler: PeskySampler, points: Any = POINTS, **given: Any) -> optuna.Study:
    """A study that has measured f and c of the quick problem."""
    study = optuna.create_study(sampler=sampler, **given)
    for x, y in points:
        values = measure({"x": x, "y": y})
        study.add_trial(trial(x, y, values["f"], {"c": -values["c"]}))
    return study


def trial(x: float, y: float, value: float | None, constraints: dict[str, float], **given: Any) -> FrozenTrial:
    where = {"params": {"x": x, "y": y}, "distributions": SPACE}
    return optuna.create_trial(**where, value=value, constraints=constraints, **given)


def sampler(**given: Any) -> PeskySampler:
    return PeskySampler(**{"seed": 3, "rule": QUICK, "noise": 0.01, **given})


def next_point(study: optuna.Study) -> dict[str, Any]:
    return study.ask(SPACE).params


def test_it_asks_what_a_study_asks_that_knows_the_same():
    own = quick(Problem({"x": Real(0, 1), "y": Real(-2, 2)}, minimize="f", constraints=["c <= 0"], noise=0.01), seed=3)
    for x, y in POINTS:
        values = measure({"x": x, "y": y})
        own.add({"x": x, "y": y}, {"f": values["f"], "c": -values["c"]})
    assert next_point(started(sampler())) == pytest.approx(dict(own.ask().params))


def test_constraints_move_the_question():
    free = started(sampler())
    bare = optuna.create_study(sampler=sampler())
    for each in free.trials:
        bare.add_trial(trial(each.params["x"], each.params["y"], each.value, {}))
    assert next_point(free) != pytest.approx(next_point(bare))


def test_a_function_gives_the_constraints_of_those_who_have_one():
    given = sampler(constraints_func=lambda trial: [-trial.user_attrs["c"]])
    study = optuna.create_study(sampler=given)

    def objective(trial: Trial) -> float:
        values = measure({"x": trial.suggest_float("x", 0, 1), "y": trial.suggest_float("y", -2, 2)})
        trial.set_user_attr("c", values["c"])
        return values["f"]

    for x, y in POINTS:
        study.enqueue_trial({"x": x, "y": y})
    study.optimize(objective, n_trials=4)
    assert [t.constraints for t in study.trials] == [{"0": -measure(t.params)["c"]} for t in study.trials]
    assert next_point(study) == pytest.approx(next_point(started(sampler())))


def test_to_maximize_is_to_minimize_the_negative():
    study = optuna.create_study(sampler=sampler(), direction="maximize")
    for each in started(sampler()).trials:
        study.add_trial(trial(each.params["x"], each.params["y"], -(each.value or 0), each.constraints))
    assert next_point(study) == pytest.approx(next_point(started(sampler())))


@pytest.mark.parametrize("end", [TrialState.FAIL, TrialState.PRUNED, TrialState.RUNNING])
def test_where_a_trial_runs_or_told_nothing_it_does_not_ask_again(end: TrialState):
    study = started(sampler())
    first = study.ask(SPACE)
    if end is not TrialState.RUNNING:
        study.tell(first, state=end)
    second = next_point(study)
    assert max(abs(second[name] - first.params[name]) for name in SPACE) > 0.01


def test_the_constraints_of_a_pruned_trial_are_learnt():
    study, other = started(sampler()), started(sampler())
    study.add_trial(trial(0.5, 0.2, None, {"c": -5.0}, state=TrialState.PRUNED))
    other.add_trial(trial(0.5, 0.2, None, {"c": 5.0}, state=TrialState.PRUNED))
    assert next_point(study) != pytest.approx(next_point(other))


def test_failures_can_be_learnt(monkeypatch: pytest.MonkeyPatch):
    seen = []
    made = PeskySampler._study
    monkeypatch.setattr(PeskySampler, "_study", lambda self, reading: seen.append(reading) or made(self, reading))
    study = started(sampler(failures="learn"))
    study.tell(study.ask(SPACE), state=TrialState.FAIL)
    next_point(study)
    assert [str(each) for each in seen[-1].problem.conditions] == ["c <= 0", "trial succeeds is true"]


def test_values_that_are_no_numbers_count_as_failures():
    study = started(sampler())
    study.add_trial(trial(0.2, 0.0, float("inf"), {"c": -1.0}))
    study.add_trial(trial(0.3, 0.1, 1.0, {"c": float("inf")}))
    assert next_point(study).keys() == SPACE.keys()


def test_threads_ask_different_questions():
    asked: list[tuple[float, ...]] = []

    def objective(trial: Trial) -> float:
        params = {"x": trial.suggest_float("x", 0, 1), "y": trial.suggest_float("y", -2, 2)}
        asked.append(tuple(params.values()))
        trial.set_constraint("c", -measure(params)["c"])
        return measure(params)["f"]

    study = started(sampler())
    study.optimize(objective, n_trials=4, n_jobs=2)
    assert len(set(asked)) == 4
    assert all(each.state is TrialState.COMPLETE for each in study.trials)


def test_a_new_seed_asks_elsewhere_at_first():
    first, second = sampler(), sampler()
    second.reseed_rng()
    points = POINTS[:1]
    assert next_point(started(first, points)) != next_point(started(second, points))


def test_a_study_that_is_loaded_goes_on_with_a_sampler_that_was_pickled(tmp_path):
    given: dict[str, Any] = {"storage": f"sqlite:///{tmp_path / 'study.db'}", "study_name": "kept"}
    study = started(sampler(), **given)
    again = optuna.load_study(**given, sampler=pickle.loads(pickle.dumps(sampler())))
    assert next_point(again) == pytest.approx(next_point(started(sampler())))
    assert len(study.trials) == 5


def test_every_kind_of_parameter_gets_values_of_its_own():
    space: dict[str, BaseDistribution] = {
        "steps": FloatDistribution(-1, 1, step=0.1),
        "count": IntDistribution(2, 10, step=4),
        "none": CategoricalDistribution(["a", None, 3]),
        "equal": CategoricalDistribution([True, 1, 0.5]),
        "a = b < c": FloatDistribution(1e-3, 1, log=True),
        "": FloatDistribution(0, 1),
    }
    study = optuna.create_study(sampler=sampler(n_startup_trials=4))
    for _ in range(6):
        asked = study.ask(space)
        asked.set_constraint("a <= 3", asked.params["a = b < c"] - 0.5)
        asked.set_constraint("count", -1.0)
        study.tell(asked, asked.params["steps"])
        assert round(asked.params["steps"] * 10) == pytest.approx(asked.params["steps"] * 10)
        assert asked.params["count"] in (2, 6, 10)
    assert {type(each.params["count"]) for each in study.trials} == {int}


def test_parameters_that_not_all_trials_have_are_sampled_by_themselves(caplog: pytest.LogCaptureFixture):
    study = optuna.create_study(sampler=sampler())

    def objective(trial: Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        return x + (trial.suggest_float("only above", 0, 1) if trial.number % 2 else 0)

    with caplog.at_level(logging.WARNING, "pesky"):
        study.optimize(objective, n_trials=5)
    assert [record.getMessage().split()[2] for record in caplog.records] == ["'only"]
    assert study.sampler.infer_relative_search_space(study, study.trials[-1]) == {"x": SPACE["x"]}


def test_several_objectives_are_refused():
    study = optuna.create_study(sampler=sampler(), directions=["minimize", "minimize"])
    with pytest.raises(ProblemError, match=r"2 objectives.*set_constraint"):
        study.optimize(lambda trial: (trial.suggest_float("x", 0, 1), 0.0), n_trials=1)


def test_when_all_is_measured_it_says_so(caplog: pytest.LogCaptureFixture):
    study = optuna.create_study(sampler=sampler(noise=0))
    space: dict[str, BaseDistribution] = {"a": CategoricalDistribution(["b", "c"])}
    for option in ("b", "c"):
        study.add_trial(optuna.create_trial(params={"a": option}, distributions=space, value=1.0))
    assert study.ask(space).params["a"] in ("b", "c")
    assert "exhausted" in caplog.records[-1].getMessage()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rule": "pecs"}, "unknown rule 'pecs'"),
        ({"n_startup_trials": 0}, "n_startup_trials was 0"),
        ({"noise": -1}, "noise of 'value' was -1"),
        ({"failures": "ignore"}, "failures was 'ignore'"),
        ({"constraints_func": 3}, "constraints_func was 3"),
        ({"independent_sampler": "tpe"}, "independent_sampler was 'tpe'"),
        ({"seed": 1.5}, "seed was 1.5"),
    ],
)
def test_what_it_cannot_take_is_said_at_once(given: dict[str, Any], message: str):
    with pytest.raises(ProblemError, match=message):
        PeskySampler(**given)


def test_without_optuna_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    monkeypatch.delitem(sys.modules, "pesky.adapt.optuna")
    with pytest.raises(PeskyError, match='pip install "optuna>='):
        importlib.import_module("pesky.adapt.optuna")


def test_it_finds_the_optimum_under_constraints():
    benchmark = toy()
    study = optuna.create_study(sampler=PeskySampler(seed=0, noise=0))

    def objective(trial: Trial) -> float:
        values = benchmark.evaluate({name: trial.suggest_float(name, 0, 1) for name in ("x1", "x2")})
        trial.set_constraint("c1", -values["c1"])
        trial.set_constraint("c2", -values["c2"])
        return values["f"]

    study.optimize(objective, n_trials=19)
    study.enqueue_trial(dict(Study.from_optuna(study, noise=0).recommend().params))
    study.optimize(objective, n_trials=1)
    assert benchmark.utility_gap(study.best_params) < 1e-3
