"""The answer: what was measured, what is believed of it, which of the two candidates, and its confirmation."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from scipy.stats import norm
from study.quick import COUPLED, SPACE, SPLIT, at, measure, quick

from pesky import Budget, Choice, Constraint, DataError, Integer, Problem, ProblemError, Real, Study, Task
from pesky.answer.prediction import OutcomePrediction, expect, mixture_quantiles, predict, predict_each
from pesky.answer.recommend import best_of, log_probability, recommendation_from
from pesky.model import GaussianProcess
from pesky.run.confirming import limit_before
from pesky.store import Evaluation, Limit
from pesky.strategy.confirm import Confirm, allowance
from pesky.strategy.limits import Request

EXACT = Problem(SPACE, minimize="f", constraints=["c >= 0"], noise=0.0)
AROUND = [{"x": x, "y": y} for x in (0.1, 0.5, 0.9) for y in (-1.9, -1.2, -0.6, 0.5)]
POINTS = [{"x": 0.1, "y": -1.5}, {"x": 0.4, "y": -0.5}, {"x": 0.6, "y": 0.5}, {"x": 0.9, "y": 1.5}]


def told(problem: Problem = EXACT, points=POINTS, **given) -> Study:
    s = quick(problem, **given)
    for params in points:
        s.add(params, measure(params))
    return s


def test_the_best_is_the_lowest_measured_value_that_holds():
    best = told().best()
    assert best.params == POINTS[1]  # the first is lower, and violates the constraint
    assert best.expected == measure(POINTS[1])["f"]
    assert (best.deviation, best.interval) == (0.0, (best.expected, best.expected))
    assert best.probabilities == {"c >= 0": 1.0}
    assert best.is_confident
    assert best.is_measured
    assert best.evaluations == (1,)
    assert best.told == measure(POINTS[1])
    assert best.advice.startswith("Use it: it was measured")
    assert "measured here (#1): f=-0.15" in str(best)


def test_where_nothing_is_sure_a_point_that_held_as_measured_goes_before_one_that_did_not():
    s = quick(replace(EXACT, noise={"f": 0.0, "c": 2.0}))
    for i, c in enumerate([-0.3, -0.2, 0.1, -0.4, -0.1, 0.3, -0.2]):
        s.add({"x": i / 6, "y": 0.1 * i}, {"f": 1.0 - 0.1 * i, "c": c})
    best, answer = s.best(), s.recommend()
    assert not best.is_confident
    assert best.told["c"] > 0
    assert (answer.params, answer.is_confident) == (best.params, False)
    assert "it held every constraint as measured, but not with its confidence" in answer.advice


def test_an_answer_that_did_not_hold_as_measured_says_that_this_is_put_down_to_noise():
    s = quick(replace(EXACT, noise={"f": 0.0, "c": 0.5}))
    for i in range(12):
        s.add({"x": i / 110, "y": 0.0}, {"f": i / 11, "c": -0.05 if i == 0 else 1.0})
    best = s.best()
    assert (best.params["x"], best.is_confident, best.told["c"]) == (0.0, True, -0.05)
    assert best.advice.endswith("That not all of them held as measured is put down to noise.")


def test_what_breaks_a_known_constraint_has_not_held_as_measured():
    known = {"k": lambda params: params["x"] - 0.5}
    problem = Problem(SPACE, minimize="f", constraints=["c >= 0", "k >= 0"], noise={"f": 0.0, "c": 2.0}, known=known)
    s = quick(problem)
    for i, c in enumerate([-0.3, 0.2, -0.1, -0.4, -0.1, -0.3, -0.2]):
        s.add({"x": i / 6, "y": 0.1 * i}, {"f": 1.0 - 0.1 * i, "c": c})
    best = s.best()
    assert not best.is_confident
    assert best.told["c"] < 0  # where it was above, k is not


def test_what_was_measured_without_noise_is_certain_however_close_to_the_threshold():
    s = told(points=[])
    close = {"x": 0.0, "y": 0.0}
    for params, c in ((POINTS[2], 0.5), (close, 1e-13), ({"x": 0.0, "y": 0.1}, -1e-13)):
        s.add(params, {"f": params["y"], "c": c})
    assert s.best().params == close
    assert s.best().probabilities == {"c >= 0": 1.0}


def test_prices_start_from_the_answer_where_a_limit_is_met_exactly():
    lattice = Problem({"a": Integer(0, 15), "b": Integer(0, 15)}, maximize="v", constraints=["w <= 20"], noise=0.0)
    study = Study(lattice, seed=0)
    for a, b in ((5, 15), (15, 5), (0, 0), (15, 15), (4, 15), (9, 10), (12, 3), (2, 8)):
        study.add({"a": a, "b": b}, {"v": 3 * a + 4 * b, "w": a + b})
    (table,) = study.tradeoffs()
    assert study.recommend().expected == table.prices[2].expected == 75


def test_values_that_contradict_each_other_without_noise_are_spoken_of():
    study = told()
    assert "no noise" not in study.recommend().advice
    study.add(POINTS[1], {**measure(POINTS[1]), "f": -0.25})
    found = study.recommend()
    where = "Here" if found.params == POINTS[1] else "At one point (#1, #4)"
    assert f"{where} f was told as -0.25 and -0.15, though it is said to have no noise" in found.advice
    study.add({"x": 0.4, "y": -1.0}, {"f": -0.4, "c": 1.0})
    found = study.recommend()
    assert found.params != POINTS[1]
    assert "At one point (#1, #4) f was told as -0.25 and -0.15" in found.advice


def test_no_point_is_begun_that_the_limit_does_not_pay_for():
    """The cheap outcome of one point after the other would be measured, and no point wholly."""
    s = told(replace(SPLIT, noise=0.0), AROUND)
    asked = s.ask(confirm=True, limit=Limit(cost=12))
    assert asked.kind == "confirming"
    s.abandon(asked)
    asked = s.ask(confirm=True, limit=Limit(cost=5))
    assert (asked.task, asked.kind == "confirming") == ("check", False)


def test_where_all_is_hopeless_the_best_is_what_misses_the_least():
    study = Study(Problem({"n": Integer(1, 4)}, minimize="f", constraints=["g >= 10"], noise=0.0), seed=0)
    for n in (2, 4, 1, 3):
        study.add({"n": n}, {"f": n, "g": n})
    assert study.best().params == study.recommend().params == {"n": 4}


def test_of_very_many_points_those_that_are_expected_to_be_the_best_are_looked_at(monkeypatch):
    problem = Problem(SPACE, minimize="f", constraints=[Constraint("c", ">=", 0.0, 0.6)], noise=0.2)
    s = told(problem, AROUND)
    looked_at = []
    monkeypatch.setattr(
        "pesky.answer.recommend.expect", lambda *given: looked_at.append(len(given[1])) or expect(*given)
    )
    inferred = s.inferred()
    of_all = best_of(inferred, inferred.points)
    assert looked_at[:1] == [len(AROUND)]
    looked_at.clear()
    assert best_of(inferred, inferred.points, most=4) == of_all
    assert looked_at[:1] == [4]


def test_the_posterior_of_few_data_is_computed_by_one_thread(monkeypatch):
    """With more, an answer took several times as long on a machine that had other things to do."""
    seen, to_data = [], GaussianProcess._to_data
    monkeypatch.setattr(
        GaussianProcess, "_to_data", lambda *given: seen.append(torch.get_num_threads()) or to_data(*given)
    )
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        study = told(COUPLED, AROUND)
        study.ask()
        study.recommend()
        study.predict(POINTS[0])
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert set(seen) == {1}


def test_with_noise_the_belief_decides_and_values_have_intervals():
    noisy = Problem(SPACE, minimize="f", constraints=["c >= 0"], noise=0.3)
    best = told(noisy).best()
    assert best.deviation > 0.01
    low, high = best.interval
    assert low < best.expected < high
    assert all(p >= 0.95 for p in best.probabilities.values())
    assert best.params != POINTS[1] or best.probabilities["c >= 0"] < 1


def test_where_no_measured_point_holds_the_likeliest_is_given_and_said_to_be_so():
    best = told(points=POINTS[:1]).best()
    assert not best.is_confident
    assert best.params == POINTS[0]
    assert best.advice.startswith("Do not rely on it")
    assert str(best).startswith("none yet")


def test_where_every_point_was_measured_nobody_is_told_to_go_on():
    noise = {"f": 0.0, "c": 0.0}
    problem = Problem({"k": Integer(0, 3)}, minimize="f", constraints=["c >= 3"], noise=noise)
    study = Study(problem, seed=0)
    for k in range(4):
        study.add({"k": k}, {"f": float(k), "c": 2.0 - abs(k - 2)})
        is_last = k == 3
        assert ("go on measuring" in study.recommend().advice) is not is_last
    assert "every point was measured" in study.recommend().advice
    assert study.what_if({"c": 1.5}).params == {"k": 2}


def test_before_a_point_is_measured_wholly_there_is_no_best():
    s = quick(SPLIT)
    s.add(POINTS[1], {"f": 1.0})
    with pytest.raises(DataError, match="no point has all its outcomes measured yet"):
        s.best()
    assert not s.recommend().is_measured
    assert "partly measured here" in str(s.recommend()) or "not measured here" in str(s.recommend())


def test_of_measured_points_a_rounding_error_apart_the_one_that_was_measured_wholly_is_spoken_of():
    s = quick(SPLIT)
    s.add(POINTS[1] | {"x": POINTS[1]["x"] + 1e-9}, {"f": 1.0})
    s.add(POINTS[1], {"f": 1.0, "c": 1.0})
    assert s.best().is_measured
    assert s.best().told == {"f": 1.0, "c": 1.0}


def test_a_deviation_on_either_side_is_said_where_it_is_true():
    assert str(OutcomePrediction(5.0, 1.0, (3.4, 6.6))) == "5 ± 1 (90 %: 3.4 to 6.6)"
    assert str(OutcomePrediction(6.2, 1.0, (3.4, 6.6))) == "6.2 (90 %: 3.4 to 6.6)"
    assert str(OutcomePrediction.known(2.0)) == "2"


def test_a_point_that_is_not_surely_better_is_not_recommended():
    """Noise as large as all differences: the lowest mean is lower than what was measured, and proves nothing."""
    noisy = Problem({"x": Real(0, 1)}, minimize="f", noise=1.0)
    s = Study(noisy)
    chance = torch.Generator().manual_seed(0)
    for i in range(8):
        s.add({"x": (i + 0.5) / 8}, {"f": float(torch.randn((), generator=chance))})
    recommended = s.recommend()
    assert recommended.is_measured
    assert recommended == pytest.approx(s.best()) or recommended.params == s.best().params


def test_a_point_that_is_surely_better_is_recommended_and_said_to_be_unmeasured():
    s = told(points=[{"x": x, "y": y} for x in (0.1, 0.5, 0.9) for y in (-1.9, -1.2, -0.6, 0.5)])
    recommended, best = s.recommend(), s.best()
    assert not recommended.is_measured
    assert recommended.expected < best.expected
    assert recommended.evaluations == ()
    assert recommended.nearest is not None
    assert 0 < recommended.nearest < 0.5
    assert "Not measured here: measure it before you use it" in recommended.advice
    assert f"The best measured point (#6) can be promised to have f = {best.expected:.6g} only" in recommended.advice
    assert f"It can be promised to have f = {recommended.promise:.6g}." in recommended.advice
    truth = measure(recommended.params)
    assert recommended.interval[0] <= truth["f"] <= recommended.interval[1]


def test_a_promise_is_what_the_objective_keeps_with_nine_tenths():
    """By draws of the belief whose hyperparameters are uncertain, in either direction; of a fact it is the value."""
    for direction in ("minimize", "maximize"):
        problem = Problem(SPACE, **{direction: "f"}, constraints=["c >= -9"], noise=0.1)  # pyright: ignore[reportArgumentType]
        s = told(problem, points=AROUND)
        u = s.space.encode({"x": 0.3, "y": 0.2})
        inferred = s.inferred()
        row = inferred.spread.mean(u.expand(len(inferred.spread.amplitude), 1, 2))[:, 0, 0]
        deviation = inferred.spread.variance(u.expand(len(row), 1, 2))[:, 0, 0].sqrt()
        draws = row + deviation * torch.randn(4000, len(row), generator=torch.Generator().manual_seed(0))
        values = inferred.observations.to_user(0, draws.flatten()).double()
        wanted = torch.quantile(values, 0.9 if direction == "minimize" else 0.1)
        assert predict(inferred, u).promise == pytest.approx(float(wanted), abs=0.01)
    exact = told()
    assert exact.predict(POINTS[1]).promise == exact.predict(POINTS[1]).outcomes["f"].mean


def test_without_noise_an_unmeasured_point_must_be_better_with_nine_tenths():
    """Of a fact beside it, a lower promise is just that."""
    s = told(points=[{"x": x, "y": y} for x in (0.1, 0.5, 0.9) for y in (-1.9, -1.2, -0.6, 0.5)])
    found, best = s.recommend(), s.best()
    assert not found.is_measured
    assert found.expected < found.promise < best.promise == best.told["f"]
    assert s.recommend().to_dict()["promise"] == found.promise


def test_a_measured_point_is_preferred_within_the_tolerance():
    s = told(points=[{"x": x, "y": y} for x in (0.1, 0.5, 0.9) for y in (-1.9, -1.2, -0.6, 0.5)])
    inferred = s.inferred()
    ahead = (s.best().promise - s.recommend().promise) / inferred.objective_range
    assert not recommendation_from(replace(inferred, tolerance=0.9 * ahead)).is_measured
    assert recommendation_from(replace(inferred, tolerance=1.1 * ahead)).params == s.best().params
    wide = quick(EXACT, tolerance=min(1.1 * ahead, 0.99))
    for e in s.evaluations.values():
        wide.add(e.params, e.outcomes)
    assert wide.recommend().params == s.best().params


def test_where_nothing_satisfies_the_answer_is_the_measured_point_that_most_probably_does():
    s = quick(replace(EXACT, noise={"f": 0.0, "c": 1.0}))
    for x in (0.0, 0.05, 0.1, 0.15):
        for y in (-1.8, -1.7):
            s.add({"x": x, "y": y}, {"f": 0.0, "c": -4.0})
    s.add({"x": 0.9, "y": 1.0}, {"f": 5.0, "c": 0.1})
    found = s.recommend()
    assert not found.is_confident
    chances = [s.predict(e.params).probabilities["c >= 0"] for e in s.evaluations.values()]
    assert found.probabilities["c >= 0"] == pytest.approx(max(chances))
    assert found.params == s.best().params == {"x": 0.9, "y": 1.0}


def test_a_point_that_measured_better_but_is_not_believed_is_named():
    noisy = Problem(SPACE, minimize="f", constraints=["c >= 0"], noise={"f": 0.01, "c": 0.3})
    s = told(noisy, points=[{"x": x, "y": y} for x in (0.1, 0.5, 0.9) for y in (0.5, 1.0, 1.5)])
    at_limit = {"x": 0.3, "y": -1.0}
    s.add(at_limit, {**measure(at_limit), "c": 0.05})
    assert measure(at_limit)["f"] < s.best().expected
    lucky = max(s.evaluations)
    assert f"#{lucky} measured f = " in s.recommend().advice
    assert "but holds c >= 0 with a probability of 0." in s.recommend().advice


class TestFailures:
    """The model knows nothing of a failure: the same point is the best one again."""

    def test_the_answer_is_no_point_that_failed(self):
        s = told(points=AROUND)
        best, asked = s.best(), s.ask(confirm=True)
        s.fail(asked, "membrane burst")
        found = s.recommend()
        assert found.params == best.params
        assert f"where #{asked.id} failed (membrane burst)" in found.advice

    def test_what_failed_is_tried_once_more(self):
        s = told(points=AROUND)
        first = s.ask(confirm=True)
        s.fail(first, "membrane burst")
        second = s.ask(confirm=True)
        assert second.params == first.params
        s.fail(second, "membrane burst")
        assert s.ask(confirm=True).params != first.params

    def test_where_nothing_else_holds_it_is_said(self):
        s = told(points=[POINTS[0], {"x": 0.9, "y": -1.9}, {"x": 0.5, "y": -1.6}])
        asked = s.ask(params=s.recommend().params)
        s.fail(asked, "burst")
        assert "Do not rely on it" in s.recommend().advice


def test_a_yes_that_comes_every_time_is_certain_where_it_was_measured():
    def best(noise) -> tuple[bool, float]:
        s = quick(Problem(SPACE, minimize="f", constraints=["ok is true"], noise=noise))
        for params in POINTS:
            s.add(params, {"f": params["y"], "ok": params["y"] > -1})
        found = s.best()
        (probability,) = found.probabilities.values()
        return found.is_confident, probability

    assert best(0) == (True, 1.0)
    assert best({"f": 0, "ok": 0}) == (True, 1.0)
    assert best({"f": 0})[1] < 1


def test_what_is_better_by_a_trifle_is_no_reason_to_leave_a_measured_point():
    s = told(Problem({"x": Real(0, 1)}, minimize="f", noise=0.0), points=[])
    for x in (0.0, 0.2, 0.4, 0.500001, 0.6, 0.8, 1.0):
        s.add({"x": x}, {"f": (x - 0.5) ** 2})
    assert s.recommend().params == {"x": 0.500001}


def test_predictions_are_in_the_users_units_and_exact_where_measured():
    s = told(points=[{"x": x, "y": y} for x in (0.1, 0.5, 0.9) for y in (-1.9, -0.6, 0.5, 1.8)])
    here = s.predict({"x": 0.1, "y": -0.6})
    assert here.outcomes["f"].mean == measure({"x": 0.1, "y": -0.6})["f"]
    assert here.outcomes["f"].deviation == 0
    assert here.probabilities == {"c >= 0": 1.0}
    there = s.predict({"x": 0.3, "y": 0.0})
    truth = measure({"x": 0.3, "y": 0.0})
    for name, each in there.outcomes.items():
        assert each.interval[0] < each.mean < each.interval[1]
        assert each.mean == pytest.approx(truth[name], abs=0.1)
    assert "f: " in str(there)
    with pytest.raises(DataError, match="'x'"):
        s.predict({"x": 7, "y": 0})


def test_intervals_of_few_data_in_many_columns_are_hardly_a_matter_of_chance():
    """The upper ends differed threefold between seeds, and one interval began where the expectation is."""
    space = {"rate": Real(1e-4, 10, log=True), "share": Real(0, 1), "units": Integer(4, 256)}
    problem = Problem({**space, "kind": Choice(["relu", "tanh", "sigmoid"])}, minimize="error")
    columns = (
        (0.84, 0.022, 2.2e-4, 0.0087, 5.4, 0.74, 0.06, 1.3, 0.62),
        (0.86, 0.068, 0.55, 0.80, 0.62, 0.41, 0.37, 0.12, 0.4),
        (128, 228, 13, 30, 47, 35, 31, 31, 62),
        ("sigmoid", "tanh", "relu", "sigmoid", "sigmoid", "tanh", "tanh", "tanh", "tanh"),
        (0.0385, 0.0972, 0.853, 0.581, 0.238, 0.0268, 0.072, 0.0369, 0.0268),
    )
    ends = []
    for seed in range(5):
        s = quick(problem, seed=seed)
        for *values, error in zip(*columns, strict=True):
            s.add(dict(zip(problem.parameters, values, strict=True)), {"error": error})
        here = {"rate": 0.77, "share": 0.47, "units": 47, "kind": "tanh"}
        ends.append(torch.tensor(s.predict(here).outcomes["error"].interval).log())
    assert (torch.stack(ends).std(0) < torch.tensor([0.1, 0.3])).all()


def test_a_prediction_has_the_moments_of_the_belief_and_the_interval_of_one_with_uncertain_hyperparameters():
    s = told(Problem(SPACE, maximize="f", constraints=["c <= 0.5"], noise=0.1))
    u = s.space.encode({"x": 0.3, "y": 0.7})
    belief, o = s.belief(), s.observations()
    mean, variance = belief.mean(u[None])[..., 0].reshape(-1, 2), belief.variance(u[None])[..., 0].reshape(-1, 2)
    assert len(mean) == 1
    found = s.predict({"x": 0.3, "y": 0.7})
    assert found.outcomes["f"].mean == pytest.approx(float(o.to_user(0, mean[0, 0])))
    spread = s.inferred().spread
    here = u.expand(256, 1, 2)
    each, deviation = spread.mean(here)[:, 0, 0], spread.variance(here)[:, 0, 0].sqrt()
    low, high = found.outcomes["f"].interval
    for value, p in ((low, 0.95), (high, 0.05)):  # it is maximized: row 0 is its negative
        z = (o.from_user(0, torch.tensor(value, dtype=torch.float64)) - each) / deviation
        assert torch.special.ndtr(z).mean().item() == pytest.approx(p, abs=1e-6)
    assert found.outcomes["f"].deviation == pytest.approx((high - low) / (2 * norm.ppf(0.95)))
    expected = norm.cdf(float(mean[0, 1] / variance[0, 1].sqrt()))
    assert found.probabilities["c <= 0.5"] == pytest.approx(expected, abs=1e-9)


def test_quantiles_of_a_mixture_are_those_of_many_draws():
    mean, deviation = torch.tensor([0.0, 3.0, -1.0]), torch.tensor([1.0, 0.1, 2.0])
    p = torch.tensor([0.05, 0.5, 0.95])
    chance = torch.Generator().manual_seed(0)
    draws = mean + deviation * torch.randn(400_000, 3, generator=chance)
    found = mixture_quantiles(mean.double(), deviation.double(), p.double())
    torch.testing.assert_close(found, torch.quantile(draws[:, :].flatten()[:1_000_000], p).double(), atol=0.02, rtol=0)


@pytest.mark.parametrize("narrow", [1e-9, 1e-3, 1.0])
def test_quantiles_of_mixtures_are_exact_however_unlike_their_parts_are(narrow):
    generator = torch.Generator().manual_seed(1)
    mean = 3 * torch.randn(16, 5, generator=generator, dtype=torch.float64)
    deviation = torch.where(torch.rand(16, 5, generator=generator) < 0.5, narrow, 1.0).double()
    p = torch.tensor([0.05, 0.3, 0.95], dtype=torch.float64)
    found = mixture_quantiles(mean, deviation, p)
    assert found.shape == (5, 3)
    beside = 1e-10 * torch.tensor([[-1.0], [1.0]], dtype=torch.float64)[..., None]
    below, above = torch.special.ndtr((found + beside - mean[:, None, :, None]) / deviation[:, None, :, None]).mean(0)
    assert (below <= p + 1e-12).all()
    assert (above >= p - 1e-12).all()


def test_what_is_believed_of_several_points_is_what_is_believed_of_each():
    inferred = told().inferred()
    U = torch.rand(3, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for u, found in zip(U, predict_each(inferred, U), strict=True):
        alone = predict(inferred, u)
        assert found.params == alone.params
        for name, outcome in alone.outcomes.items():
            assert found.outcomes[name].mean == pytest.approx(outcome.mean, rel=1e-9)
            assert found.outcomes[name].interval == pytest.approx(outcome.interval, rel=1e-7)


class TestConfirm:
    def test_it_asks_at_the_point_that_would_be_recommended_and_then_no_more(self):
        s = told(points=[{"x": x, "y": y} for x in (0.1, 0.5, 0.9) for y in (-1.9, -1.2, -0.6, 0.5)])
        before = s.recommend()
        asked = s.ask(confirm=True)
        assert asked.params == before.params
        s.tell(asked, measure(asked.params))
        after = s.predict(asked.params)
        assert after.outcomes["f"].deviation == 0

    def test_what_is_confirmed_without_noise_is_improved_upon_with_less_confidence(self):
        s = told(EXACT, points=[{"x": x, "y": y} for x in (0.1, 0.5, 0.9) for y in (-1.9, -1.2, -0.6, 0.5)])
        asked = [s.ask(confirm=True)]
        while s.predict(asked[-1].params).probabilities["c >= 0"] >= 0.95 and len(asked) < 8:
            s.tell(asked[-1], measure(asked[-1].params))
            asked.append(s.ask(confirm=True))
        assert asked[-1].why == {"kind": "confirming"}
        assert 0.59 < s.predict(asked[-1].params).probabilities["c >= 0"] < 0.7

    def test_what_was_begun_is_measured_wholly_though_the_best_point_moved_by_a_trifle(self):
        tasks = {"score": Task(["f"], cost=10), "check": Task(["c"], cost=1)}
        grid = [{"x": x, "y": y} for x in (0.1, 0.5, 0.9) for y in (-1.9, -1.2, -0.6, 0.5)]
        s = told(Problem(SPACE, minimize="f", constraints=["c >= 0"], tasks=tasks, noise=0.0), grid)
        checked, scored = [], []
        for _ in range(7):
            asked = s.ask(confirm=True)
            (checked if asked.task == "check" else scored).append(asked.params)
            s.tell(asked, {name: measure(asked.params)[name] for name in tasks[asked.task].outcomes})
        assert scored
        assert all(params in checked for params in scored)

    def test_on_the_way_what_was_begun_is_finished_unless_the_best_point_moved_clearly(self):
        tasks = {"drawing": Task(["f", "d"], cost=1), "simulation": Task(["c"], cost=10)}
        problem = Problem(SPACE, minimize="f", constraints=["c >= 0", "d >= -9"], tasks=tasks, noise=0.0)
        s = quick(problem)
        for params in AROUND:
            s.add(params, {**measure(params), "d": params["x"]})
        best = s.recommend().params
        values = [e.outcomes["f"] for e in s.evaluations.values() if e.outcomes["c"] >= 0]

        def asked_beside(worse, is_another_whole=False):
            """What is asked once a drawing was told of a point that is worse by that part of the range.

            Perhaps with another that is as good, and measured wholly.
            """
            begun = {"x": best["x"], "y": min(float(best["y"]) + 0.005, 2.0)}
            f = measure(best)["f"] + worse * (max(values) - min(values))
            other = quick(problem)
            for e in s.evaluations.values():
                other.add(e.params, e.outcomes)
            other.add(begun, {"f": f, "d": begun["x"]})
            if is_another_whole:
                whole = {**begun, "y": begun["y"] + 0.005}
                other.add(whole, {"f": f, "c": measure(whole)["c"], "d": whole["x"]})
            found = Confirm()._early(other._asker._situation(other.evaluations, Request(tuple(tasks)), is_retry=False))
            assert found is not None
            return begun, found

        begun, found = asked_beside(0.002)
        assert (found.task, found.params) == ("simulation", begun)
        for given in ((0.1, False), (0.002, True)):
            begun, found = asked_beside(*given)
            assert found.params != begun

    def test_what_cannot_fail_is_measured_too(self):
        tasks = {"score": Task(["f"]), "check": Task(["c"]), "formality": Task(["d"], cost=10)}
        s = quick(Problem(SPACE, minimize="f", constraints=["c >= 0", "d >= 0"], tasks=tasks, noise=0.0))
        for params in AROUND:
            s.add(params, {**measure(params), "d": 5.0 + 0.1 * params["x"]})
        asked = []
        for _ in range(12):
            asked.append(s.ask(confirm=True))
            values = {**measure(asked[-1].params), "d": 5.0 + 0.1 * asked[-1].params["x"]}
            s.tell(asked[-1], {name: values[name] for name in tasks[asked[-1].task].outcomes})
        sure = [e.params for e in asked if e.task == "formality"]
        assert sure
        assert all({e.task for e in asked if e.params == params} == {*tasks} for params in sure)

    def test_what_was_told_where_its_own_parameters_are_the_same_is_not_measured_again(self):
        tasks = {"size": Task(["d"], cost=0.1, parameters=["x"]), "score": Task(["f"])}
        space = {"x": Integer(0, 9), "y": SPACE["y"]}
        s = quick(Problem(space, minimize="f", constraints=["d <= 3"], tasks=tasks, noise=0.0))
        for x in range(5):
            for y in (-1.5, 0.0, 1.5):
                s.add({"x": x, "y": y}, {"f": (y - 0.4) ** 2 - x, "d": float(x)})
        asked = s.ask(confirm=True)
        assert asked.kind == "confirming"
        assert (asked.task, asked.params["x"]) == ("score", 3)

    def test_the_check_that_probably_fails_for_its_price_comes_first(self):
        tasks = {"score": Task(["f"], cost=1), "dear": Task(["c"], cost=100), "cheap": Task(["d"], cost=1)}
        problem = Problem(SPACE, minimize="f", constraints=["c >= 0", "d >= 0"], tasks=tasks, noise=0.0)
        s = quick(problem)
        for params in POINTS:
            s.add(params, {**measure(params), "d": measure(params)["c"] + 0.1 * params["x"]})
        order = []
        for _ in range(2):
            asked = s.ask(confirm=True)
            order.append((asked.task, dict(asked.params)))
            s.tell(asked, {"score": {"f": 0.0}, "dear": {"c": 1.0}, "cheap": {"d": 1.0}}[asked.task])
        assert order[0][0] == "cheap"
        assert order[1][0] in ("dear", "cheap")

    def test_a_run_ends_with_a_measured_answer(self):
        s = quick(EXACT, confirming_share=0)
        s.run(measure, Budget(evaluations=20))
        assert {(e.why or {})["kind"] for e in list(s.evaluations.values())[:18]} <= {"initial", "full", "coarse"}
        assert len(s.evaluations) == 20
        best = s.best()
        assert max(best.evaluations) >= 18  # the last two were kept for it
        truth = math.inf if best.told["c"] < 0 else best.told["f"]
        assert truth <= min(e.outcomes["f"] for e in s.evaluations.values() if e.outcomes["c"] >= 0)

    def test_workers_wait_for_each_other_before_they_confirm(self):
        s = quick(EXACT)
        s.run(measure, Budget(evaluations=10), workers=2)
        last = s.evaluations[9]
        assert last.gain is None
        assert last.asked >= max(e.ended or 0 for e in s.evaluations.values() if e.id != 9)

    def test_what_was_asked_by_hand_and_never_told_keeps_no_run_from_its_end(self):
        s = quick(EXACT)
        s.ask()
        ending = s.run(measure, Budget(evaluations=11))
        assert (ending.kind, ending.evaluations) == ("budget", 10)
        assert "11 evaluations is spent" in ending.reason

    def test_what_a_budget_keeps(self):
        def before(problem=COUPLED, **given):
            return limit_before(Budget(**given), {}, problem)

        assert before(evaluations=4) == Limit(4)  # a point is more than a fifth
        assert before(evaluations=9) == Limit(8)
        assert before(evaluations=20) == Limit(18)
        assert before(evaluations=100) == Limit(97)
        assert before(evaluations=100, confirm=5) == Limit(95)
        assert before(evaluations=100, confirm=0) == Limit(100)
        assert before(evaluations=2, confirm=5) == Limit(0)
        assert before(evaluations=100, problem=SPLIT) == Limit(94)
        assert before(cost=1000.0, problem=SPLIT) == Limit(None, 1000 - 33)
        assert before(cost=200.0, problem=SPLIT) == Limit(None, 180)
        assert before(cost=100.0, problem=SPLIT) == Limit(None, 89)  # one point, which a tenth does not pay for
        assert before(cost=50.0, problem=SPLIT) == Limit(None, 50)
        assert before(evaluations=15, problem=SPLIT) == Limit(13)

    def test_time_ends_with_it_too(self):
        s = quick(EXACT)
        ending = s.run(measure, Budget(seconds=1.5, confirm=1))
        assert ending.kind == "seconds"
        assert s.best().is_measured

    def test_where_nothing_is_worth_its_price_the_answer_is_still_measured(self):
        s = quick(EXACT)
        ending = s.run(measure, Budget(evaluations=60, gain_per_cost=1e6))
        assert ending.kind == "gain"
        assert 3 < ending.evaluations <= 7  # the fifth query is for the answer anyway, and three at the end
        assert s.evaluations[3].gain is None


def test_both_sides_of_one_outcome_do_not_fail_at_once():
    band = Problem(SPACE, minimize="f", constraints=["t >= -1", "t <= 1", "c >= 0"])
    assert log_probability(band.conditions, [0.8, 0.7, 0.5]) == pytest.approx(math.log(0.5 * 0.5))
    assert log_probability(band.conditions[:2], [0.8, 0.7]) == pytest.approx(math.log(0.5))
    assert log_probability([], []) == 0


class TestConfirmOnTheWay:
    def test_with_a_share_of_half_every_second_question_is_for_the_answer(self):
        s = told(
            points=[{"x": x, "y": y} for x in (0.1, 0.5, 0.9) for y in (-1.9, -1.2, -0.6, 0.5)], confirming_share=0.5
        )
        asked = []
        for _ in range(4):
            asked.append(s.ask())
            s.tell(asked[-1], measure(asked[-1].params))
        assert [e.kind in ("confirming", "improving") for e in asked] == [False, True, False, True]

    def test_at_most_a_fifth_of_the_questions_are_at_the_point_that_would_be_recommended(self):
        s = quick(EXACT)
        for _ in range(18):
            asked = s.ask()
            if (asked.why or {})["kind"] == "confirming" and not (expected := s.recommend()).is_measured:
                assert at(asked.params) == pytest.approx(at(expected.params), abs=1e-3)
            s.tell(asked, measure(asked.params))
        kinds = [(e.why or {})["kind"] for e in s.evaluations.values()]
        assert 1 <= kinds.count("confirming") + kinds.count("improving") <= (len(kinds) - 3) / 5
        assert s.best().is_confident
        assert s.best().expected == pytest.approx(s.recommend().expected, abs=1e-3)

    def test_a_point_is_measured_wholly_where_tasks_are_apart(self):
        problem = Problem(SPACE, minimize="f", constraints=["c >= 0"], tasks=SPLIT.tasks, noise=0.0)
        s = quick(problem, confirming_share=0.4)
        for _ in range(24):
            asked = s.ask()
            s.tell(asked, {name: measure(asked.params)[name] for name in s.problem.tasks[asked.task].outcomes})
        confirming = [e for e in s.evaluations.values() if e.kind == "confirming"]
        asked = [e for e in s.evaluations.values() if e.kind != "initial"]
        assert confirming
        assert sum(e.price for e in confirming) <= 0.4 * (sum(e.price for e in asked) + 11)
        assert s.best().is_measured

    def test_what_is_not_clearly_better_leaves_room_for_where_improvement_is_expected(self):
        s = quick(EXACT, seed=1)
        for _ in range(24):
            asked = s.ask()
            s.tell(asked, measure(asked.params))
        spent = [e for e in s.evaluations.values() if (e.why or {})["kind"] in ("confirming", "improving")]
        kinds = {(e.why or {})["kind"] for e in spent}
        assert kinds == {"confirming", "improving"}
        assert len(spent) <= 21 / 5
        assert all(b.id - a.id >= 5 for a, b in pairwise(spent))
        improving = next(e for e in spent if (e.why or {})["kind"] == "improving")
        assert "better measured point" in str(s.explain(improving))

    def test_a_rule_that_learns_nothing_asks_its_own_questions_alone(self):
        s = told(points=[{"x": x, "y": y} for x in (0.1, 0.5, 0.9) for y in (-1.9, 0.5)], rule="random")
        assert {(e.why or {})["kind"] for e in s.ask(3)} == {"full"}

    def test_what_is_due_follows_from_what_was_spent_and_from_no_stored_reason(self):
        def due(count, share=0.2, problem=COUPLED, task=None):
            kinds = ["full", "confirming", None]
            each = [
                Evaluation(i, task or next(iter(problem.tasks)), {}, why={"kind": kinds[i % 3]}, price=1.0)
                for i in range(count)
            ]
            return allowance({e.id: e for e in each}, problem, share)

        assert [count for count in range(16) if due(count) >= 1] == [4, 9, 14]
        assert [count for count in range(21) if due(count, 0.1) >= 1] == [9, 19]
        assert [count for count in range(6) if due(count, 0.5) >= 1] == [1, 3, 5]
        # a point of 11: after 44 there are 11 to spend, whatever is asked
        assert due(43, problem=SPLIT, task="check") == 0
        assert [round(due(44 + i, problem=SPLIT, task="check"), 6) for i in range(3)] == [11, 10, 9]
        assert due(55, problem=SPLIT, task="check") == pytest.approx(0, abs=1e-6)

    @pytest.mark.parametrize("share", [-0.1, 1, "much", float("nan")])
    def test_a_share_that_is_none_is_refused(self, share):
        with pytest.raises(ProblemError, match="confirming_share was"):
            quick(confirming_share=share)


def test_what_was_begun_is_finished_at_the_end_though_the_model_expects_a_trifle_elsewhere():
    """A parameter that matters to nothing leaves the model's best point anywhere along it."""
    space = {"x": Real(0, 10), "y": Real(0, 10)}
    tasks = {"sim": Task(["cost"], cost=1), "therm": Task(["heat"], cost=5)}
    study = Study(Problem(space, minimize="cost", constraints=["heat <= 6"], tasks=tasks), seed=0)
    sims = [
        (7.6, 8.2),
        (4.5, 5.4),
        (3.6, 1.2),
        (0.6, 9.3),
        (0.0, 0.3),
        (0.0, 5.4),
        (0.0, 0.0),
        (0.03, 2.2),
        (0.03, 7.3),
    ]
    for i, (x, y) in enumerate(sims):
        study.add({"x": x, "y": y}, {"cost": x + (0.1 if i == 3 else 0.0)})
    for x, y in [(7.6, 8.2), (4.5, 5.4), (1.5, 1.4), (0.06, 0.1)]:
        study.add({"x": x, "y": y}, {"heat": x})
    asked = study.ask(confirm=True)
    assert (asked.task, at(asked.params)) in [("therm", point) for point in sims]
    study.tell(asked, {"heat": at(asked.params)[0]})
    assert study.recommend().is_measured
