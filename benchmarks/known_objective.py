"""A test problem whose objective needs no measuring, as in Gramacy et al. (2016)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from pesky.problem import Problem, Real
from pesky.test_functions import Benchmark


def is_formula(benchmark: Benchmark) -> bool:
    """Whether the objective is one that somebody could know: a formula in real parameters, not a draw."""
    parameters = benchmark.problem.parameters.values()
    return benchmark.hyperparameters is None and all(isinstance(p, Real) and not p.log for p in parameters)


def with_known_objective(benchmark: Benchmark) -> Problem:
    """The benchmark's problem with its objective known; only the constraints are measured, together."""
    problem = benchmark.problem
    bounds = {name: (p.low, p.high) for name, p in problem.parameters.items() if isinstance(p, Real)}

    def objective(params: Mapping[str, Any]) -> np.ndarray:
        """The objective at one point, or at arrays of them."""
        columns = [(np.asarray(params[name]) - low) / (high - low) for name, (low, high) in bounds.items()]
        U = np.stack(columns, -1)
        return benchmark.truth(torch.from_numpy(U).reshape(-1, len(bounds)))[:, 0].numpy().reshape(U.shape[:-1])

    noise = {outcome: deviation for outcome, deviation in problem.noise.items() if outcome != problem.objective}
    return replace(problem, known={problem.objective: objective}, tasks=None, noise=noise)
