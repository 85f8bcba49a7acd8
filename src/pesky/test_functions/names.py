"""Every test problem under a name, as the benchmarks and their tables call it."""

import re
from collections.abc import Callable

import torch

from pesky.errors import ProblemError, unknown_name
from pesky.test_functions.ackley10 import ackley10
from pesky.test_functions.base import Benchmark
from pesky.test_functions.branin_disk import branin_disk
from pesky.test_functions.cantilever import cantilever
from pesky.test_functions.car_side_impact import car_side_impact
from pesky.test_functions.concrete_beam import concrete_beam
from pesky.test_functions.costs import gardner2_costs, welded_beam_costs
from pesky.test_functions.crescent import crescent
from pesky.test_functions.g04 import g04
from pesky.test_functions.g07 import g07
from pesky.test_functions.g08 import g08
from pesky.test_functions.g09 import g09
from pesky.test_functions.g10 import g10
from pesky.test_functions.g12 import g12
from pesky.test_functions.g24 import g24
from pesky.test_functions.gardner1 import gardner1
from pesky.test_functions.gardner2 import gardner2
from pesky.test_functions.gomez_levy import gomez_levy
from pesky.test_functions.gp_samples import gp_sample
from pesky.test_functions.hartmann6 import hartmann6
from pesky.test_functions.keane_bump import keane_bump
from pesky.test_functions.mishra_bird import mishra_bird
from pesky.test_functions.noisy import branin_disk_noisy, gardner1_noisy, hartmann6_noisy
from pesky.test_functions.pressure_vessel import pressure_vessel
from pesky.test_functions.pressure_vessel_plates import pressure_vessel_plates
from pesky.test_functions.process_synthesis import process_synthesis
from pesky.test_functions.simionescu import simionescu
from pesky.test_functions.speed_reducer import speed_reducer
from pesky.test_functions.spring import spring
from pesky.test_functions.spring_turns import spring_turns
from pesky.test_functions.three_bar_truss import three_bar_truss
from pesky.test_functions.townsend import townsend
from pesky.test_functions.toy import toy
from pesky.test_functions.welded_beam import welded_beam
from pesky.test_functions.yes_no import branin_yes_no, toy_yes_no

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
    "g04": g04,
    "g07": g07,
    "g08": g08,
    "g09": g09,
    "g10": g10,
    "g12": g12,
    "g24": g24,
    "keane-bump": keane_bump,
    "mishra-bird": mishra_bird,
    "townsend": townsend,
    "simionescu": simionescu,
    "gomez-levy": gomez_levy,
    "ackley10": ackley10,
    "three-bar-truss": three_bar_truss,
    "cantilever": cantilever,
    "car-side-impact": car_side_impact,
    "pressure-vessel-plates": pressure_vessel_plates,
    "spring-turns": spring_turns,
    "concrete-beam": concrete_beam,
    "process-synthesis": process_synthesis,
    "toy-yes-no": toy_yes_no,
    "branin-yes-no": branin_yes_no,
    "gardner1-noisy": gardner1_noisy,
    "branin-disk-noisy": branin_disk_noisy,
    "hartmann6-noisy": hartmann6_noisy,
    "gardner2-costs": gardner2_costs,
    "welded-beam-costs": welded_beam_costs,
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
