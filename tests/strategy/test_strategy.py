"""A strategy is data: who answers in which situation, what it prints, and the paper's asks for maxima alone."""

import json
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
from study.quick import COUPLED, QUICK, SPACE, SPLIT, measure

from pesky import Choice, ProblemError, Strategy, Study
from pesky.acquire import EntropySearchByEP, rule_of
from pesky.acquire.base import Rule
from pesky.problem import Problem
from pesky.strategy import (
    Acquire,
    CheckModel,
    Confirm,
    CoverOptions,
    Initial,
    Query,
    Reason,
    SeekFeasible,
    Situation,
    Step,
)
from pesky.study_file import StudyFile
from pesky.test_functions import branin_disk, gardner1, toy


def kinds(study: Study, count: int) -> list[str | None]:
    """The kinds of so many queries, each of which is measured."""
    found = []
    for _ in range(count):
        asked = study.ask()
        found.append(asked.kind)
        values = measure(asked.params)
        study.tell(asked, {name: values[name] for name in study.problem.tasks[asked.task].outcomes})
    return found


def test_the_default_fits_on_a_screen_and_says_every_figure():
    text = repr(Strategy.default())
    assert len(text.splitlines()) <= 12
    for step in Strategy.default():
        for name, value in step.to_plain().items():
            if name not in ("step", "rule"):
                assert f"{name}={value!r}" in text
    assert [type(step) for step in Strategy.default()] == [
        Initial, CoverOptions, Confirm, SeekFeasible, CheckModel, Acquire,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "strategy",
    [
        Strategy.default(),
        Strategy.paper(),
        Strategy.plain("eic"),
        Strategy([Initial(points=7), Confirm(share=0.3, bold=0.5), Acquire({"name": "pesc", "cells": 40})]),
    ],
)
def test_it_is_the_same_after_it_was_written_as_json(strategy: Strategy):
    assert Strategy.of(json.loads(json.dumps(strategy.to_plain()))) == strategy


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("papr", "unknown strategy 'papr'.*Did you mean 'paper'"),
        ({"steps": [{"step": "Acquir"}]}, "unknown step of a strategy 'Acquir'"),
        ([{"step": "Initial", "point": 3}], "the step Initial: unknown figure 'point'"),
        ([{"step": "Initial"}], "one step Acquire"),
        ([Initial(), Acquire(), Acquire()], "one step Acquire"),
        ([3], "unknown step of a strategy 3"),
        ([Acquire(), Initial()], "the last"),
        ([{"step": "Initial", "points": -1}, {"step": "Acquire"}], "points was -1"),
        ([{"step": "Confirm", "share": "much"}, {"step": "Acquire"}], "share was 'much'"),
        (7, "the strategy was 7"),
    ],
)
def test_what_is_no_strategy_is_refused_in_words(given: object, said: str):
    with pytest.raises(ProblemError, match=said):
        Strategy.of(given)


def test_short_cuts_say_what_they_change():
    study = Study(COUPLED, rule="eic", initial=5, confirming_share=0.1, deciding_share=2.0)
    assert study.strategy.get(Initial) == Initial(points=5)
    assert study.strategy.get(Confirm) == Confirm(share=0.1)
    assert study.strategy.acquire == Acquire("eic", deciding_share=2.0)
    assert [type(step) for step in study.strategy] == [type(step) for step in Strategy.default()]


def test_a_rule_that_does_not_learn_asks_alone():
    random = Study(COUPLED, rule="random", initial=2).strategy
    assert [type(step) for step in random] == [Initial, Confirm, Acquire]
    assert random.get(Confirm) == Confirm(share=0.0)
    assert random.changed(rule=rule_of("pesc")) == Strategy.default().changed(initial=2)


def test_the_first_step_that_has_a_query_decides():
    study = Study(COUPLED, rule=QUICK, initial=2)
    assert kinds(study, 2) == ["initial", "initial"]
    assert kinds(study, 1)[0] not in ("initial", None)


def test_an_option_is_covered_before_anything_is_confirmed_and_never_on_request():
    problem = Problem({**SPACE, "k": Choice(["a", "b"])}, minimize="f", constraints=["c >= 0"], noise=0.0)
    study = Study(problem, rule=QUICK, initial=2)
    for i in range(8):
        params = {"x": i / 7, "y": 2 - i / 2, "k": "a"}
        study.add(params, measure(params))
    assert study.ask(confirm=True).kind == "confirming"
    assert study.ask().kind == "untried"


def test_with_everything_else_taken_away_the_rule_alone_asks():
    study = Study(COUPLED, strategy=Strategy.plain(QUICK))
    assert set(kinds(study, 8)[3:]) <= {"full", "coarse"}


@dataclass(frozen=True)
class Corner(Step):
    """A corner of the space, every so many queries."""

    kinds = {"corner": "a corner of the space"}  # noqa: RUF012

    every: int = 3

    def propose(self, situation: Situation) -> Query | None:
        if len(situation.evaluations) % self.every:
            return None
        params = {name: p.low for name, p in situation.problem.parameters.items()}  # pyright: ignore
        return Query(situation.tasks[0], params, 1.0, Reason("corner", {"every": self.every}))


def test_a_step_of_ones_own(tmp_path, caplog: pytest.LogCaptureFixture):
    strategy = Strategy([Initial(points=2), Corner(every=3), Acquire(QUICK)])
    study = Study(COUPLED, strategy=strategy, storage=f"sqlite:///{tmp_path / 's.db'}")
    assert kinds(study, 4)[2:] != ["corner", "corner"]
    asked = [e for e in study.evaluations.values() if e.kind == "corner"]
    assert [e.id for e in asked] == [3]
    assert asked[0].why == {"kind": "corner", "every": 3}
    assert "corner" in str(study.explain(asked[0]))
    again = Study.load(f"sqlite:///{tmp_path / 's.db'}")
    assert again.strategy == Strategy([Initial(points=2), Acquire(QUICK)])
    assert "Corner" in caplog.text
    assert "by its other steps unless `strategy` or `rule` is given again" in caplog.text
    caplog.clear()
    assert Study.load(f"sqlite:///{tmp_path / 's.db'}", strategy=strategy).strategy == strategy
    assert not caplog.records


@dataclass(frozen=True)
class Fixed(Step):
    """Always the same query."""

    task: str = "all"
    params: Any = None

    def propose(self, situation: Situation) -> Query | None:
        return Query(self.task, self.params, 1.0, Reason("fixed"))


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (Fixed(params={"x": 0.5}), "the step Fixed: .*'y'"),
        (Fixed(params={"x": 2.0, "y": 0.0}), "the step Fixed: .*'x' was 2"),
        (Fixed("al", {"x": 0.5, "y": 0.0}), "the step Fixed: unknown task 'al'"),
    ],
)
def test_what_is_no_query_of_the_problem_is_refused_before_it_is_stored(step: Step, said: str):
    study = Study(COUPLED, strategy=Strategy([step, Acquire("random")]))
    with pytest.raises(ProblemError, match=said):
        study.ask()
    assert not study.evaluations


def test_masks_hold_for_a_step_of_ones_own():
    """The point is known, or a constraint on parameters or the least probability forbids it: the next step is asked."""
    exact = replace(COUPLED, noise=0.0)
    study = Study(exact, strategy=Strategy([Fixed(params={"x": 0.0, "y": 0.0}), Acquire("random")]))
    assert kinds(study, 2)[0] == "fixed"
    assert [e.kind == "fixed" for e in study.evaluations.values()] == [True, False]
    bounded = replace(exact, constraints=["c >= 0", "x + y >= 0.5"])
    assert kinds(Study(bounded, strategy=study.strategy), 1) != ["fixed"]
    safe = Study(exact, strategy=Strategy([Fixed(params={"x": 1.0, "y": 2.0}), Acquire(QUICK)]), min_probability=0.6)
    for x in (0.0, 0.4, 1.0):
        safe.add({"x": x, "y": 1.9}, {"f": 0.0, "c": -1.0})
        safe.add({"x": x, "y": 0.0}, {"f": 0.0, "c": 1.0})
    assert safe.ask().kind != "fixed"


def test_a_short_cut_that_changes_nothing_is_refused():
    with pytest.raises(ProblemError, match=r"confirming_share was 0\.1, and the strategy has no step Confirm"):
        Study(COUPLED, strategy="plain", rule="eic", confirming_share=0.1)
    with pytest.raises(ProblemError, match="initial was 4, and the strategy has no step Initial"):
        Study(COUPLED, strategy=Strategy([Acquire("eic")]), initial=4)
    assert Study(COUPLED, strategy="plain", confirming_share=0).strategy == Strategy.plain()


def test_a_study_goes_on_by_its_strategy(tmp_path, caplog: pytest.LogCaptureFixture):
    url = f"sqlite:///{tmp_path / 's.db'}"
    assert Study(COUPLED, storage=url, strategy="paper").strategy == Strategy.paper()
    assert Study.load(url).strategy == Study(COUPLED, storage=url).strategy == Strategy.paper()
    assert not caplog.records
    Study.load(url, strategy="plain")
    assert "goes on by Acquire(rule={'name': 'pesc', " in caplog.text
    assert Study.load(url).strategy == Strategy.plain()


def test_a_study_file_says_a_strategy(tmp_path):
    from pesky.cli.stored_study import open_study

    file = tmp_path / "study.toml"
    text = 'minimize = "f"\n[parameters]\nx = { type = "real", low = 0, high = 1 }\n'
    file.write_text(f'strategy = "paper"\n{text}')
    assert open_study(StudyFile.read(file, importing=False)).strategy == Strategy.paper()
    steps = '[[strategy]]\nstep = "Initial"\npoints = 6\n[[strategy]]\nstep = "Acquire"\nrule = "eic"\n'
    file.write_text(text + steps)
    read = StudyFile.read(file, strategy="plain", importing=False)
    assert read.strategy == "plain"
    file.with_suffix(".db").unlink()
    assert open_study(StudyFile.read(file, importing=False)).strategy == Strategy([Initial(6), Acquire("eic")])
    file.write_text(text + steps.replace("eic", "eics"))
    with pytest.raises(Exception, match="eics"):
        StudyFile.read(file)


@pytest.mark.parametrize("benchmark", [toy(), gardner1(), branin_disk()])
def test_every_query_of_the_papers_is_the_maximum_of_its_gain(benchmark):
    """Thirty queries; of each the gain is computed anew, at many points, by the paper's rule alone."""
    study = Study(benchmark.problem, strategy="paper")
    assert isinstance(study.rule, Rule)
    assert study.rule == EntropySearchByEP.paper()
    study.run(benchmark.evaluate, 30, progress=False)  # a run keeps nothing for the end
    asked = [*study.evaluations.values()]
    assert [e.kind for e in asked] == ["initial"] * 3 + ["full"] * 27
    generator = torch.Generator().manual_seed(0)
    for e in asked[3::4]:
        known = {k: each for k, each in study.evaluations.items() if k < e.id}
        values: Any = study.task_values(known)
        elsewhere = torch.rand(256, study.space.dim, generator=generator, dtype=torch.float64)
        there = torch.cat([elsewhere, values.acquisition.search_centers])
        with torch.no_grad():
            here = values.value(study.space.encode(e.params)[None])
            most = values.value(there).max()
        assert e.gain == pytest.approx(float(here), rel=1e-6)
        assert float(here) >= float(most) * (1 - 1e-6)


def test_tasks_apart_are_asked_by_the_papers_rule_as_well():
    study = Study(SPLIT, strategy="paper")
    assert kinds(study, 9)[6:] == ["full"] * 3
