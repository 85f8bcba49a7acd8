"""Figure 2b: functions drawn from the prior in eight dimensions.

With the paper's lengthscale of 0.1 and 1000 points, what lies between the points is zero: no rule can learn anything
there. In "2b_smooth" the lengthscale is 0.5, at which the functions are as lively as those in two dimensions.
"""

from dataclasses import replace
from functools import partial

from experiments.command import main
from experiments.experiment import Contender, Experiment
from experiments.worlds import drawn
from pesky.acquire import PAPER, rule_of

CONTENDERS = {
    "pesc": Contender(rule_of("pesc")),
    "pesc-paper": Contender(rule_of("pesc", setting=PAPER)),
    "jesc": Contender(rule_of("jesc")),
    "cmes": Contender(rule_of("cmes")),
    "eic": Contender(rule_of("eic")),
    "rsdg": Contender(rule_of("rsdg")),
    "random": Contender(rule_of("random")),
}
EXPERIMENT = Experiment("2b", partial(drawn, 8), CONTENDERS, evaluations=50, statistic="median")
SMOOTH = replace(EXPERIMENT, figure="2b_smooth", worlds=partial(drawn, 8, lengthscale=0.5))

if __name__ == "__main__":
    main([EXPERIMENT, SMOOTH])
