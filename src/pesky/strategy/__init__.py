"""What to ask next: a strategy, whose steps are asked in order."""

from pesky.strategy.acquire import Acquire
from pesky.strategy.check import CheckModel
from pesky.strategy.confirm import Confirm
from pesky.strategy.feasible import SeekFeasible
from pesky.strategy.initial import Initial
from pesky.strategy.options import CoverOptions
from pesky.strategy.query import Query, Reason
from pesky.strategy.situation import Situation
from pesky.strategy.step import Step
from pesky.strategy.strategy import Strategy

__all__ = [
    "Acquire",
    "CheckModel",
    "Confirm",
    "CoverOptions",
    "Initial",
    "Query",
    "Reason",
    "SeekFeasible",
    "Situation",
    "Step",
    "Strategy",
]
