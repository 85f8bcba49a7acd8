"""Test problems with known constrained optima: the paper's toy problem and functions drawn from GP priors."""

from pesky.problems.base import Benchmark, decouple
from pesky.problems.gp_samples import gp_sample
from pesky.problems.toy import toy

__all__ = ["Benchmark", "decouple", "gp_sample", "toy"]
