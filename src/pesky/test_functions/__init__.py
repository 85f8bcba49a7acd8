"""Test problems with known constrained optima: classics of the literature and functions drawn from GP priors."""

from pesky.test_functions.ackley10 import ackley10
from pesky.test_functions.base import Benchmark, decouple
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
from pesky.test_functions.names import PROBLEMS, problem_by_name
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

__all__ = [
    "PROBLEMS",
    "Benchmark",
    "ackley10",
    "branin_disk",
    "branin_disk_noisy",
    "branin_yes_no",
    "cantilever",
    "car_side_impact",
    "concrete_beam",
    "crescent",
    "decouple",
    "g04",
    "g07",
    "g08",
    "g09",
    "g10",
    "g12",
    "g24",
    "gardner1",
    "gardner1_noisy",
    "gardner2",
    "gardner2_costs",
    "gomez_levy",
    "gp_sample",
    "hartmann6",
    "hartmann6_noisy",
    "keane_bump",
    "mishra_bird",
    "pressure_vessel",
    "pressure_vessel_plates",
    "problem_by_name",
    "process_synthesis",
    "simionescu",
    "speed_reducer",
    "spring",
    "spring_turns",
    "three_bar_truss",
    "townsend",
    "toy",
    "toy_yes_no",
    "welded_beam",
    "welded_beam_costs",
]
