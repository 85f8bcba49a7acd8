"""What a study recommends and asks that is loaded: the same as the one that ran."""

import pytest
from study.quick import COUPLED, SPLIT, check, measure, quick, score

from pesky import GP, Study
from pesky.model import fit


@pytest.mark.parametrize("problem", [COUPLED, SPLIT], ids=["coupled", "split"])
def test_the_recommendation_is_that_of_the_study_that_ran(problem, tmp_path):
    url = f"sqlite:///{tmp_path / 'study.db'}"
    ran = quick(problem, storage=url, rule="random")
    for n in (5, 6, 7):  # each time another fit, from where the last one ended
        functions = measure if problem is COUPLED else {"score": score, "check": check}
        ran.run(functions, budget=n if problem is COUPLED else 11 * n, progress=False)
        ran.belief()
    loaded = Study.load(url, rule="random")
    assert loaded.recommend() == ran.recommend()
    assert loaded.predict({"x": 0.3, "y": 0.2}) == ran.predict({"x": 0.3, "y": 0.2})


@pytest.mark.slow
@pytest.mark.parametrize("count", [12, 23, 25])
def test_the_next_question_is_that_of_the_study_that_ran(count):
    """From 20 values of each outcome on, a fit goes on from an earlier one: which one depends on the data alone."""
    ran, loaded = quick(), quick()
    for each in ran.space.spread(count, 1):
        params = ran.space.decode(each)
        ran.add(params, measure(params))
        ran.belief()
    for e in ran.evaluations.values():
        loaded.add(e.params, e.outcomes)
    assert hyperparameters(loaded) == hyperparameters(ran)
    assert loaded.ask().params == ran.ask().params


def hyperparameters(study: Study) -> list:
    belief = study.belief()
    return [part.tolist() for part in (belief.lengthscale, belief.amplitude, belief.noise)]


@pytest.mark.parametrize("count", [20, 21, 22, 23, 24, 25, 26])
def test_hyperparameters_are_sought_from_all_starts_when_there_are_a_tenth_more(count, monkeypatch):
    sure = []
    whole = fit.maximize
    monkeypatch.setattr(fit, "maximize", lambda *given, **how: sure.append(how["is_sure"]) or whole(*given, **how))
    study = quick()
    for each in study.space.spread(count, 1):
        params = study.space.decode(each)
        study.add(params, measure(params))
    study.belief()
    # 1.1^31 = 19.2, 1.1^32 = 21.1, 1.1^33 = 23.2 and 1.1^34 = 25.5 values of each
    assert sure == ([False] if count in (20, 22, 24, 26) else [False, True])


def test_answers_of_samples_are_by_a_chain_of_their_own():
    """The first test would break if the chain went on from the last one, which may have ended elsewhere."""
    s = quick(rule="random", model=GP(hyperparameters="slice", samples=2))
    for _ in range(3):
        e = s.ask()
        s.tell(e, measure(e.params))
        s.belief()
    on_the_way = s.belief()
    s.recommend()
    assert s.belief() is on_the_way
    assert s.inferred().belief is not on_the_way
