"""A problem of so many dimensions that hundreds of measurements leave something to learn, decided in 50 ms."""

import math
import random
from typing import Any

from pesky import GP, FixedHyperparameters, Problem, Real, Study
from pesky.acquire import EntropySearchByEP

NOISE = 0.1
NAMES = "uvwxyz"
PROBLEM = Problem({name: Real(0, 1) for name in NAMES}, minimize="f", noise=NOISE)
MODEL = GP(hyperparameters={"f": FixedHyperparameters(lengthscale=0.5, amplitude=1.0, noise=NOISE**2)})
RULE = EntropySearchByEP(samples=1, draws=None, local_reach=None, polish_steps=1, candidates=8)


def measure(params: Any) -> dict[str, float]:
    """A value that no other call returns."""
    value = sum(math.sin(9 * params[name] + 1) for name in NAMES) / 3
    return {"f": value + random.SystemRandom().gauss(0, NOISE)}


def small(**given: Any) -> Study:
    """A study of the problem."""
    return Study(PROBLEM, model=MODEL, rule=RULE, **given)
