"""Doing it and remembering it: ask, tell, run, recommend."""

from typing import TYPE_CHECKING

from pesky.on_use import attribute

if TYPE_CHECKING:
    from pesky.answer.prediction import OutcomePrediction, Prediction
    from pesky.answer.recommendation import Recommendation
    from pesky.answer.what_if import Tradeoff
    from pesky.data.outliers import Outlier
    from pesky.run.budget import Budget, Ending, Exhausted
    from pesky.run.progress import Progress
    from pesky.strategy.explain import Explanation
    from pesky.study.study import Study

# Imported on first use: a worker elsewhere, which only calls a user's function, need not wait for torch.
_ON_USE = {
    "Budget": "run.budget",
    "Ending": "run.budget",
    "Exhausted": "run.budget",
    "Explanation": "strategy.explain",
    "OutcomePrediction": "answer.prediction",
    "Outlier": "data.outliers",
    "Prediction": "answer.prediction",
    "Progress": "run.progress",
    "Recommendation": "answer.recommendation",
    "Study": "study.study",
    "Tradeoff": "answer.what_if",
}

__all__ = [
    "Budget",
    "Ending",
    "Exhausted",
    "Explanation",
    "OutcomePrediction",
    "Outlier",
    "Prediction",
    "Progress",
    "Recommendation",
    "Study",
    "Tradeoff",
]


def __getattr__(name: str) -> object:
    if name not in _ON_USE:
        raise AttributeError(f"module 'pesky.study' has no attribute {name!r}")
    return attribute(f"pesky.{_ON_USE[name]}", name)
