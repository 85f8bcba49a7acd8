"""What a figure compares: worlds, and the rules that are let loose on them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from experiments.curves import Statistic
from experiments.worlds import Worlds
from pesky.acquire.base import Rule
from pesky.model.surrogate import GP
from pesky.problem import Problem
from pesky.test_functions.base import measured_separately


@dataclass(frozen=True)
class Contender:
    """A rule, and what its study is told of the problem where that is not what the others' are told."""

    rule: Rule
    change: Callable[[Problem], Problem] | None = None
    model: GP | None = None
    """Its study's model, where that is not the others'."""


@dataclass(frozen=True)
class Experiment:
    """One figure, or one of its panels."""

    figure: str
    worlds: Callable[[Sequence[int], str], Worlds]
    """Seeds of the realisations, device -> their problems."""
    contenders: dict[str, Contender]
    evaluations: int
    """In all, the initial design's among them."""
    statistic: Statistic
    is_single: bool = False
    """Whether it counts evaluations of single functions: a joint one is then as many as it measures."""

    def build(self, label: str, seeds: Sequence[int], device: str) -> tuple[Worlds, Rule]:
        """The worlds of some realisations as this contender sees them, and its rule."""
        contender = self.contenders[label]
        worlds = self.worlds(seeds, device)
        if contender.change is not None:
            worlds = replace(worlds, problem=contender.change(worlds.problem))
        if contender.model is not None:
            worlds = replace(worlds, model=contender.model)
        return worlds, contender.rule


def decoupled(rule: Rule, model: GP | None = None) -> Contender:
    """A rule that measures one function at a time."""
    return Contender(rule, measured_separately, model)
