"""Test problems with known constrained optima: classics of the literature and functions drawn from GP priors."""

from pesky.problems.base import Benchmark, decouple
from pesky.problems.branin_disk import branin_disk
from pesky.problems.gardner1 import gardner1
from pesky.problems.gardner2 import gardner2
from pesky.problems.gp_samples import gp_sample
from pesky.problems.hartmann6 import hartmann6
from pesky.problems.names import PROBLEMS, problem_by_name
from pesky.problems.pressure_vessel import pressure_vessel
from pesky.problems.speed_reducer import speed_reducer
from pesky.problems.spring import spring
from pesky.problems.toy import toy
from pesky.problems.welded_beam import welded_beam

__all__ = [
    "PROBLEMS",
    "Benchmark",
    "branin_disk",
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
