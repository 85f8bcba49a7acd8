"""What is believed of each row: the objective and every constraint."""

from pesky.model.belief import Belief, Paths
from pesky.model.gp import GaussianProcess
from pesky.model.hyper import Hyperparameters

__all__ = ["Belief", "GaussianProcess", "Hyperparameters", "Paths"]
