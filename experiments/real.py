"""Experiments on something real: what is measured, who contends, and what a run of one of them is.

A run is one contender's repetition. After every few evaluations' worth of cost its recommendation is measured anew; at
the end several times, since the best observation is a lucky one. What violates a constraint, or fails, counts as the
worst value that there is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pesky import Problem
from pesky.model.surrogate import GP
from pesky.problem import Option

Params = Mapping[str, Option]
Measurement = Callable[[Params, int], dict[str, float]]
"""Parameters and a seed -> outcomes."""


@dataclass(frozen=True)
class RealContender:
    """A rule, with outcomes measured together or apart."""

    rule: str
    is_apart: bool = False
    model: GP | None = None


CONTENDERS = {
    "pesc": RealContender("pesc"),
    "pesc decoupled": RealContender("pesc", is_apart=True),
    "eic": RealContender("eic"),
    "random": RealContender("random"),
    "jesc": RealContender("jesc"),
    "pesc slice": RealContender("pesc", model=GP(hyperparameters="slice")),
}
"""The paper's, decoupled, and ours."""


@dataclass(frozen=True)
class RealExperiment:
    """One figure: the problem with outcomes measured together and apart, and what measures them."""

    figure: str
    together: Problem
    apart: Problem
    functions: Mapping[str, Measurement]
    """By task, those of both problems."""
    contenders: Mapping[str, RealContender]
    worst: float
    """What an infeasible recommendation counts as."""
    share: float = 1.0
    """What a value of the objective is multiplied with where it is shown: 100 for percent."""
    unit: str = ""
    paper: Mapping[str, str] = field(default_factory=dict)
    """What the paper has at the end, by contender."""
    every: int = 5
    """Evaluations, by their cost, between two looks at the recommendation."""
    repeats: int = 5
    """Measurements of the last recommendation."""

    @property
    def task(self) -> str:
        """The only task where outcomes are measured together."""
        (task,) = self.together.tasks
        return task

    @property
    def price(self) -> float:
        """What it costs to measure everything once."""
        cost = self.together.tasks[self.task].cost
        assert isinstance(cost, float | int)
        return float(cost)

    def problem_of(self, label: str) -> Problem:
        """What the contender is asked."""
        return self.apart if self.contenders[label].is_apart else self.together

    def value_of(self, measured: Sequence[Mapping[str, float] | None]) -> float:
        """The objective's mean if the means of all outcomes keep the constraints and nothing failed; else the worst."""
        told = [each for each in measured if each is not None]
        if not told or len(told) < len(measured):
            return self.worst
        means = {name: float(np.mean([each[name] for each in told])) for name in self.together.outcomes}
        holds = all(c.holds(means[c.outcome]) for c in self.together.constraints)
        return means[self.together.objective] if holds else self.worst


@dataclass
class RealRun:
    """How far a repetition of a contender is."""

    label: str
    repetition: int
    looks: list[dict[str, Any]] = field(default_factory=list)
    """At the recommendation after so many evaluations' worth: `n`, `spent`, `params` and what was `measured` there."""
    last: list[dict[str, float] | None] = field(default_factory=list)
    """What was measured at the last recommendation."""
    asked: dict[str, int] = field(default_factory=dict)
    """How often each task was asked."""
    failed: int = 0
    seconds: float = 0.0
    """In all, and `measuring` of it in the functions."""
    measuring: float = 0.0
