"""Figure 2b: functions drawn from the prior in eight dimensions.

With the paper's lengthscale of 0.1 and 1000 points, what lies between the points is zero: no rule can learn anything
there. In "2b_smooth" the lengthscale is 0.5, at which the functions are as lively as those in two dimensions.
"""

import sys
from dataclasses import replace
from functools import partial

from experiments import figure_2a
from experiments.command import main
from experiments.worlds import drawn

EXPERIMENT = replace(figure_2a.EXPERIMENT, figure="2b", worlds=partial(drawn, 8))
SMOOTH = replace(EXPERIMENT, figure="2b_smooth", worlds=partial(drawn, 8, lengthscale=0.5))

if __name__ == "__main__":
    sys.exit(main([EXPERIMENT, SMOOTH]))
