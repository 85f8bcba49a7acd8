"""Small studies in every situation that a picture must be right in; hyperparameters are given, so they cost little."""

import math
from collections.abc import Callable
from functools import cache

from study.quick import QUICK

from pesky import GP, Choice, FixedHyperparameters, Integer, Problem, Real, Resource, Study, Task
from pesky.show import Findings

SCRIPT = "<script>alert(1)</script>"
QUOTES = """it's "quoted" & %{x} `${1+1}` </div>"""
LONG = "a very long name " * 600 + "end"


def started(problem: Problem, **given) -> Study:
    """A new study whose hyperparameters are given."""
    fixed = FixedHyperparameters(lengthscale=0.3, amplitude=1.0, noise=1e-3)
    model = GP(hyperparameters=dict.fromkeys(problem.outcomes, fixed))
    return Study(problem, rule=QUICK, model=model, **given)


def plain() -> Study:
    """Two real parameters, two constraints, measured together; the last questions are asked by the rule."""
    problem = Problem({"x": Real(0, 1), "y": Real(-2, 2)}, minimize="f", constraints=["c >= 0", "d <= 1"], noise=0.01)
    study = started(problem, confirming_share=0.0)
    for _ in range(4):
        evaluation = study.ask()
        x, y = float(evaluation.params["x"]), float(evaluation.params["y"])
        study.tell(evaluation, {"f": x + y, "c": math.sin(5 * x) + y, "d": x * y}, seconds=0.5)
    study.ask()
    return study


def mixed() -> Study:
    """A log scale, whole numbers, a choice, several constraints, a yes or no, learnt failures, tasks on resources."""
    problem = Problem(
        {"rate": Real(1e-5, 1e-1, log=True), "units": Integer(1, 9), "kind": Choice(["relu", "tanh", "none"])},
        maximize="accuracy",
        constraints=["latency <= 2", "latency >= 0.1", "converged is true"],
        tasks={
            "train": Task(["accuracy", "converged"], cost=60),
            "profile": Task(["latency"], cost=1, failures="learn"),
        },
        resources={"gpu": Resource(["train"], slots=2), "cpu": Resource(["profile"])},
        noise={"accuracy": 0.01, "latency": 0.05},
    )
    study = started(problem)
    kinds = ["relu", "tanh", "none"]
    for i in range(6):
        params = {"rate": 10.0 ** -(1 + 0.6 * i), "units": 1 + i, "kind": kinds[i % 3]}
        (asked,) = study.enqueue(params, "train")
        asked = study.ask("train")
        study.tell(asked, {"accuracy": 0.5 + 0.05 * i, "converged": i > 0})
        (asked,) = study.enqueue(params, "profile")
        asked = study.ask("profile")
        if i == 5:
            study.fail(asked, f"out of memory {SCRIPT}")
        else:
            study.tell(asked, {"latency": 0.4 * (i + 1)})
    return study


def apart() -> Study:
    """Tasks that are measured apart, at points of their own: no point was measured wholly."""
    problem = Problem(
        {"x": Real(0, 1), "y": Real(0, 1)},
        minimize="f",
        constraints=["c >= 0"],
        tasks={"score": Task(["f"], cost=10), "check": Task(["c"], cost=1)},
    )
    study = started(problem)
    for i in range(3):
        study.add({"x": 0.3 * i, "y": 0.5}, {"f": float(i)})
        study.add({"x": 0.5, "y": 0.3 * i}, {"c": i - 1.0})
    study.release(study.ask("check", worker="a", lease=60), "stopped")
    study.fail(study.ask("score", worker="b"), "the bench is broken")
    return study


def infeasible() -> Study:
    """Nothing that was measured is feasible."""
    study = started(Problem({"x": Real(0, 1)}, minimize="f", constraints=["c >= 0"], noise=0.0))
    for x in (0.1, 0.5, 0.9):
        study.add({"x": x}, {"f": x, "c": -5.0 - x})
    return study


def one() -> Study:
    """One observation."""
    study = started(Problem({"x": Real(0, 1), "k": Integer(0, 500)}, minimize="f", constraints=["c >= 0"]))
    study.add({"x": 0.5, "k": 20}, {"f": 1.0, "c": 1.0})
    return study


def none() -> Study:
    """No observation."""
    study = started(Problem({"x": Real(0, 1)}, minimize="f", constraints=["c >= 0"]))
    study.ask()
    return study


def unconstrained() -> Study:
    """Nothing but an objective; four parameters, of which one is a yes or no."""
    names = {"a": Real(0, 1), "b": Real(1, 100, log=True), "c": Integer(2, 4096, log=True), "d": Choice([True, False])}
    study = started(Problem(names, minimize="f"))
    for i in range(4):
        study.add({"a": 0.2 * i, "b": 2.0**i, "c": 2 + 9 * i, "d": i % 2 == 0}, {"f": (i - 2.0) ** 2})
    return study


def known() -> Study:
    """An objective that is known, a constraint on parameters, and a limit on the objective."""
    problem = Problem(
        {"x": Real(0, 1), "z": Real(0, 1)},
        minimize="price",
        constraints=["x + z <= 1.5", "strength >= 1", "price <= 5"],
        known={"price": lambda p: 3 * p["x"] + p["z"]},
    )
    study = started(problem)
    for i in range(4):
        study.add({"x": 0.2 * i, "z": 0.3}, {"strength": 0.5 * i})
    return study


def hostile() -> Study:
    """Names, options and reasons that would be markup, code or endless."""
    problem = Problem(
        {QUOTES.replace("<", "(").replace(">", ")"): Choice([SCRIPT, QUOTES, LONG]), LONG: Real(0, 1)},
        minimize="f'\"&amp;",
        constraints=["%{y} <= 3"],
        tasks={"<b>task</b>".replace("<", "[").replace(">", "]"): Task(["f'\"&amp;", "%{y}"])},
    )
    study = started(problem, name=SCRIPT)
    first, second = problem.parameters
    for i, option in enumerate([SCRIPT, QUOTES, LONG]):
        study.add({first: option, second: 0.3 * i}, {"f'\"&amp;": float(i), "%{y}": 2.0 * i})
    study.fail(study.ask(worker=SCRIPT), f"{SCRIPT}{QUOTES}{LONG}")
    study.exclude(study.add({first: SCRIPT, second: 1.0}, {"f'\"&amp;": 9.0, "%{y}": 2.0}), SCRIPT)
    return study


MAKERS: tuple[Callable[[], Study], ...] = (
    *(plain, mixed, apart, infeasible, one, none, unconstrained, known, hostile),
)


@cache
def made(name: str) -> Study:
    """The study of this name, made once."""
    return next(make for make in MAKERS if make.__name__ == name)()


@cache
def found(name: str) -> Findings:
    """What its pictures have in common; of one study with two moments of its past, since each takes a second."""
    return Findings(made(name), moments=3 if name == "infeasible" else 1)


NAMES = tuple(make.__name__ for make in MAKERS)
