"""Realisations in lockstep ask what each would ask alone, and what a study of the package asks."""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from experiments import lockstep
from experiments.figure_2c import knowing_the_objective
from experiments.lockstep import NOISE_STREAM, Lockstep, Progressed
from experiments.random_task import RandomTask
from experiments.worlds import LENGTHSCALE, NOISE, Worlds, drawn, toys
from pesky import Study
from pesky.acquire import EntropySearchByEP, Rule, rule_of
from pesky.answer.recommend import best_anywhere
from pesky.model import surrogate
from pesky.model.surrogate import GP, FixedHyperparameters
from pesky.optimum import sample
from pesky.problem import Problem
from pesky.strategy import Acquire, CheckModel, Initial, Strategy
from pesky.test_functions import Benchmark, gp_sample, toy
from pesky.test_functions.base import decouple, measured_separately

# functions of the same names hide these modules in their packages
recommending = import_module("pesky.optimum.recommend")
joint = import_module("pesky.acquire.grouped.gain")

TOLERANCE, TIGHT = 1e-5, 1e-8
"""Sums of other lengths are rounded otherwise, and searches end a little elsewhere; hardly so without EP or samples."""
SMALL = {"samples": 8, "draws": 48, "polish_steps": 4, "candidates": 64}
QUICK = EntropySearchByEP(local_reach=0.175, fine_from=0, coarse=None, **SMALL)
PLAIN = replace(EntropySearchByEP.paper(), samples=8, polish_steps=4, candidates=64)
SEEDS = tuple(range(8))
ALONE = (0, 7)
"""Of them, those that are also run alone: they go different ways."""
SLICE = GP(hyperparameters="slice", samples=2, warp=False)
RARE = 2.6
"""Prior deviations by which a constraint is lower where hardly anything is feasible."""


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch):
    """Searches that are short; long enough for some to end before others."""
    monkeypatch.setattr(recommending, "STEPS", 8)
    monkeypatch.setattr(recommending, "CANDIDATES", 128)
    monkeypatch.setattr(joint, "CANDIDATES", 64)
    monkeypatch.setattr(surrogate, "FIRST_SWEEPS", 3)
    monkeypatch.setattr(surrogate, "LATER_SWEEPS", 1)


class Case(NamedTuple):
    kind: str
    rule: Rule
    change: Callable[[Problem], Problem] | None = None
    tolerance: float = TOLERANCE
    model: GP | None = None

    def worlds(self, seeds: tuple[int, ...]) -> Worlds:
        if self.kind == "toy":
            made = toys(seeds, "cpu")
        elif self.kind == "rare":
            made = rarely_feasible(seeds)
        else:
            made = drawn(int(self.kind), seeds, "cpu", model=self.model)
        return made if self.change is None else replace(made, problem=self.change(made.problem))

    def go(self, seeds: tuple[int, ...], steps: int = 2) -> Progressed:
        """The realisations after so many steps, with a recommendation."""
        run = Lockstep(self.worlds(seeds), self.rule, seeds)
        state = run.begin()
        for _ in range(steps):
            run.step(state)
        run.recommend(state, state.told.u.shape[1])
        return state

    def check(self) -> None:
        """All in lockstep, of which some must be as they are alone."""
        together = self.go(SEEDS)
        for i in ALONE:
            alone = self.go((SEEDS[i],))
            assert torch.equal(together.told.task[i], alone.told.task[0])
            near(together.told.u[i], alone.told.u[0], self.tolerance)
            near(together.told.values[i], alone.told.values[0], 100 * TOLERANCE)  # functions that may be steep
            near(together.gaps[0][i], alone.gaps[0][0], max(self.tolerance, TOLERANCE))


def rarely_feasible(seeds: tuple[int, ...]) -> Worlds:
    """Drawn functions whose constraint is lower, as the model knows: few of its draws have a feasible point."""
    worlds = drawn(1, seeds, "cpu")
    low, known = torch.tensor([0.0, RARE]), FixedHyperparameters(LENGTHSCALE, 1.0, NOISE)
    model = GP("se", {"f": known, "c1": replace(known, mean=-RARE)})
    return replace(worlds, truth=lambda U: worlds.truth(U) - low, model=model)


def near(one: Tensor, other: Tensor, tolerance: float = TOLERANCE) -> None:
    torch.testing.assert_close(one, other, rtol=0, atol=tolerance, equal_nan=True)


CASES = {
    "pesc": Case("2", QUICK),
    "pesc-paper": Case("1", PLAIN),
    "jesc": Case("2", rule_of("jesc", **SMALL)),
    "cmes": Case("1", rule_of("cmes", **SMALL)),
    "eic": Case("2", rule_of("eic"), tolerance=TIGHT),
    "rsdg": Case("2", rule_of("rsdg", optima=20, samples=1000)),
    "rs": Case("1", rule_of("rs", cells=101, samples=1000)),
    "random": Case("2", rule_of("random"), tolerance=TIGHT),
    "al": Case("1", rule_of("al", samples=32), tolerance=TIGHT),
    "al-known": Case("toy", rule_of("al", samples=32), knowing_the_objective, TIGHT),
    "eic-decoupled": Case("2", rule_of("eic-decoupled", samples=8, spread=32, draws=100), measured_separately),
    "pesc-decoupled": Case("toy", QUICK, measured_separately),
    "slice": Case("1", QUICK, measured_separately, model=SLICE),
    "slice-paper": Case("1", PLAIN, model=SLICE),
    "random-task": Case("1", RandomTask(), measured_separately, tolerance=1e-3),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_realisation_is_as_it_is_alone(name: str):
    CASES[name].check()


def watch(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[tuple[tuple, Any]]:
    """The arguments and results of every call of a function."""
    function, calls = getattr(module, name), []

    def watched(*given: Any) -> Any:
        calls.append((given, function(*given)))
        return calls[-1][1]

    monkeypatch.setattr(module, name, watched)
    return calls


def go_different_ways(flags: Tensor) -> bool:
    """Whether it is so for some of those that are compared, and not for others."""
    return len(set(flags[list(ALONE)].tolist())) == 2


def test_some_have_an_incumbent_and_others_none(monkeypatch: pytest.MonkeyPatch):
    """Whether they agree is tested above."""
    found = watch(monkeypatch, lockstep, "recommend")
    CASES["eic"].go(SEEDS, 0)
    assert go_different_ways(found[0][1].is_confident)


@pytest.mark.slow
@pytest.mark.parametrize("setting", [QUICK, PLAIN])
def test_some_need_a_second_chance(setting: Rule, monkeypatch: pytest.MonkeyPatch):
    found = watch(monkeypatch, sample, "_draw")
    Case("rare", setting).check()
    drawing = [len(source) for (*_, source), _ in found]
    assert drawing[0] == len(SEEDS)
    assert 1 < drawing[1] < len(SEEDS)
    # alone, one of them draws again in both steps, the other in none
    assert drawing.count(1) == 4 + 2


def test_some_doubt_their_model(monkeypatch: pytest.MonkeyPatch):
    sure = 0.392
    monkeypatch.setattr(lockstep, "CheckModel", lambda: CheckModel(gain=sure))
    found = watch(monkeypatch, lockstep, "select")
    CASES["pesc-decoupled"].check()
    assert go_different_ways(found[0][1].per_task.amax(-1) < sure)


def ask(benchmark: Benchmark, model: GP, rule: Rule, seed: int, steps: int) -> tuple[Study, list[int], Tensor]:
    """A study of the package that was asked and told so often: it, its tasks and its points."""
    strategy = Strategy([Initial(), CheckModel(), Acquire(rule)])
    study = Study(benchmark.problem, strategy=strategy, seed=seed, model=model)
    noise = torch.Generator().manual_seed(seed ^ NOISE_STREAM)
    names, tasks, points = list(benchmark.problem.tasks), [], []
    for _ in range(3 * len(names) + steps):
        question = study.ask()
        measured = benchmark.evaluate(question.params, noise)
        study.tell(question, {name: measured[name] for name in benchmark.problem.tasks[question.task].outcomes})
        tasks.append(names.index(question.task))
        points.append(study.space.encode(question.params))
    return study, tasks, torch.stack(points)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "seed"),
    [
        (Case("2", rule_of("pesc")), 0),
        (Case("toy", EntropySearchByEP.paper()), 1),
        (Case("toy", rule_of("jesc")), 2),
        (Case("2", rule_of("eic")), 3),
        (Case("2", rule_of("random")), 4),
        (Case("toy", rule_of("pesc"), measured_separately), 5),
        (CASES["eic-decoupled"], 6),
        (Case("rare", QUICK), 0),
        (CASES["slice"], 1),
    ],
    ids=lambda given: given.rule.name if isinstance(given, Case) else "",
)
def test_one_realisation_asks_what_a_study_asks(case: Case, seed: int):
    alone = case.go((seed,), 3)
    worlds, dim = case.worlds((seed,)), 2 if case.kind == "2" else 1
    benchmark = toy() if case.kind == "toy" else gp_sample(dim, torch.Generator().manual_seed(seed))
    benchmark = replace(benchmark, truth=lambda U: worlds.truth(U[None])[0])
    benchmark = decouple(benchmark) if case.change is measured_separately else benchmark
    study, tasks, points = ask(benchmark, worlds.model, case.rule, seed, 3)
    assert alone.told.task[0].tolist() == tasks
    near(alone.told.u[0], points, 10 * TOLERANCE)  # samples are in single precision
    if case.model is not None:
        return  # answers rest on chains of their own
    model = best_anywhere(study.inferred())
    gap = benchmark.utility_gap(study.space.encode(model.params))
    assert float(alone.gaps[0][0]) == pytest.approx(gap, abs=100 * TOLERANCE)
