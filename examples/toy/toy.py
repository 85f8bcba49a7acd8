"""The toy problem of the PESC paper: three functions of two parameters, in plain arithmetic.

Every function gets the parameters as a dict and returns what it measures by name. That is all that a study needs.
"""

from math import pi, sin

OPTIMUM = (0.195122683, 0.404665369)
"""Where c1 = 0 and x1 + x2 is smallest: known here to judge by, and unknown to the study."""
BEST = 0.599788052


def measure(params: dict[str, float]) -> dict[str, float]:
    """All three in one go, for study.toml."""
    return {**objective(params), **wave(params), **disk(params)}


def objective(params: dict[str, float]) -> dict[str, float]:
    """What is to be small."""
    return {"f": params["x1"] + params["x2"]}


def wave(params: dict[str, float]) -> dict[str, float]:
    """Feasible above zero: a wavy edge, on which the optimum lies."""
    x1, x2 = params["x1"], params["x2"]
    return {"c1": 0.5 * sin(2 * pi * (x1**2 - 2 * x2)) + x1 + 2 * x2 - 1.5}


def disk(params: dict[str, float]) -> dict[str, float]:
    """Feasible above zero: inside a circle, which matters for no optimum."""
    return {"c2": 1.5 - params["x1"] ** 2 - params["x2"] ** 2}
