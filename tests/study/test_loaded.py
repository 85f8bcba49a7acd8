"""What a study recommends that is loaded: the same as the one that ran."""

import pytest
from study.quick import COUPLED, SPLIT, check, measure, quick, score

from pesky import Study


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


def test_answers_are_by_a_fit_of_their_own():
    """The test above would break if the fit went on from the last one, which may have ended elsewhere."""
    s = quick(rule="random")
    for _ in range(7):
        e = s.ask()
        s.tell(e, measure(e.params))
        s.belief()
    on_the_way = s._surrogates._previous
    s.recommend()
    assert on_the_way is s._surrogates._previous
    assert s._surrogates.believe_afresh(s.evaluations)[0] is not s._surrogates.believe(s.evaluations)[0]
