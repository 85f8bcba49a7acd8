"""A network that exists only here, a few lines of arithmetic: larger is better and slower."""

from math import log10, sqrt
from typing import Any


def train(params: dict[str, Any]) -> dict[str, float]:
    """The error after an hour of training."""
    is_relu = params["activation"] == "relu"
    mistuned = (log10(params["learning_rate"]) + (2.5 if is_relu else 2.0)) ** 2
    return {"error": 0.05 + 0.02 * mistuned + 0.8 / sqrt(params["units"]) + (0.0 if is_relu else 0.02)}


def profile(params: dict[str, Any]) -> dict[str, float]:
    """The latency of the untrained network, which takes a minute to measure."""
    return {"latency_ms": 0.2 + 0.006 * params["units"] * (1.0 if params["activation"] == "relu" else 1.3)}
