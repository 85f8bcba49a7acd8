"""Test problems with noise in every outcome, of which the standard deviation is known."""

from pesky.test_functions.base import Benchmark
from pesky.test_functions.branin_disk import branin_disk
from pesky.test_functions.gardner1 import gardner1
from pesky.test_functions.hartmann6 import hartmann6


def gardner1_noisy(noise: float = 0.1, confidence: float = 0.95) -> Benchmark:
    """Gardner et al.'s simulation 1, with noise of a fortieth of the objective's range."""
    return gardner1(noise, confidence)


def branin_disk_noisy(noise: float = 2.0, confidence: float = 0.95) -> Benchmark:
    """Branin's function in a disk, with noise of five times the objective at its optimum."""
    return branin_disk(noise, confidence)


def hartmann6_noisy(noise: float = 0.05, confidence: float = 0.95) -> Benchmark:
    """Hartmann's function in a ball, with noise of a sixtieth of the objective's range."""
    return hartmann6(noise, confidence)
