"""A search like `RandomizedSearchCV` that keeps limits: constraints are learnt, and the best model holds them."""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring, get_scorer
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import check_random_state

from pesky.acquire.base import Rule
from pesky.errors import DataError, ProblemError
from pesky.problem import Constraint, Outcome, Problem
from pesky.problem.fields import listed, whole
from pesky.sklearn.measures import ModelSize, PredictTime
from pesky.sklearn.space import SearchSpace
from pesky.study import Study

SCORE = "score"
TIMES = ("fit_time", "score_time")
"""What scikit-learn measures of every fit."""
MEASURED = ("predict_time", "model_size")
"""What is measured here beside it."""


class ConstrainedSearchCV(BaseSearchCV):
    """The best hyperparameters whose models keep their limits, by cross-validation of `n_iter` candidates.

    Constraints are on what each fit takes, which is measured, on other scores, or on parameters:

    - "fit_time <= 2": seconds to fit one fold; "score_time <= 0.1": seconds to score it;
    - "predict_time <= 0.001": seconds of one call of `predict`, with `predict_rows` rows;
    - "model_size <= 1e6": bytes of the fitted model as a pickle;
    - "recall >= 0.9": a score of `scoring={"accuracy": "accuracy", "recall": "recall"}`, with refit="accuracy".

    Each must hold with a probability of 0.95, or its own: `pesky.Constraint("predict_time", "<=", 0.001, 0.99)`. The
    values are means over folds. `best_index_` is the best candidate that, by what is believed of it, holds every
    constraint; where none does, a warning says so and it is the one that most probably does. `cv_results_` has
    "mean_test_predict_time" and "mean_test_model_size" where they are limited. A candidate whose fits all fail is a
    failed evaluation of `study_`, and not in `cv_results_`. `recommendation_` says how sure the choice is; `study_` is
    the `pesky.Study` of the search, which a pickled search leaves behind.

    Args:
        estimator: What is fitted, a pipeline say.
        param_space: `Real`, `Integer` and `Choice` parameters, or lists of options of any kind, by the names of the
            estimator's parameters.
        constraints: A list of texts and of `pesky.Constraint`.
        n_iter: How many candidates are cross-validated.
        scoring: As in `RandomizedSearchCV`; of several scores, `refit` names the one to maximize.
        n_jobs: Folds that are fitted at once; times are most reliable with one.
        refit: Whether the best candidate is fitted to all data in the end; the name of a score if there are several.
        cv: As in `RandomizedSearchCV`.
        verbose: As there.
        random_state: The same one gives the same candidates, as far as times do not matter.
        error_score: As there.
        return_train_score: As there.
        predict_rows: How many rows a timed prediction has; None for all of the held-out fold.
        rule: How candidates are chosen, as in `pesky.Study`.
    """

    def __init__(
        self,
        estimator: Any,
        param_space: Mapping[str, Any],
        constraints: Sequence[str | Constraint] = (),
        *,
        n_iter: int = 30,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        predict_rows: int | None = 1,
        rule: str | Mapping[str, Any] | Rule = "pesc",
    ) -> None:
        self.param_space, self.constraints, self.n_iter = param_space, constraints, n_iter
        self.random_state, self.predict_rows, self.rule = random_state, predict_rows, rule
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            error_score=error_score,
            return_train_score=return_train_score,
        )

    def fit(self, X: Any, y: Any = None, **params: Any) -> "ConstrainedSearchCV":
        """Cross-validate the candidates, and fit the best one to all data."""
        scorers, objective = self._scorers()
        space = SearchSpace.of(self.param_space)
        problem = self._problem(space, scorers, objective)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        asked = Asked(Study(problem, seed=seed, rule=self.rule), space, whole("n_iter", self.n_iter, 1))
        measures = {"predict_time": PredictTime(self._rows()), "model_size": ModelSize()}
        for name in MEASURED:
            if name in problem.outcomes:
                scorers[name] = measures[name]
        names = ("n_jobs", "cv", "verbose", "pre_dispatch", "error_score", "return_train_score")
        given = {name: getattr(self, name) for name in names}
        refit = asked.best if self.refit else False
        search = Search(clone(self.estimator), asked, scoring=scorers, refit=refit, **given)
        search.fit(X, y, **params)
        if not self.refit:
            search.best_index_ = asked.best(search.cv_results_)
            search.best_params_ = search.cv_results_["params"][search.best_index_]
        for name in ("best_index_", "best_params_", "best_estimator_", "refit_time_", "feature_names_in_", "n_splits_"):
            if hasattr(search, name):
                setattr(self, name, getattr(search, name))
        self.cv_results_ = search.cv_results_
        self.best_score_ = self.cv_results_[f"mean_test_{objective}"][self.best_index_]
        self.multimetric_ = isinstance(self.scoring, Mapping | list | tuple | set)
        self.scorer_ = {name: scorers[name] for name in scorers if name not in MEASURED}
        if not self.multimetric_:
            self.scorer_ = self.scorer_[SCORE]
        self.study_, self.recommendation_ = asked.study, asked.recommendation
        return self

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {key: value for key, value in state.items() if key != "study_"}

    def _scorers(self) -> tuple[dict[str, Callable[..., float]], str]:
        """What each score is measured by, and which of them is maximized."""
        if not hasattr(self.estimator, "fit"):
            raise ProblemError(f"estimator was {self.estimator!r}: expected an estimator of scikit-learn's, with fit.")
        if not isinstance(self.scoring, Mapping | list | tuple | set):
            if not isinstance(self.refit, bool):
                raise ProblemError(f"refit was {self.refit!r}: expected True or False, since there is one score.")
            score: Any = check_scoring(self.estimator, self.scoring)
            return {SCORE: score}, SCORE
        given: Any = self.scoring
        each: Mapping[str, Any] = given if isinstance(given, Mapping) else {str(name): name for name in given}
        objective: Any = self.refit
        if not isinstance(objective, str) or objective not in each:
            names = ", ".join(map(repr, each))
            raise ProblemError(f"refit was {objective!r}: expected the score to maximize, one of {names}.")
        if taken := [name for name in each if name in (*TIMES, *MEASURED)]:
            raise ProblemError(f"scoring: {taken[0]!r} is measured anyway: give the score another name.")
        scorers: dict[str, Any] = {key: get_scorer(one) if isinstance(one, str) else one for key, one in each.items()}
        return scorers, objective

    def _problem(self, space: SearchSpace, scorers: Mapping[str, Any], objective: str) -> Problem:
        limits = listed("constraints", self.constraints)
        given: dict[str, Any] = {"maximize": objective, "constraints": limits}
        problem = Problem(space.parameters, **given)
        known = (*scorers, *TIMES, *MEASURED)
        for outcome in problem.outcomes:
            if outcome not in known:
                raise ProblemError(
                    f"the constraint on {outcome!r}: nothing measures that. Expected one of "
                    f"{', '.join(map(repr, known))}, or parameters."
                )
        if "predict_time" in problem.outcomes and not hasattr(self.estimator, "predict"):
            raise ProblemError(f"predict_time is limited, and {self.estimator!r} has no predict: leave that out.")
        ranges = [Outcome(name, low=0) for name in problem.outcomes if name in (*TIMES, *MEASURED)]
        return Problem(space.parameters, **given, outcomes=ranges)

    def _rows(self) -> int | None:
        return None if self.predict_rows is None else whole("predict_rows", self.predict_rows, 1)


@dataclass
class Asked:
    """The candidates that a study asks for, and which of them is best in the end."""

    study: Study
    space: SearchSpace
    count: int
    rows: dict[int, int] = field(default_factory=dict)
    """By evaluation, the row of its results."""
    recommendation: Any = None

    def run(self, evaluate: Callable[[list[dict[str, Any]]], Mapping[str, Any]], error_score: object) -> None:
        """Have so many candidates evaluated; the last ones are where the best is believed to be."""
        failure: Exception | None = None
        for number in range(self.count):
            is_last = number >= self.count - min(3, max(1, self.count // 10))
            evaluation = self.study.ask(confirm=is_last)
            try:
                results = evaluate([self.space.settings(evaluation.params)])
            except ValueError as error:
                if error_score == "raise" or "fits failed" not in str(error):
                    raise
                failure = error
                self.study.fail(evaluation, str(error).strip())
                continue
            self.rows[evaluation.id] = len(self.rows)
            values = {name: float(_column(results, name)[-1]) for name in self.study.problem.outcomes}
            if odd := {name: value for name, value in values.items() if not math.isfinite(value)}:
                self.study.fail(evaluation, ", ".join(f"{name} was {value}" for name, value in odd.items()))
            else:
                self.study.tell(evaluation, values)
        if not self.rows and failure is not None:
            raise failure

    def best(self, results: Mapping[str, Any]) -> int:
        """The row of the best candidate that holds every constraint, by what is believed of it."""
        try:
            self.recommendation = best = self.study.best()
        except DataError as error:
            raise ValueError("no candidate has finite scores: set error_score='raise' to see why.") from error
        if not best.is_confident:
            warnings.warn(
                "no candidate holds every constraint with its confidence; the best one is the one that most probably "
                f"does: {dict(best.probabilities)}. More candidates (n_iter) or wider limits may help.",
                stacklevel=4,
            )
        return min(self.rows[each] for each in best.evaluations if each in self.rows)


class Search(BaseSearchCV):
    """scikit-learn's own loop over candidates and folds, of candidates that a study asks for."""

    def __init__(self, estimator: Any, asked: Asked, **given: Any) -> None:
        super().__init__(estimator, **given)
        self.asked = asked

    def __getstate__(self) -> dict[str, Any]:
        """What folds that are fitted in other processes need of it: no study."""
        state: Any = super().__getstate__()
        return {key: value for key, value in state.items() if key not in ("asked", "refit")}

    def _run_search(  # pyright: ignore[reportIncompatibleMethodOverride] - later versions give it more
        self, evaluate_candidates: Callable[..., Mapping[str, Any]]
    ) -> None:
        self.asked.run(evaluate_candidates, self.error_score)


def _column(results: Mapping[str, Any], outcome: str) -> Any:
    return results[f"mean_{outcome}" if outcome in TIMES else f"mean_test_{outcome}"]
