"""Where the solution may lie: draws of its location, and the point to recommend."""

from pesky.optimum.recommend import Advice, recommend
from pesky.optimum.representatives import Representatives
from pesky.optimum.sample import Optima, Solutions, sample_optima, sample_solutions

__all__ = ["Advice", "Optima", "Representatives", "Solutions", "recommend", "sample_optima", "sample_solutions"]
