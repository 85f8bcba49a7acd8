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
from pesky.acquire import EntropySearchByEP, PredictiveEntropySearch

EP, PAPER = EntropySearchByEP(), EntropySearchByEP.paper()

VARIED = {
    "10 samples": replace(EP, samples=10),
    "20 samples": replace(EP, samples=20),
    "200 samples": replace(EP, samples=200, draws=2048),
    "150 draws": replace(EP, draws=150),
    "2048 draws": replace(EP, draws=2048),
    "no neighbors": replace(EP, local_reach=None),
}
"""Expectation propagation with one thing changed; 200 samples need more draws to be chosen from."""


FINE = replace(EP, fine_from=0)
EIGHT = Experiment(
    figure="settings_8d",
    worlds=figure_2b.SMOOTH.worlds,
    contenders={
        "pesc": Contender(PredictiveEntropySearch()),
        "pesc-ep": Contender(EP),
        "pesc-paper": Contender(PAPER),
        "fine from the start": Contender(FINE),
        "no neighbors": Contender(replace(FINE, local_reach=None)),
        "neighbors at 0.35": Contender(replace(FINE, local_reach=0.35)),
        "M = 100": Contender(replace(FINE, samples=100)),
        "M = 200": Contender(replace(FINE, samples=200)),
    },
    evaluations=50,
    statistic="median",
)
NOISE_FREE = Experiment(
    figure="settings_toy",
    worlds=toys,
    contenders={
        "pesc": Contender(PredictiveEntropySearch()),
        "pesc-ep": Contender(EP),
        "never coarse": Contender(replace(EP, coarse=None)),
        "coarse every third": Contender(replace(EP, coarse_every=3)),
    },
    evaluations=50,
    statistic="mean",
)

if __name__ == "__main__":
    sys.exit(main([EIGHT, NOISE_FREE]))
