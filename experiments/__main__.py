"""`python -m experiments`: all figures that compare rules."""

import sys

from experiments import decoupled, figure_1c, figure_2a, figure_2b, figure_2c, fitted, settings
from experiments.command import main

ALL = [figure_1c.EXPERIMENT, figure_2a.EXPERIMENT, figure_2b.EXPERIMENT, figure_2b.SMOOTH, figure_2c.EXPERIMENT]
ALL += [decoupled.DRAWN, decoupled.TOY, fitted.DRAWN, settings.EIGHT, settings.NOISE_FREE]

if __name__ == "__main__":
    sys.exit(main(ALL))
