"""The welded beam of Coello Coello & Mezura Montes (2002), with its seven constraints.

    minimize 1.10471 h^2 l + 0.04811 t b (14 + l)
    over height and length of the weld, h in [0.1, 2] and l in [0.1, 10], height and width of the beam, t in
    [0.1, 10] and b in [0.1, 2]
    such that c1 = 1 - shear / 13600 >= 0
              c2 = 1 - bending / 30000 >= 0
              c3 = b - h >= 0
              c4 = 1 - (0.10471 h^2 + 0.04811 t b (14 + l)) / 5 >= 0
              c5 = h - 0.125 >= 0
              c6 = 1 - deflection / 0.25 >= 0
              c7 = buckling load / 6000 - 1 >= 0

    shear^2 = p^2 + p q l / R + q^2,  p = 6000 / (sqrt(2) h l),  q = 6000 (14 + l / 2) R / J,
    R^2 = l^2 / 4 + ((h + t) / 2)^2,  J = 2 sqrt(2) h l (l^2 / 12 + ((h + t) / 2)^2)
    bending = 6 * 6000 * 14 / (b t^2),  deflection = 4 * 6000 * 14^3 / (30e6 t^3 b)
    buckling load = 4.013 * 30e6 t b^3 / (6 * 14^2) (1 - t / (2 * 14) sqrt(30e6 / (4 * 12e6)))

The beam is the cheapest that bears a load of 6000 lb at its end, 14 in from the weld. Stresses, cost, deflection
and load are divided by their limits, which leaves the feasible set as it is. At the optimum c1, c2, c3 and c7 are
active: 1.724852 in the literature. (With l^2 / 4 in place of l^2 / 12 in J, as other authors have it, it is 1.6952,
and with their deflection and buckling load as well 1.6702.)
"""

from math import sqrt

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.units import benchmark_in_units

LOAD, REACH = 6000.0, 14.0  # lb, in
YOUNG, SHEAR_MODULUS = 30e6, 12e6  # psi

# Where c1 = c2 = c3 = c7 = 0, by Newton's method in 40 digits.
OPTIMUM = (0.20572963978607946, 3.4704886656280020, 9.0366239103576337, 0.20572963978607946)
OPTIMUM_VALUE = 1.7248523085973650
# Both terms grow with every parameter: the upper corner is the worst.
WORST_VALUE = 67.2812


def shear_stress(h: Float[Tensor, " n"], length: Float[Tensor, " n"], t: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
    """The largest shear stress in the weld, in psi."""
    square = ((h + t) / 2) ** 2
    radius = torch.sqrt(length**2 / 4 + square)
    polar = 2 * sqrt(2) * h * length * (length**2 / 12 + square)
    primary = LOAD / (sqrt(2) * h * length)
    secondary = LOAD * (REACH + length / 2) * radius / polar
    return torch.sqrt(primary**2 + primary * secondary * length / radius + secondary**2)


def welded_beam_rows(X: Float[Tensor, "n 4"]) -> Float[Tensor, "n 8"]:
    """The rows (f, c1, .., c7) at points (h, l, t, b)."""
    h, length, t, b = X.unbind(-1)
    bar = 0.04811 * t * b * (14 + length)
    bending = 6 * LOAD * REACH / (b * t**2)
    deflection = 4 * LOAD * REACH**3 / (YOUNG * t**3 * b)
    slenderness = 1 - t / (2 * REACH) * sqrt(YOUNG / (4 * SHEAR_MODULUS))
    buckling = 4.013 * YOUNG * t * b**3 / (6 * REACH**2) * slenderness
    rows = [
        1.10471 * h**2 * length + bar,
        1 - shear_stress(h, length, t) / 13600,
        1 - bending / 30000,
        b - h,
        1 - (0.10471 * h**2 + bar) / 5,
        h - 0.125,
        1 - deflection / 0.25,
        buckling / LOAD - 1,
    ]
    return torch.stack(rows, dim=-1)


def welded_beam(noise: float = 0.0, confidence: float = 1 - 0.05 / 7) -> Benchmark:
    """The welded beam; `noise` is the standard deviation of every outcome."""
    return benchmark_in_units(
        parameters={
            "weld_height": Real(0.1, 2.0),
            "weld_length": Real(0.1, 10.0),
            "beam_height": Real(0.1, 10.0),
            "beam_width": Real(0.1, 2.0),
        },
        rows=welded_beam_rows,
        optimum=OPTIMUM,
        optimum_value=OPTIMUM_VALUE,
        worst_value=WORST_VALUE,
        noise=noise,
        confidence=confidence,
    )
