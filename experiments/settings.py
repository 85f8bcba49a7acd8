"""What makes PESC better: samples of x*, draws, neighbors and coarse looks, one changed at a time.

All but the first are by expectation propagation; in eight dimensions all but the first three are fine from the first
question on.
"""

import sys
from dataclasses import replace

from experiments import figure_2b
from experiments.command import main
from experiments.experiment import Contender, Experiment
from experiments.worlds import toys
from pesky.acquire import DEFAULT, EP, PAPER, PescOptions, rule_of

VARIED = {
    "10 samples": replace(EP, samples=10),
    "20 samples": replace(EP, samples=20),
    "200 samples": replace(EP, samples=200, draws=2048),
    "150 draws": replace(EP, draws=150),
    "2048 draws": replace(EP, draws=2048),
    "no neighbors": replace(EP, local_reach=None),
}
"""Expectation propagation with one thing changed; 200 samples need more draws to be chosen from."""


def pesc(options: PescOptions) -> Contender:
    """PESC with these options."""
    return Contender(rule_of("pesc", options=options))


FINE = replace(EP, fine_from=0)
EIGHT = Experiment(
    figure="settings_8d",
    worlds=figure_2b.SMOOTH.worlds,
    contenders={
        "pesc": pesc(DEFAULT),
        "pesc-ep": pesc(EP),
        "pesc-paper": pesc(PAPER),
        "fine from the start": pesc(FINE),
        "no neighbors": pesc(replace(FINE, local_reach=None)),
        "neighbors at 0.35": pesc(replace(FINE, local_reach=0.35)),
        "M = 100": pesc(replace(FINE, samples=100)),
        "M = 200": pesc(replace(FINE, samples=200)),
    },
    evaluations=50,
    statistic="median",
)
NOISE_FREE = Experiment(
    figure="settings_toy",
    worlds=toys,
    contenders={
        "pesc": pesc(DEFAULT),
        "pesc-ep": pesc(EP),
        "never coarse": pesc(replace(EP, coarse=None)),
        "coarse every third": pesc(replace(EP, coarse_every=3)),
    },
    evaluations=50,
    statistic="mean",
)

if __name__ == "__main__":
    sys.exit(main([EIGHT, NOISE_FREE]))
