"""The search under limits: what is measured is true, and the best candidate holds every limit."""

import importlib
import pickle
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from sklearn_models import Sized, Slow
from study.quick import QUICK

from pesky import Constraint, Integer, PeskyError, ProblemError, Real
from pesky.sklearn import ConstrainedSearchCV
from pesky.sklearn.measures import ModelSize

X = np.random.default_rng(0).normal(size=(24, 2))
Y = (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int)
SIZES = {"size": Integer(1, 1000)}


def search(estimator: Any = None, space: Any = None, constraints: Any = (), **given: Any) -> ConstrainedSearchCV:
    settings = {"n_iter": 5, "cv": 2, "random_state": 0, "rule": QUICK, **given}
    return ConstrainedSearchCV(estimator or Sized(), space or SIZES, constraints, **settings)


def test_the_best_candidate_is_the_best_that_holds_the_limit():
    found = search(constraints=["model_size <= 700"], n_iter=7).fit(X, Y)
    sizes = found.cv_results_["mean_test_model_size"]
    scores = np.where(sizes <= 700, found.cv_results_["mean_test_score"], -1)
    assert found.best_index_ == scores.argmax()
    assert sizes.max() > 700
    assert found.best_score_ == scores.max() == found.score(X, Y) == found.best_estimator_.size / 1000
    assert found.recommendation_.is_confident
    assert len(found.study_.evaluations) == len(sizes) == 7


def test_sizes_are_those_of_pickles_and_times_those_of_calls():
    model = Slow(300, fitting=0.03, predicting=0.02).fit(X, Y)
    assert ModelSize()(model) == len(pickle.dumps(model))
    Slow.rows.clear()
    limits = ["fit_time <= 9", "predict_time <= 9", "model_size <= 1e6", "score_time <= 9"]
    found = search(clone(model), constraints=limits, n_iter=1, predict_rows=5).fit(X, Y)
    assert 0.03 <= found.cv_results_["mean_fit_time"][0] < 0.5
    assert 0.02 <= found.cv_results_["mean_test_predict_time"][0] < 0.5
    assert set(Slow.rows) == {5}
    (evaluation,) = found.study_.evaluations.values()
    assert evaluation.outcomes["fit_time"] == found.cv_results_["mean_fit_time"][0]
    assert evaluation.outcomes["score_time"] == found.cv_results_["mean_score_time"][0]


@pytest.mark.parametrize(("rows", "seen"), [(None, 12), (1, 1), (30, 30)])
def test_a_timed_prediction_has_as_many_rows_as_it_should(rows: int | None, seen: int):
    Slow.rows.clear()
    search(Slow(), constraints=["predict_time <= 9"], n_iter=1, predict_rows=rows).fit(X, Y)
    assert set(Slow.rows) == {seen}


def test_limits_may_be_on_other_scores():
    scoring = {"large": lambda model, X, y: model.size / 1000, "small": lambda model, X, y: 1 - model.size / 1000}
    limits = [Constraint("small", ">=", 0.4, 0.9)]
    found = search(constraints=limits, scoring=scoring, refit="large").fit(X, Y)
    large = found.cv_results_["mean_test_large"]
    assert found.best_score_ == large[large <= 0.6].max() == found.score(X, Y)


def test_limits_may_be_on_parameters():
    found = search(constraints=["size <= 300"], n_iter=3).fit(X, Y)
    assert max(each["size"] for each in found.cv_results_["params"]) <= 300


def test_where_nothing_holds_a_warning_says_so():
    with pytest.warns(UserWarning, match="no candidate holds every constraint"):
        found = search(constraints=["model_size <= 50"], n_iter=4).fit(X, Y)
    assert not found.recommendation_.is_confident


def test_without_limits_or_refit_it_is_a_search_all_the_same():
    found = search(refit=False, n_iter=3).fit(X, Y)
    assert found.best_params_ == found.cv_results_["params"][found.best_index_]
    assert found.best_score_ == found.cv_results_["mean_test_score"].max()
    assert not hasattr(found, "best_estimator_")


def test_options_may_be_anything_and_parameters_those_of_a_pipeline():
    pipeline = Pipeline([("scale", StandardScaler()), ("clf", Sized())])
    space = {"clf__size": SIZES["size"], "clf__other": [None, (3, 4), 1, True], "scale": ["passthrough"]}
    with pytest.raises(ProblemError, match="at least two options"):
        search(pipeline, space).fit(X, Y)
    space["scale"] = ["passthrough", StandardScaler(with_mean=False)]
    found = search(pipeline, space, ["model_size <= 5000"], n_iter=3).fit(X, Y)
    assert all(each["clf__other"] in (None, (3, 4), 1, True) for each in found.cv_results_["params"])
    assert found.best_estimator_["clf"].size == found.best_params_["clf__size"]
    assert found.predict(X[:2]) == [0, 0]


def test_candidates_that_fail_are_failures_and_not_the_end():
    found = search(Sized(fails_above=500), n_iter=6).fit(X, Y)
    failed = [e for e in found.study_.evaluations.values() if e.state.value == "failed"]
    assert 0 < len(failed) < 6
    assert "out of memory" in (failed[0].error or "")
    assert len(found.cv_results_["params"]) == 6 - len(failed)
    assert found.best_estimator_.size <= 500
    with pytest.raises(ValueError, match=r"fits failed(.|\n)*out of memory"):
        search(Sized(fails_above=0), n_iter=2).fit(X, Y)
    with pytest.raises(RuntimeError, match="out of memory"):
        search(Sized(fails_above=0), n_iter=2, error_score="raise").fit(X, Y)


def test_it_is_cloned_pickled_and_given_weights():
    asked = search(constraints=["model_size <= 700"], n_iter=2)
    copies: list[Any] = [clone(asked), clone(asked)]
    found = copies[0].set_params(n_iter=3).fit(X, Y, sample_weight=np.ones(len(X)))
    again = pickle.loads(pickle.dumps(found))
    assert again.best_params_ == found.best_params_
    assert str(again.recommendation_) == str(found.recommendation_)
    assert not hasattr(again, "study_")
    assert copies[1].fit(X, Y).cv_results_["params"] == found.cv_results_["params"][:2]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"constraints": ["model_sise <= 3"]}, "'model_sise': nothing measures that.*'model_size'"),
        ({"constraints": "model_size <= 3"}, "constraints was 'model_size <= 3'"),
        ({"space": {"size": 3}}, "'size' was 3: expected Real"),
        ({"space": [3]}, r"param_space was \[3\]"),
        ({"n_iter": 0}, "n_iter was 0"),
        ({"predict_rows": 0, "constraints": ["predict_time <= 1"]}, "predict_rows was 0"),
        ({"refit": "large"}, "refit was 'large'.*one score"),
        ({"scoring": ["accuracy", "recall"]}, "refit was True: expected the score to maximize"),
        ({"scoring": {"fit_time": "recall"}, "refit": "fit_time"}, "'fit_time' is measured anyway"),
        ({"estimator": 3}, "estimator was 3"),
        ({"estimator": StandardScaler(), "scoring": len, "constraints": ["predict_time <= 1"]}, "has no predict"),
        ({"rule": "pecs"}, "unknown rule"),
    ],
)
def test_what_it_cannot_take_is_said_before_anything_is_fitted(given: dict[str, Any], message: str):
    with pytest.raises(ProblemError, match=message):
        search(**given).fit(X, Y)


def test_without_scikit_learn_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    for name in [name for name in sys.modules if name.startswith("pesky.sklearn")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    with pytest.raises(PeskyError, match='pip install "scikit-learn>='):
        importlib.import_module("pesky.sklearn")


def test_folds_are_fitted_in_other_processes():
    found = search(LogisticRegression(), {"C": Real(0.1, 10)}, ["model_size <= 1e6"], n_iter=2, n_jobs=2).fit(X, Y)
    assert np.isfinite(found.cv_results_["mean_test_model_size"]).all()


@pytest.mark.parametrize(("estimator", "name"), [(LogisticRegression(), "C"), (Ridge(), "alpha")])
def test_scikit_learns_own_checks(estimator: Any, name: str):
    asked = search(estimator, {name: Real(0.1, 10)}, ["model_size <= 1e6"], n_iter=2, error_score="raise")
    expected = {"check_supervised_y_2d": "DataConversionWarning is not raised, as by GridSearchCV"}
    with warnings.catch_warnings(action="ignore"):
        found = check_estimator(asked, on_skip=None, expected_failed_checks=expected)
    assert sum(each["status"] == "passed" for each in found) > 40
