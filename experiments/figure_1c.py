"""Figure 1c: functions drawn from the prior in one dimension, where rejection sampling says what is true."""

import sys
from functools import partial

from experiments.command import main
from experiments.experiment import Contender, Experiment
from experiments.worlds import drawn
from pesky.acquire import EntropySearchByEP, rule_of

EXPERIMENT = Experiment(
    figure="1c",
    worlds=partial(drawn, 1),
    contenders={
        "pesc": Contender(rule_of("pesc")),
        "pesc-ep": Contender(EntropySearchByEP()),
        "pesc-paper": Contender(EntropySearchByEP.paper()),
        "rs": Contender(rule_of("rs")),
        "rsdg": Contender(rule_of("rsdg")),
    },
    evaluations=30,
    statistic="median",
)

if __name__ == "__main__":
    sys.exit(main([EXPERIMENT]))
