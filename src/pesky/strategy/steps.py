"""The steps by name."""

from pesky.strategy.acquire import Acquire
from pesky.strategy.check import CheckModel
from pesky.strategy.confirm import Confirm
from pesky.strategy.feasible import SeekFeasible
from pesky.strategy.initial import Initial
from pesky.strategy.options import CoverOptions
from pesky.strategy.step import KINDS, Step

__all__ = ["KINDS", "STEPS"]

_ALL: tuple[type[Step], ...] = (Initial, CoverOptions, Confirm, SeekFeasible, CheckModel, Acquire)
STEPS: dict[str, type[Step]] = {step.__name__: step for step in _ALL}
