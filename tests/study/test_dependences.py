"""Tasks that depend on some parameters only: what was measured at one value of the others is known at every value."""

import pytest
import torch
from botorch.models import ModelListGP, SingleTaskGP
from study.quick import QUICK

from pesky import GP, Choice, Integer, Problem, ProblemError, Real, Study, Task

SPACE = {"rate": Real(1e-4, 1e-1, log=True), "width": Integer(1, 6), "kind": Choice(["a", "b"])}
TASKS = {"train": Task(["error"], cost=10), "profile": Task(["latency"], parameters=["width", "kind"])}
NETWORK = Problem(SPACE, minimize="error", constraints=["latency <= 4"], tasks=TASKS, noise=0.0)


def latency(p):
    return {"latency": p["width"] + (0.5 if p["kind"] == "a" else 0.0)}


def error(p):
    return {"error": 1 / p["width"] + abs(p["rate"] - 0.01)}


def at(e):
    return (e.params["width"], e.params["kind"])


def told(s: Study) -> Study:
    for i, (rate, width) in enumerate([(1e-3, 1), (1e-2, 3), (5e-2, 5), (2e-4, 4)]):
        params = {"rate": rate, "width": width, "kind": "ab"[i % 2]}
        s.add(params, {**latency(params), **error(params)})
    return s


@pytest.mark.parametrize("model", [None, GP(hyperparameters="slice", samples=2)], ids=["maximum", "slice"])
def test_the_belief_is_exactly_constant_along_the_others(model):
    s = told(Study(NETWORK, rule="random", model=model))
    belief = s.belief()
    X = s.space.sobol(6, 0)
    Y = torch.where(s.space.columns_of(["rate"]), 1 - X, X)
    here, there = (points.expand(*belief.amplitude.shape[:-1], *points.shape) for points in (X, Y))
    for moment in (belief.mean, belief.variance):
        assert torch.equal(moment(here)[..., 1, :], moment(there)[..., 1, :])
        assert not torch.allclose(moment(here)[..., 0, :], moment(there)[..., 0, :])
    again = s.belief()  # and from where the last fit ended
    assert torch.isinf(again.lengthscale[..., 1, 0]).all()
    s.add({"rate": 1e-2, "width": 6, "kind": "a"}, {"error": 0.2})
    assert torch.isfinite(s.belief().mean(here)).all()


def test_a_limit_that_is_met_exactly_is_known_to_hold_at_every_other_rate():
    """By the belief, whose numbers have a floor of noise, one half; and nothing else reaches what is lowest there."""
    s = Study(NETWORK, seed=0)
    for width in (1, 2, 4, 5, 6):
        s.add({"rate": 1e-3, "width": width, "kind": "b"}, latency({"width": width, "kind": "b"}))
    for rate in (2e-4, 1e-3, 5e-3, 9e-3, 1e-2, 2e-2, 8e-2):
        for width in (2, 4):
            params = {"rate": rate, "width": width, "kind": "b"}
            s.add(params, error(params))
    for width, p in ((4, 1.0), (5, 0.0)):
        assert s.predict({"rate": 3e-2, "width": width, "kind": "b"}).probabilities == {"latency <= 4": p}
    for found in (s.recommend(), s.what_if({"latency": 4.0})):
        assert found.is_confident
        assert (found.params["width"], found.params["kind"]) == (4, "b")
        assert found.params["rate"] == pytest.approx(1e-2, rel=0.3)
    assert s.what_if({"latency": 3.999}).params["width"] in (1, 2, 3)


def test_a_profile_is_not_asked_again_at_another_rate():
    s = Study(NETWORK, rule="random", initial=2)
    while len(s.evaluations) < 20:
        e = s.ask("profile") if sum(e.task == "profile" for e in s.evaluations.values()) < 12 else s.ask("train")
        s.tell(e, latency(e.params) if e.task == "profile" else error(e.params))
    profiles = [at(e) for e in s.evaluations.values() if e.task == "profile"]
    assert len(profiles) == len(set(profiles)) == 12  # all that there are
    assert all(e.task == "train" for e in s.ask(3))
    assert {e.task for e in s.evaluations.values()} == {"train", "profile"}


def test_pesc_decides_with_it_and_the_best_knows_what_was_profiled_elsewhere():
    s = Study(NETWORK, rule=QUICK, initial=2)
    s.run({"train": error, "profile": latency}, budget=75, progress=False)
    profiles = [at(e) for e in s.evaluations.values() if e.task == "profile"]
    assert len(profiles) == len(set(profiles))
    s.add({"rate": 0.011, "width": 3, "kind": "b"}, {"latency": 3.0})
    s.add({"rate": 0.01, "width": 3, "kind": "b"}, {"error": 1 / 3})
    best = s.best()
    assert dict(best.params) == {"rate": 0.01, "width": 3, "kind": "b"}
    assert best.told["latency"] == 3.0


def test_failures_depend_on_them_too():
    task = Task(["latency"], failures="learn", parameters=["width", "kind"])
    problem = Problem(SPACE, minimize="error", constraints=["latency <= 4"], tasks={**TASKS, "profile": task})
    s = told(Study(problem, rule="random"))
    s.fail(s.ask("profile"), "out of memory")
    belief = s.belief()
    assert torch.isinf(belief.lengthscale[..., 2, 0]).all()
    assert torch.isfinite(belief.lengthscale[..., 2, 1:]).all()


def test_it_is_stored_only_where_it_is_said(tmp_path):
    plain = NETWORK.to_dict()["tasks"]
    assert "parameters" not in plain["train"]  # pyright: ignore[reportIndexIssue, reportOperatorIssue]
    assert plain["profile"]["parameters"] == ["width", "kind"]  # pyright: ignore[reportIndexIssue]
    assert Problem.from_json(NETWORK.to_json()) == NETWORK
    assert NETWORK.depends_on("latency") == ("width", "kind")
    assert NETWORK.depends_on("error") == tuple(SPACE)
    other = Problem(
        SPACE, minimize="error", constraints=["latency <= 4"], tasks={**TASKS, "profile": ["latency"]}, noise=0
    )
    assert any("by width, kind alone" in line for line in other.difference(NETWORK))


MISTAKES = [
    (
        {"profile": Task(["latency"], parameters=["widht"])},
        "the task 'profile': unknown parameter 'widht'.*Did you mean",
    ),
    ({"again": Task(["latency"])}, "'profile' and 'again' both measure 'latency'"),
    ({"train": Task(["error"], parameters=["width", "kind"])}, "no task depends on the parameter 'rate'"),
]


@pytest.mark.parametrize(("tasks", "said"), MISTAKES, ids=["unknown", "at odds", "left out"])
def test_a_mistake_is_answered_in_words(tasks, said):
    with pytest.raises(ProblemError, match=said):
        Problem(SPACE, minimize="error", constraints=["latency <= 4"], tasks={**TASKS, **tasks})


def test_what_cannot_be_said_is_refused():
    with pytest.raises(ProblemError, match="parameters was \\[\\]"):
        Task(["f"], parameters=[])
    with pytest.raises(ProblemError, match="does not know which parameters a task depends on"):
        Study(NETWORK, model=lambda rows: ModelListGP(*(SingleTaskGP(X, Y) for X, Y in rows)))
