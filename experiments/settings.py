"""What makes PESC better: samples of x*, draws, neighbors and coarse looks, one changed at a time."""

import sys
from dataclasses import replace
from functools import partial

from experiments.command import main
from experiments.experiment import Contender, Experiment
from experiments.worlds import drawn, toys
from pesky.acquire import DEFAULT, Setting, rule_of

VARIED = {
    "10 samples": replace(DEFAULT, samples=10),
    "20 samples": replace(DEFAULT, samples=20),
    "200 samples": replace(DEFAULT, samples=200, draws=2048),
    "150 draws": replace(DEFAULT, draws=150),
    "2048 draws": replace(DEFAULT, draws=2048),
    "no neighbors": replace(DEFAULT, local_reach=None),
}
"""The default setting with one thing changed; 200 samples need more draws to be chosen from."""


def pesc(setting: Setting) -> Contender:
    """PESC with this setting."""
    return Contender(rule_of("pesc", setting=setting))


NOISY = Experiment(
    figure="settings_2d",
    worlds=partial(drawn, 2),
    contenders={"pesc": pesc(DEFAULT)} | {label: pesc(setting) for label, setting in VARIED.items()},
    evaluations=50,
    statistic="median",
)
NOISE_FREE = Experiment(
    figure="settings_toy",
    worlds=toys,
    contenders={
        "pesc": pesc(DEFAULT),
        "never coarse": pesc(replace(DEFAULT, coarse=None)),
        "coarse every third": pesc(replace(DEFAULT, coarse_every=3)),
        "coarse every fifth": pesc(replace(DEFAULT, coarse_every=5)),
        "coarse at 1e-5": pesc(replace(DEFAULT, coarse=1e-5)),
        "10 samples": pesc(replace(DEFAULT, samples=10)),
    },
    evaluations=50,
    statistic="mean",
)

if __name__ == "__main__":
    sys.exit(main([NOISY, NOISE_FREE]))
