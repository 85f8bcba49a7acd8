"""A bracket from a 3-D printer: what the slicer says in seconds, and what an hour of printing and loading shows.

Stand-ins, a few lines of arithmetic: yours would call the slicer's command line, and wait for the printer.
"""

import random
from math import pi, sin

LIMIT_M = 11
"""Meters of filament left on the spool."""
NOISE_MM = 0.01
noise = random.Random(0)


def check(params: dict[str, int]) -> dict[str, float]:
    """The slicer, 5 seconds: exact, and wavy, since infill lines that meet the walls at odd places take more turns."""
    wall, angle = _scaled(params)
    turns = sin(2 * pi * (3 * angle + wall)) + 0.6 * sin(2 * pi * (1.8 * angle - 1.7 * wall) + 1)
    return {"filament_m": 6 + 8 * wall + 2 * (angle - 0.5) + 1.3 * turns}


def load_test(params: dict[str, int]) -> dict[str, float]:
    """Print it and hang the load on it, 1 hour: smooth in both parameters, read off with a little noise."""
    return {"sag_mm": true_sag(params) + noise.gauss(0, NOISE_MM)}


def true_sag(params: dict[str, int]) -> float:
    """The sag without the noise, to judge recommendations by."""
    wall, angle = _scaled(params)
    return 2 + 2 * (1.15 - wall) ** 2 + 1.2 * (angle - 0.6) ** 2


def _scaled(params: dict[str, int]) -> tuple[float, float]:
    return (params["wall"] - 8) / 32, params["angle"] / 60
