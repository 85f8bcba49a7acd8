"""A crate dropped on a stiff floor, integrated step by step: a simulator that really crashes, by overflow.

The floor is a spring that hardens, with damping. The stiffer it is, the less the crate sinks in, as it should with a
real floor; and the longer the steps, the less there is to compute. But explicit Euler steps that are too long for the
stiffness put energy in instead of taking it out: the crate is thrown higher and higher until its position overflows.
"""

from math import sqrt

SECONDS = 2.0
"""Simulated time."""
SPEED, WEIGHT = 1.0, 9.81
"""Of the crate as it meets the floor, m/s, and on it, N: its mass is 1 kg."""


def simulate(params: dict[str, float]) -> dict[str, float]:
    """What is wrong with the simulation: millimeters that the crate sinks in, plus a price for every step computed.

    An OverflowError, Python's own, if the steps are too long.
    """
    stiffness, step = params["stiffness"], params["step"]
    damping = 1.4 * sqrt(stiffness)
    position, speed, total = 0.0, -SPEED, 0.0
    steps = round(SECONDS / step)
    for _ in range(steps):
        force = -stiffness * (position + 100 * position**3) - damping * speed - WEIGHT
        position, speed = position + step * speed, speed + step * force
        total += position
    return {"badness": -1000 * total / steps + 0.005 * steps}
