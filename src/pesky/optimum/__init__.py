"""Where the solution may lie: functions drawn from the belief, and the constrained minimizer of each."""

from pesky.optimum.representatives import Representatives
from pesky.optimum.sample import Optima, sample_optima

__all__ = ["Optima", "Representatives", "sample_optima"]
