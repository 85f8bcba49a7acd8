"""What a measurement is, given the latent function of its row: one file for each likelihood."""

from pesky.likelihood.base import Likelihood
from pesky.likelihood.conditions import Conditions
from pesky.likelihood.rows import LIKELIHOODS, Likelihoods

__all__ = ["LIKELIHOODS", "Conditions", "Likelihood", "Likelihoods"]
