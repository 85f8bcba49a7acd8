"""Figure 2a: functions drawn from the prior in two dimensions."""

import sys
from functools import partial

from experiments.command import main
from experiments.experiment import Contender, Experiment
from experiments.worlds import drawn
from pesky.acquire import EntropySearchByEP, rule_of

EXPERIMENT = Experiment(
    figure="2a",
    worlds=partial(drawn, 2),
    contenders={
        "pesc": Contender(rule_of("pesc")),
        "pesc-ep": Contender(EntropySearchByEP()),
        "pesc-paper": Contender(EntropySearchByEP.paper()),
        "jesc": Contender(rule_of("jesc")),
        "cmes": Contender(rule_of("cmes")),
        "eic": Contender(rule_of("eic")),
        "rsdg": Contender(rule_of("rsdg")),
        "random": Contender(rule_of("random")),
    },
    evaluations=50,
    statistic="median",
)

if __name__ == "__main__":
    sys.exit(main([EXPERIMENT]))
