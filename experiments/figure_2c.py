"""Figure 2c: the toy problem, noise-free, hyperparameters fitted; what differs are the first three points.

"pesc-fine" is "pesc-ep" without its coarse looks, which without noise it needs: see `coarse`.
"""

import sys
from dataclasses import replace

from benchmarks.known_objective import with_known_objective
from experiments.command import main
from experiments.experiment import Contender, Experiment
from experiments.worlds import toys
from pesky.acquire import EntropySearchByEP, rule_of
from pesky.problem import Problem
from pesky.test_functions import toy

PAPERS_SAMPLES = 10


def knowing_the_objective(_: Problem) -> Problem:
    """The problem as in Gramacy et al. (2016): only the constraints are measured."""
    return with_known_objective(toy())


EXPERIMENT = Experiment(
    figure="2c",
    worlds=toys,
    contenders={
        "pesc": Contender(rule_of("pesc")),
        "pesc-ep": Contender(EntropySearchByEP()),
        "pesc-fine": Contender(EntropySearchByEP(coarse=None)),
        "pesc-paper": Contender(replace(EntropySearchByEP.paper(), samples=PAPERS_SAMPLES)),
        "jesc": Contender(rule_of("jesc")),
        "cmes": Contender(rule_of("cmes")),
        "eic": Contender(rule_of("eic")),
        "al": Contender(rule_of("al")),
        "al-known": Contender(rule_of("al"), knowing_the_objective),
    },
    evaluations=50,
    statistic="mean",
)

if __name__ == "__main__":
    sys.exit(main([EXPERIMENT]))
