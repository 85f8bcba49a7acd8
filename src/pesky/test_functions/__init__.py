"""Test problems with known constrained optima: classics of the literature and functions drawn from GP priors."""

from pesky.test_functions.base import Benchmark, decouple
from pesky.test_functions.branin_disk import branin_disk
from pesky.test_functions.crescent import crescent
from pesky.test_functions.gardner1 import gardner1
from pesky.test_functions.gardner2 import gardner2
from pesky.test_functions.gp_samples import gp_sample
from pesky.test_functions.hartmann6 import hartmann6
from pesky.test_functions.names import PROBLEMS, problem_by_name
from pesky.test_functions.pressure_vessel import pressure_vessel
from pesky.test_functions.speed_reducer import speed_reducer
from pesky.test_functions.spring import spring
from pesky.test_functions.toy import toy
from pesky.test_functions.welded_beam import welded_beam

__all__ = [
    "PROBLEMS",
    "Benchmark",
    "branin_disk",
    "crescent",
    "decouple",
    "gardner1",
    "gardner2",
    "gp_sample",
    "hartmann6",
    "pressure_vessel",
    "problem_by_name",
    "speed_reducer",
    "spring",
    "toy",
    "welded_beam",
]
