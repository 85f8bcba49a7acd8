"""What every test problem is: a problem, its noise-free truth and its known constrained optimum."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Problem, Task
from pesky.space import Space

# The truth of a point on an active constraint is zero only up to rounding; more than this is a violation.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Benchmark:
    """A problem whose truth is known.

    Rows are those of the whole package: row 0 the objective, minimized, row k the k-th constraint, feasible
    when >= 0. Every outcome of `problem`, measured or known, is one row, in the same order, in the same units; that of
    a yes or no is a number that nobody sees, only whether it is feasible.

    problem:          what a study is given
    truth:            U (n, d) in the unit cube -> noise-free rows (n, J)
    optimum:          the constrained minimizer in the unit cube (d,)
    optimum_value:    the objective there
    worst_value:      the largest objective on the domain, feasible or not
    noise:            standard deviation of the noise of every outcome
    hyperparameters:  where outcomes were drawn from GPs, with what each was: lengthscale per axis, amplitude
                      and noise as variances, mean
    """

    problem: Problem
    truth: Callable[[Tensor], Tensor]
    optimum: Float[Tensor, " d"]
    optimum_value: float
    worst_value: float
    noise: float = 0.0
    hyperparameters: Mapping[str, Mapping[str, Any]] | None = None

    def evaluate(self, params: Mapping[str, Any], generator: torch.Generator | None = None) -> dict[str, float]:
        """A noisy value of every outcome that is measured, at `params`; `study.run(benchmark.evaluate, 30)` works.

        A yes is 1, a no is 0, without noise.
        """
        u = Space.of(self.problem).encode(params)
        rows = self.truth(u.unsqueeze(0)).squeeze(0)
        noise = self.noise * torch.randn(rows.shape, generator=generator, dtype=rows.dtype)
        outcomes = tuple(dict.fromkeys(self.problem.rows))
        values = dict(zip(outcomes, (rows + noise).tolist(), strict=True))
        holds = dict(zip(outcomes, (rows >= -ROUNDING).tolist(), strict=True))
        answers = {each.outcome: float(each.threshold == holds[each.outcome]) for each in self.problem.constraints}
        yes_no = self.problem.yes_no
        return {each: answers[each] if each in yes_no else values[each] for each in self.problem.outcomes}

    def is_feasible(self, at: Float[Tensor, " d"] | Mapping[str, Any]) -> bool:
        """Whether every constraint holds at a point, without tolerance beyond rounding."""
        u = self._unit(at)
        return bool((self.truth(u.unsqueeze(0))[0, 1:] >= -ROUNDING).all())

    def utility_gap(self, at: Float[Tensor, " d"] | Mapping[str, Any]) -> float:
        """How much worse than the optimum a point is, in the unit cube or as params; infeasible counts as the worst."""
        u = self._unit(at)
        utility = self.truth(u.unsqueeze(0))[0, 0].item() if self.is_feasible(u) else self.worst_value
        return abs(utility - self.optimum_value)

    def _unit(self, at: Float[Tensor, " d"] | Mapping[str, Any]) -> Float[Tensor, " d"]:
        return Space.of(self.problem).encode(at) if isinstance(at, Mapping) else at


def decouple(benchmark: Benchmark) -> Benchmark:
    """The same benchmark with every outcome a task of its own, at cost 1."""
    return replace(benchmark, problem=measured_separately(benchmark.problem))


def measured_separately(problem: Problem) -> Problem:
    """The same problem with every outcome a task of its own, at cost 1."""
    return replace(problem, tasks={outcome: Task([outcome]) for outcome in problem.outcomes})
