"""Outcomes measured one at a time: what it is worth to choose which.

All curves count evaluations of single functions; a joint evaluation is two of them in two dimensions, three on the toy.
"""

import sys
from functools import partial

from experiments.command import main
from experiments.experiment import Contender, Experiment, decoupled
from experiments.random_task import RandomTask
from experiments.worlds import drawn, toys
from pesky.acquire import EP, rule_of

CONTENDERS = {
    "pesc decoupled": decoupled(rule_of("pesc")),
    "pesc-ep decoupled": decoupled(rule_of("pesc", options=EP)),
    "jesc decoupled": decoupled(rule_of("jesc")),
    "eic two-stage": decoupled(rule_of("eic-decoupled")),
    "random task": decoupled(RandomTask()),
    "pesc coupled": Contender(rule_of("pesc")),
    "pesc-ep coupled": Contender(rule_of("pesc", options=EP)),
}
DRAWN = Experiment("decoupled_2d", partial(drawn, 2), CONTENDERS, evaluations=80, statistic="median", is_single=True)
TOY = Experiment("decoupled_toy", toys, CONTENDERS, evaluations=90, statistic="mean", is_single=True)

if __name__ == "__main__":
    sys.exit(main([DRAWN, TOY]))
