"""Ask, tell, recommend: every promise of a study in memory."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from pesky import (
    GP,
    Choice,
    DataError,
    Evaluation,
    FixedHyperparameters,
    Integer,
    Problem,
    ProblemError,
    Real,
    Study,
    Task,
)
from pesky.acquire import EntropySearchByEP
from pesky.run.budget import Exhausted
from pesky.store import Limit, Question

QUICK = EntropySearchByEP(samples=6, draws=30, local_reach=0.2, polish_steps=3, candidates=64, fine_from=0, coarse=None)
COUPLED = Problem({"x": Real(0, 1), "y": Real(-2, 2)}, minimize="f", constraints=["c >= 0"], noise=0.01)
SPLIT = Problem(
    {"x": Real(0, 1), "y": Real(-2, 2)},
    minimize="f",
    constraints=["c >= 0"],
    tasks={"score": Task(["f"], cost=1000), "check": Task(["c"], cost=1)},
    noise=0.01,
)


def measure(params: Any) -> dict[str, float]:
    x, y = params["x"], params["y"]
    return {"f": (x - 0.4) ** 2 + 0.3 * y, "c": y + 1 + 0.2 * math.sin(5 * x)}


def study(problem: Problem = COUPLED, **given: Any) -> Study:
    arguments: dict[str, Any] = {"rule": QUICK, **given}
    return Study(problem, **arguments)


def is_worth(evaluation: Evaluation) -> bool:
    return evaluation.gain is not None and math.isfinite(evaluation.gain)


def advance(s: Study, count: int) -> Study:
    for _ in range(count):
        e = s.ask()
        values = measure(e.params)
        s.tell(e, {name: values[name] for name in s.problem.tasks[e.task].outcomes})
    return s


def test_the_initial_design_comes_first_and_then_questions_with_a_gain():
    s = study(initial=4, confirming_share=0)
    design = [s.ask() for _ in range(4)]
    assert [e.gain for e in design] == [None] * 4
    assert [e.id for e in design] == [0, 1, 2, 3]
    layers = sorted(int(4 * e.params["x"]) for e in design)
    assert layers == [0, 1, 2, 3]
    for e in design:
        s.tell(e, measure(e.params))
    later = s.ask()
    assert later.gain is not None
    assert later.gain > 0
    assert s.decision is not None
    assert "nats" in str(later)


def test_every_task_is_measured_at_the_initial_points():
    s = study(SPLIT)
    asked = [s.ask() for _ in range(6)]
    assert [e.task for e in asked] == ["score", "check"] * 3
    assert all(one.params == two.params for one, two in zip(asked[::2], asked[1::2], strict=True))


@pytest.mark.parametrize("hyperparameters", ["maximum", "slice"])
def test_several_asks_before_any_tell_are_fine(hyperparameters):
    s = study(model=GP(hyperparameters=hyperparameters, samples=2))
    asked = [s.ask() for _ in range(6)]
    points = torch.tensor([[e.params["x"], e.params["y"]] for e in asked])
    assert torch.cdist(points, points).fill_diagonal_(1).min() > 1e-3
    for e in reversed(asked):
        s.tell(e, measure(e.params))
    assert s.ask().gain is not None


def test_any_subset_of_outcomes_may_be_told_and_the_rest_later():
    s = study()
    e = s.ask()
    s.tell(e, {"c": 1.0})
    assert s.outcomes(e) == {"c": 1.0}
    s.tell(e.id, {"f": 2.0})
    assert s.outcomes(e.id) == {"c": 1.0, "f": 2.0}
    o = s.observations()
    assert o.mask.sum().item() == 2


def test_telling_the_same_again_changes_nothing():
    s = advance(study(), 4)
    belief = s.belief()
    for id_, e in s.evaluations.items():
        s.tell(id_, measure(e.params))
    assert s.belief() is belief


def test_a_different_second_result_is_refused_and_the_data_stay():
    s = study()
    e = s.ask()
    s.tell(e, {"f": 1.0})
    with pytest.raises(DataError, match=r"f was told as 1.0 before and as 2.0 now"):
        s.tell(e, {"c": 3.0, "f": 2.0})
    assert s.outcomes(e) == {"f": 1.0}


@pytest.mark.parametrize(
    ("outcomes", "message"),
    [
        ({"g": 1.0}, "unknown outcome 'g'"),
        ({"f": math.nan}, "expected a finite number"),
        ({"f": 1.0, "c": math.inf}, "expected a finite number"),
    ],
)
def test_bad_outcomes_are_refused_and_the_data_stay(outcomes, message):
    s = study()
    e = s.ask()
    with pytest.raises(DataError, match=message):
        s.tell(e, outcomes)
    with pytest.raises(DataError, match=message):
        s.add({"x": 0.5, "y": 0.0}, outcomes)
    assert s.outcomes(e) == {}
    assert len(s.evaluations) == 1


def test_an_evaluation_never_asked_is_refused():
    s = study()
    for call in (lambda: s.tell(7, {"f": 1.0}), lambda: s.abandon(7)):
        with pytest.raises(DataError, match="7 is no evaluation of this study"):
            call()


def test_an_outcome_of_another_task_is_refused():
    s = study(SPLIT)
    e = s.ask()
    with pytest.raises(DataError, match="'c' does not belong to task 'score'"):
        s.tell(e, {"c": 1.0})
    assert s.outcomes(e) == {}


def test_data_of_ones_own_can_be_added_anywhere():
    s = study()
    for i in range(4):
        params = {"x": 0.2 * i + 0.1, "y": i - 1.5}
        e = s.add(params, measure(params))
        assert e.gain is None
    assert s.ask().gain is not None  # enough to skip the initial design
    with pytest.raises(DataError, match="'x' was 2"):
        s.add({"x": 2, "y": 0.0}, {"f": 1.0})
    with pytest.raises(DataError, match="at least one of them"):
        s.add({"x": 0.5, "y": 0.0}, {})
    assert len(s.evaluations) == 5


def test_added_outcomes_may_span_tasks_and_are_not_pending():
    s = study(SPLIT)
    e = s.add({"x": 0.5, "y": 0.0}, {"f": 1.0, "c": 2.0})
    assert s.outcomes(e) == {"f": 1.0, "c": 2.0}
    only = s.add({"x": 0.6, "y": 0.0}, {"c": 2.0})
    assert only.task == "check"
    assert not any(e.is_open for e in s.evaluations.values())


def test_an_abandoned_evaluation_is_no_longer_pending_and_may_still_be_told():
    s = study()
    e = s.ask()
    s.tell(e, {"f": 1.0})
    awaited = s._snapshot().pending
    assert awaited is not None
    assert awaited.rows.tolist() == [[False, True]]
    s.abandon(e)
    assert s._snapshot().pending is None
    s.tell(e, {"c": 1.0})
    assert s.outcomes(e) == {"f": 1.0, "c": 1.0}


def test_abandoned_initial_points_do_not_stop_the_study():
    s = study()
    for _ in range(3):
        s.abandon(s.ask())
    s.space.check(s.ask().params)


def test_the_same_seed_and_data_give_the_same_ask():
    one, two, other = (advance(study(seed=seed), 5) for seed in (1, 1, 2))
    assert one.ask().params == two.ask().params
    assert one.ask().params != other.ask().params


def test_looking_at_the_recommendation_does_not_change_the_next_ask():
    """The same seed and data give the same ask, whatever was looked at in between."""
    one, two = advance(study(), 4), advance(study(), 4)
    one.recommend()
    assert one.ask().params == two.ask().params


def test_data_told_at_once_or_one_by_one_give_the_same_ask():
    step_by_step = advance(study(), 5)
    at_once = study()
    for e in list(step_by_step.evaluations.values()):
        question = Question(e.task, e.params, e.gain, e.price, why=e.why)
        at_once.store.append(at_once.identity, question, known=None, limit=Limit(), worker=None, lease=None)
        at_once.tell(e.id, step_by_step.outcomes(e))
    assert at_once.ask().params == pytest.approx(step_by_step.ask().params, abs=1e-4)


def test_questions_asked_for_at_once_are_apart_and_have_one_set_of_samples():
    s = advance(study(rule={"name": "pesc", "cells": 40, "candidates": 64}, confirming_share=0.0), 5)
    first = s.ask()
    assert s.decision is not None
    assert "x*" in s.decision.seconds
    samples = s.decision.acquisition.optima
    asked = [first, *s.ask(5)]
    assert "x*" not in s.decision.seconds
    assert s.decision.acquisition.optima is samples
    X = torch.tensor([[float(v) for v in e.params.values()] for e in asked])
    assert torch.pdist(X).min() > 1e-3
    s.tell(first, measure(first.params))
    s.ask()
    assert s.decision.acquisition.optima is not samples


def test_recommendations_are_good():
    s = advance(study(), 9)
    found = s.recommend()
    assert found.is_confident
    assert found.objective == "f"
    assert found.expected == pytest.approx(measure(found.params)["f"], abs=0.05)
    assert found.expected < -0.2
    (probability,) = found.probabilities.values()
    assert list(found.probabilities) == ["c >= 0"]
    assert probability >= 0.95 - 1e-6
    assert "E[f]" in str(found)


def test_when_none_qualifies_it_says_so():
    impossible = Problem({"x": Real(0, 1), "y": Real(-2, 2)}, minimize="f", constraints=["c >= 50"], noise=0.01)
    found = advance(study(impossible), 5).recommend()
    assert not found.is_confident
    assert "none yet" in str(found)
    assert found.probabilities["c >= 50"] < 0.5
    # and asking goes on
    assert is_worth(advance(study(impossible), 4).ask())


def test_nothing_told_of_the_objective_has_no_recommendation():
    s = study()
    s.tell(s.ask(), {"c": 1.0})
    with pytest.raises(DataError, match="no value of the objective 'f'"):
        s.recommend()


def test_a_single_observation_and_an_outcome_never_observed_are_enough():
    s = study(SPLIT, initial=1)
    s.tell(s.ask(), {"f": 1.0})
    s.abandon(s.ask())
    e = s.ask()
    assert is_worth(e)
    assert not s.recommend().is_confident


def test_the_cheap_task_is_asked_first():
    s = advance(study(SPLIT), 6)
    assert [advance(s, 1).evaluations[6 + i].task for i in range(3)] == ["check"] * 3


def test_maximizing_mirrors_minimizing():
    up = Problem({"x": Real(0, 1), "y": Real(-2, 2)}, maximize="f", constraints=["c >= 0"], noise=0.01)
    low, high = study(), study(up)
    for _ in range(6):
        one, two = low.ask(), high.ask()
        assert one.params == pytest.approx(two.params, abs=1e-6)
        values = measure(one.params)
        low.tell(one, values)
        high.tell(two, {"f": -values["f"], "c": values["c"]})
    assert high.recommend().expected == pytest.approx(-low.recommend().expected, abs=1e-6)
    assert high.recommend().params == pytest.approx(low.recommend().params, abs=1e-4)


def test_an_upper_bound_mirrors_a_lower_one():
    flipped = Problem({"x": Real(0, 1), "y": Real(-2, 2)}, minimize="f", constraints=["c <= 0"], noise=0.01)
    plain, mirror = study(), study(flipped)
    for _ in range(5):
        one, two = plain.ask(), mirror.ask()
        assert one.params == pytest.approx(two.params, abs=1e-6)
        values = measure(one.params)
        plain.tell(one, values)
        mirror.tell(two, {"f": values["f"], "c": -values["c"]})
    assert list(mirror.recommend().probabilities) == ["c <= 0"]


def test_integers_and_choices_are_asked_as_such():
    problem = Problem(
        {"n": Integer(1, 6), "kind": Choice(["a", "b", "c"]), "x": Real(0.1, 10, log=True)},
        minimize="f",
        constraints=["c <= 3"],
    )
    s = study(problem)

    def value(p):
        return {"f": (p["n"] - 3) ** 2 + {"a": 0.0, "b": 1.0, "c": 2.0}[p["kind"]] + math.log(p["x"]) ** 2, "c": p["n"]}

    for _ in range(8):
        e = s.ask()
        s.space.check(e.params)
        assert isinstance(e.params["n"], int)
        s.tell(e, value(e.params))
    found = s.recommend()
    s.space.check(found.params)
    assert found.params["n"] in (1, 2, 3, 4)


def test_known_hyperparameters_and_slice_sampling_serve_as_models():
    known = {"f": FixedHyperparameters(0.5, 1.0, 1e-4), "c": FixedHyperparameters((0.5, 0.3), 2.0, 1e-4, mean=0.5)}
    for model in (GP(kernel="se", hyperparameters=known), GP(hyperparameters="slice", samples=3)):
        s = advance(study(model=model), 4)
        assert is_worth(s.ask())
        assert math.isfinite(s.recommend().expected)


def fit_botorch(rows):
    from botorch.models import ModelListGP, SingleTaskGP

    models = []
    for X, y in rows:
        model: Any = SingleTaskGP(X, y, outcome_transform=None)
        model.covar_module.lengthscale = 0.5
        model.likelihood.noise = 1e-3
        models.append(model.requires_grad_(False))
    return ModelListGP(*models)


def test_ones_own_botorch_model_serves_as_a_belief():
    s = advance(study(model=fit_botorch), 5)
    assert s.evaluations[4].gain is not None
    found = s.recommend()
    assert measure(found.params)["c"] > -0.2


def test_ones_own_botorch_model_sees_integers_as_they_are_evaluated():
    problem = Problem({"n": Integer(1, 4), "x": Real(0, 1)}, minimize="f", constraints=["c <= 3"])
    s = study(problem, model=fit_botorch)
    for _ in range(4):
        e = s.ask()
        n, x = (float(e.params[name]) for name in ("n", "x"))
        s.tell(e, {"f": n + x, "c": n})
    s.space.check(s.ask().params)
    on = s.space.encode({"n": 2, "x": 0.5})[None]
    torch.testing.assert_close(s.belief().mean(on + torch.tensor([[0.1, 0.0]])), s.belief().mean(on))


@pytest.mark.parametrize(
    "given",
    [{"rule": {"name": "pesc-ep", "options": "papier"}}, {"initial": -1}, {"rule": {"name": "pesc", "cells": 0}}],
    ids=["options", "initial", "samples"],
)
def test_bad_arguments_are_refused(given):
    with pytest.raises(ProblemError):
        study(**given)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda s: s.ask(2.5), ProblemError, r"ask: n was 2\.5: expected a whole number, at least 1"),
        (lambda s: s.ask(len), ProblemError, "tasks was <.*>: expected the name of a task, or a list of them: 'all'"),
        (lambda s: s.ask(2, n=3), ProblemError, "tasks was 2, a number of questions, and n was 3: give one of them"),
        (lambda s: s.ask(limit=1), ProblemError, r"limit was 1: expected Limit\(evaluations=\.\.\., cost=\.\.\.\)"),
        (lambda s: s.ask(gain_per_cost=-1), ProblemError, "gain_per_cost was -1: expected a number, 0 or above"),
        (lambda s: s.ask(2, gain_per_cost="1"), ProblemError, "gain_per_cost was '1': expected a finite number"),
        (lambda s: s.ask(worker=3), ProblemError, "worker was 3: expected a name, as a text"),
        (lambda s: s.ask(params=0.5), DataError, r"parameters were 0\.5: expected a mapping like {'x': \.\.\., 'y': "),
        (lambda s: s.enqueue(0.5), DataError, r"the parameters were 0\.5: expected a mapping like {'x': "),
        (lambda s: s.enqueue({"x": 0.5, "y": 0}, 3), ProblemError, "tasks was 3: expected the name of a task"),
        (lambda s: s.predict(0.5), DataError, r"the parameters were 0\.5: expected a mapping like {'x': "),
        (lambda s: s.add(0.5, {"f": 1}), DataError, r"the parameters were 0\.5: expected a mapping like {'x': "),
        (lambda s: s.what_if("c"), ProblemError, "the thresholds were 'c': expected a mapping from constraints to"),
    ],
)
def test_what_is_of_another_kind_is_refused_in_words(call, error, message):
    s = advance(study(), 1)
    with pytest.raises(error, match=message):
        call(s)
    assert len(s.evaluations) == 1


def test_any_whole_number_is_a_number_of_questions():
    assert len(study().ask(np.int64(2))) == 2  # pyright: ignore[reportCallIssue, reportArgumentType]


def test_duplicated_noise_free_data_are_fine():
    exact = Problem({"x": Real(0, 1), "y": Real(-2, 2)}, minimize="f", constraints=["c >= 0"], noise=0.0)
    s = advance(study(exact, confirming_share=0), 4)
    for e in list(s.evaluations.values())[:2]:
        s.add(e.params, measure(e.params))
    asked = s.ask()
    assert is_worth(asked)
    assert math.isfinite(s.recommend().expected)


def test_what_the_caller_does_to_the_parameters_stays_with_the_caller():
    own = study()
    evaluation = own.ask()
    x = evaluation.params["x"]
    evaluation.params.clear()  # pyright: ignore[reportAttributeAccessIssue]
    own.tell(evaluation, {"f": 1.0, "c": 1.0})
    assert own.evaluations[evaluation.id].params["x"] == x
    advance(own, 4)
    own.recommend()


@pytest.mark.parametrize("told", [None, 3.0, {}, []])
def test_a_measurement_that_returned_nothing_is_refused_and_can_be_told_again(told):
    own = study()
    evaluation = own.ask()
    with pytest.raises(DataError, match="expected a mapping"):
        own.tell(evaluation, told)
    own.tell(evaluation, {"f": 1.0})
    with pytest.raises(DataError, match="no evaluation of this study"):
        own.tell(dict(evaluation.params), {"f": 1.0})  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": "a"}, "seed was 'a'"),
        ({"seed": 1.5}, "seed was 1.5"),
        ({"rule": {"name": "pesc", "cells": 2.5}}, "the rule 'pesc': cells was 2.5"),
        ({"initial": -1}, "initial was -1: expected a whole number, at least 0"),
        ({"rule": {"name": "pesc-ep", "options": 3}}, "unknown options 3"),
        ({"model": "gp"}, "model was str: expected GP"),
        (
            {"model": GP(hyperparameters={"f": FixedHyperparameters(0.1, 1.0, 0.01)})},
            "hyperparameters of 'c' were None",
        ),
        ({"model": GP(hyperparameters={"z": FixedHyperparameters(0.1, 1.0, 0.01)})}, "unknown outcome 'z'"),
    ],
)
def test_mistakes_show_before_anything_is_measured(options, message):
    with pytest.raises(ProblemError, match=message):
        Study(COUPLED, **options)


def test_a_seed_may_be_any_integer_or_drawn():
    assert Study(study().problem, seed=None).seed >= 0
    assert repr(study()).startswith("<Study 'study' in memory: minimize f")


def test_several_questions_at_once_know_of_each_other():
    s = study(rule="random")
    asked = s.ask(4)
    assert [e.id for e in asked] == [0, 1, 2, 3]
    assert len({tuple(e.params.values()) for e in asked}) == 4
    assert [e.id for e in s.ask(next(iter(s.problem.tasks)), n=2)] == [4, 5]
    assert len(s.ask(5, limit=Limit(evaluations=8))) == 2
    with pytest.raises(Exhausted):
        s.ask(2, limit=Limit(evaluations=8))
    with pytest.raises(ProblemError, match="n was 0: expected a whole number, at least 1"):
        s.ask(0)
