"""Hyperparameters that nobody knows: by maximum, by samples as long as data are few, by samples always, or by slices.

Outcomes are measured together or one at a time. The functions are those of `experiments.decoupled` in two dimensions;
the kernel is the default, which is not theirs, and only their noise is told. All curves count evaluations of single
functions; a joint evaluation is two of them.
"""

import sys
from functools import partial

from experiments.command import main
from experiments.experiment import Contender, Experiment, decoupled
from experiments.worlds import drawn
from pesky.acquire import rule_of
from pesky.model.surrogate import GP

FEW, SAMPLES, SLICE = GP(few=10), GP(few=1000), GP(hyperparameters="slice")
DRAWN = Experiment(
    figure="fitted_2d",
    worlds=partial(drawn, 2, model=GP()),
    contenders={
        "pesc coupled": Contender(rule_of("pesc")),
        "pesc decoupled": decoupled(rule_of("pesc")),
        "pesc coupled, few": Contender(rule_of("pesc"), model=FEW),
        "pesc decoupled, few": decoupled(rule_of("pesc"), FEW),
        "pesc coupled, samples": Contender(rule_of("pesc"), model=SAMPLES),
        "pesc decoupled, samples": decoupled(rule_of("pesc"), SAMPLES),
        "pesc coupled, slice": Contender(rule_of("pesc"), model=SLICE),
        "pesc decoupled, slice": decoupled(rule_of("pesc"), SLICE),
    },
    evaluations=80,
    statistic="median",
    is_single=True,
)

if __name__ == "__main__":
    sys.exit(main([DRAWN]))
