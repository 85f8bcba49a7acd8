"""Why a question was asked, and what other thresholds would change."""

import json
import math

import pytest
import torch
from study.quick import SPACE, SPLIT, check, measure, quick, score

from pesky import Choice, DataError, Integer, Problem, ProblemError, Real, Study
from pesky.answer.what_if import Price, Tradeoff
from pesky.space import Space
from pesky.strategy import CheckModel
from pesky.strategy.explain import Explanation
from pesky.strategy.facts import left_to_learn
from pesky.test_functions import toy


def test_every_question_says_why_it_was_asked(tmp_path):
    url = f"sqlite:///{tmp_path / 'study.db'}"
    s = quick(SPLIT, storage=url)
    s.run({"score": score, "check": check}, 40)
    later = Study.load(url)  # elsewhere, and without anything in memory
    each = [later.explain(e) for e in later.evaluations.values()]
    assert [e.kind for e in each[:6]] == ["initial"] * 6
    chosen = [(e, later.evaluations[i]) for i, e in enumerate(each) if e.kind in ("full", "coarse")]
    assert chosen
    for why, evaluation in chosen:
        assert why.values[evaluation.task] == pytest.approx(evaluation.gain, rel=1e-4)
        assert why.prices[evaluation.task] == evaluation.price
        assert why.elsewhere.keys() == why.values.keys() <= {"score", "check"}
        assert why.left.keys() == {"x", "y"}
        assert all(0 <= share <= 1 for share in why.left.values())
        assert why.agreement is not None
        assert 0 < why.agreement <= 1
        assert f"{why.agreement:.0%} of the samples of the solution agree within 5%" in str(why)
        assert f"{evaluation.task} is worth {why.values[evaluation.task]:.3g} nats here" in str(why)
    assert max(len(json.dumps(dict(e.why or {}))) for e in later.evaluations.values()) < 2000


def test_what_is_stored_of_a_question_is_what_chose_it():
    """On the toy problem without noise half of the questions are checks of the model, and were called the rule's."""
    benchmark = toy()
    s = Study(benchmark.problem)
    s.run(benchmark.evaluate, 30, progress=False)
    kinds, check = {e.id: s.explain(e) for e in s.evaluations.values()}, CheckModel()
    of_the_rule = [each for each in kinds.values() if each.kind in ("full", "coarse")]
    checks = [each for each in kinds.values() if each.kind == "check"]
    assert of_the_rule
    assert checks
    for each in of_the_rule:
        assert each.values[each.task] == pytest.approx(each.elsewhere[each.task], rel=1e-6)
    for each in checks:
        assert each.elsewhere[each.task] < check.coarse_gain
        assert "a check of the model" in str(each)
        assert "what the rule finds worth most" not in str(each)


def test_a_confirming_question_says_so():
    s = quick(Problem(SPACE, minimize="f", constraints=["c >= 0"], noise=0.0))
    for i in range(5):
        params = {"x": i / 4, "y": 2 - i}
        s.add(params, measure(params))
    asked = s.ask(confirm=True)
    assert s.explain(asked).kind == "confirming"
    assert "for the answer: the best point was expected here" in str(s.explain(asked))


def test_what_was_not_asked_has_no_reason():
    s = quick()
    with pytest.raises(DataError, match="nothing to explain: evaluation 0 is data of your own"):
        s.explain(s.add({"x": 0.5, "y": 0.0}, {"f": 1.0}))


def test_a_stored_reason_of_another_version_is_read_as_far_as_it_is_known():
    evaluation = quick().ask()
    object.__setattr__(evaluation, "why", {"kind": "dreamt", "what": [1, 2]})
    assert str(Explanation.of(evaluation)) == "all: dreamt"


def test_what_is_left_to_learn_is_the_entropy_of_each_parameter():
    space = Space({"x": Real(0, 1), "n": Integer(1, 4), "kind": Choice(["a", "b", "c"])})
    rows = [{"x": (i + 0.5) / 10, "n": 2, "kind": "a" if i % 2 else "b"} for i in range(10)]
    left = left_to_learn(space, torch.stack([space.encode(row) for row in rows]), torch.full((10,), 0.1))
    assert left == pytest.approx({"x": 1.0, "n": 0.0, "kind": math.log(2) / math.log(3)})


def data(noise: float = 0.0) -> Study:
    s = quick(Problem(SPACE, minimize="f", constraints=["c >= 0"], noise=noise))
    for x in (0.1, 0.4, 0.7):
        for y in (-1.9, -1.2, -0.6, 0.0, 0.5):
            s.add({"x": x, "y": y}, measure({"x": x, "y": y}))
    return s


def test_another_threshold_moves_the_recommendation_and_nothing_else():
    s = data()
    before = s.recommend()
    tighter = s.what_if({"c": 0.5})
    assert tighter.expected > before.expected
    assert list(tighter.probabilities) == ["c >= 0.5"]
    assert measure(tighter.params)["c"] >= 0.5 - 0.02
    beside = "Under the present limits the best point, measured or not, is expected to have f = "
    assert f"{beside}{before.expected:.4g}"[:-1] in tighter.advice
    assert s.what_if({"c": 0.0}) == before
    assert s.recommend() == before
    assert s.problem.constraints[0].threshold == 0


def test_it_is_what_a_study_with_that_threshold_would_recommend():
    s = data()
    other = quick(Problem(SPACE, minimize="f", constraints=["c >= 0.5"], noise=0.0))
    for e in s.evaluations.values():
        other.add(e.params, e.outcomes)
    assert s.what_if({"c": 0.5}).expected == pytest.approx(other.recommend().expected, abs=0.03)


def test_thresholds_that_are_none_are_refused():
    s = quick(Problem(SPACE, minimize="f", constraints=["c >= 0", "c <= 2", "ok is true"], noise=0.0))
    with pytest.raises(ProblemError, match="what if: unknown constraint 'c': expected one of 'c >=', 'c <='"):
        s.what_if({"c": 1})
    with pytest.raises(ProblemError, match="unknown constraint 'ok'"):
        s.what_if({"ok": 1})
    with pytest.raises(ProblemError, match="the threshold of 'c >=' was 'much'"):
        s.what_if({"c >=": "much"})  # pyright: ignore[reportArgumentType]


def test_a_limit_has_its_price():
    """F falls by 0.3 for each unit that c may fall: that is what the limit costs."""
    (table,) = data().tradeoffs()
    assert table.constraint == "c >= 0"
    assert [each.threshold for each in table.prices][2] == 0
    best = data().what_if({"c": table.prices[0].threshold})
    assert table.prices[0].interval == pytest.approx(best.interval)
    values = [each.expected for each in table.prices if each.is_confident]
    assert values == sorted(values)
    assert table.shadow_price == pytest.approx(0.3, abs=0.1)
    assert "about 0.03 of f for each 0.1" in str(table)  # as fine as the thresholds of the table


@pytest.mark.parametrize(
    ("thresholds", "expected", "words"),
    [
        ((1.0, 3.0, 5.0), (1.0, 2.0, 3.0), "about 0.5 of f for each unit"),
        ((0.40, 0.45, 0.50), (30.0, 27.0, 24.0), "about -0.6 of f for each 0.01"),
        ((100.0, 200.0, 300.0), (1.0, 2.0, 3.0), "about 1 of f for each 100"),
        ((1.0, 3.0, 5.0), (2.0, 2.0, 2.0), "costs nothing: the limit does not bind"),
    ],
)
def test_a_price_is_for_a_step_that_can_be_taken(thresholds, expected, words):
    ends = (2 * thresholds[0] - thresholds[1], 2 * thresholds[-1] - thresholds[-2])
    every = zip((ends[0], *thresholds, ends[1]), (expected[0], *expected, expected[-1]), strict=True)
    prices = tuple(Price(at, value, 0.0, (value, value), True) for at, value in every)
    assert Tradeoff("c <= 1", "f", prices).price_in_words() == words
