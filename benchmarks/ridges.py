"""Random problems that are no draws of a Gaussian process: sums of sine waves along a few directions.

They have several local solutions, unlike scales along different directions, and constraints that cut the best of them
off. The optimum is found by a search of its own.
"""

import math

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from pesky.problem import Problem, Real
from pesky.test_functions import Benchmark

WAVES = 6
"""Sine waves of each outcome."""
FEASIBLE = 0.6
"""The share of the space where each constraint holds."""
DRAWN, POLISHED = 50_000, 24
"""Points of the search for the optimum, and how many of the best are polished."""


def ridges(dim: int, constraints: int, seed: int) -> Benchmark:
    """A problem of this seed."""
    rng = np.random.default_rng([dim, constraints, seed])
    rows = constraints + 1
    direction = rng.normal(size=(rows, WAVES, dim))
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
    frequency = 2 * math.pi * rng.uniform(0.2, 1.2, size=(rows, WAVES, 1)) * direction
    phase, height = rng.uniform(0, 2 * math.pi, size=(rows, WAVES)), rng.normal(size=(rows, WAVES))
    U = rng.uniform(size=(DRAWN, dim))

    def waves(u: np.ndarray) -> np.ndarray:
        """All outcomes at points (n, d) -> (n, rows)."""
        return (height[:, :, None] * np.sin(frequency @ u.T + phase[:, :, None])).sum(1).T

    everywhere = waves(U)
    offset = np.concatenate([[0.0], np.quantile(everywhere[:, 1:], 1 - FEASIBLE, axis=0)])
    values = everywhere - offset
    is_feasible = (values[:, 1:] >= 0).all(-1)
    order = np.argsort(np.where(is_feasible, values[:, 0], np.inf))[:POLISHED]
    best, lowest = U[order[0]], values[order[0], 0]
    inside = {"type": "ineq", "fun": lambda u: (waves(u[None]) - offset)[0, 1:] - 1e-9}
    for start in U[order]:
        found = minimize(
            lambda u: float(waves(u[None])[0, 0]), start, method="SLSQP", bounds=[(0, 1)] * dim, constraints=[inside]
        )
        u = np.clip(found.x, 0.0, 1.0)
        there = (waves(u[None]) - offset)[0]
        if (there[1:] >= 0).all() and there[0] < lowest:
            best, lowest = u, there[0]

    def truth(given: Tensor) -> Tensor:
        return torch.as_tensor(waves(given.detach().cpu().double().numpy()) - offset)

    names = [f"c{k}" for k in range(1, rows)]
    problem = Problem(
        {f"x{i}": Real(0, 1) for i in range(dim)}, minimize="f", constraints=[f"{name} >= 0" for name in names]
    )
    worst = float(values[:, 0].max())
    return Benchmark(problem, truth, torch.as_tensor(best), float(lowest), worst)
