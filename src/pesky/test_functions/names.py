"""Every test problem under a name, as the benchmarks and their tables call it."""

import re
from collections.abc import Callable

import torch

from pesky.errors import ProblemError, unknown_name
from pesky.test_functions.base import Benchmark
from pesky.test_functions.branin_disk import branin_disk
from pesky.test_functions.crescent import crescent
from pesky.test_functions.gardner1 import gardner1
from pesky.test_functions.gardner2 import gardner2
from pesky.test_functions.gp_samples import gp_sample
from pesky.test_functions.hartmann6 import hartmann6
from pesky.test_functions.pressure_vessel import pressure_vessel
from pesky.test_functions.speed_reducer import speed_reducer
from pesky.test_functions.spring import spring
from pesky.test_functions.toy import toy
from pesky.test_functions.welded_beam import welded_beam

PROBLEMS: dict[str, Callable[[], Benchmark]] = {
    "toy": toy,
    "gardner1": gardner1,
    "gardner2": gardner2,
    "branin-disk": branin_disk,
    "crescent": crescent,
    "hartmann6": hartmann6,
    "pressure-vessel": pressure_vessel,
    "welded-beam": welded_beam,
    "spring": spring,
    "speed-reducer": speed_reducer,
}
"""The problems that are the same whatever the seed."""


def problem_by_name(name: str, seed: int = 0) -> Benchmark:
    """The problem of that name; 'gp1', 'gp2', .. are drawn with `seed` in 1, 2, .. dimensions."""
    if name in PROBLEMS:
        return PROBLEMS[name]()
    if drawn := re.fullmatch("gp([1-9][0-9]*)", name):
        return gp_sample(int(drawn[1]), torch.Generator().manual_seed(seed))
    message = unknown_name("test problem", name, (*PROBLEMS, "gp1", "gp2"))
    raise ProblemError(f"{message} 'gp3', 'gp4', .. are functions drawn in so many dimensions.")
