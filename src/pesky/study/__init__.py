"""Doing it and remembering it: ask, tell, run, recommend."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pesky.study.budget import Budget, Ending, Exhausted
    from pesky.study.progress import Progress
    from pesky.study.recommendation import Recommendation
    from pesky.study.study import Study

# Imported on first use: a worker elsewhere, which only calls a user's function, need not wait for torch.
_ON_USE = {
    "Budget": "budget",
    "Ending": "budget",
    "Exhausted": "budget",
    "Progress": "progress",
    "Recommendation": "recommendation",
    "Study": "study",
}

__all__ = ["Budget", "Ending", "Exhausted", "Progress", "Recommendation", "Study"]


def __getattr__(name: str) -> object:
    if name not in _ON_USE:
        raise AttributeError(f"module 'pesky.study' has no attribute {name!r}")
    return getattr(import_module(f"pesky.study.{_ON_USE[name]}"), name)
