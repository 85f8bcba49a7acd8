"""Where the solution may lie: functions drawn from the belief, and the constrained minimizer of each."""

from pesky.optimum.minimize import Minimizers, minimizers
from pesky.optimum.representatives import Representatives, first_draws, representatives
from pesky.optimum.sample import Optima, sample_optima

__all__ = [
    "Minimizers",
    "Optima",
    "Representatives",
    "first_draws",
    "minimizers",
    "representatives",
    "sample_optima",
]
