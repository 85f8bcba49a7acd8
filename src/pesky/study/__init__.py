"""Doing it and remembering it: ask, tell, recommend."""

from pesky.study.evaluation import Evaluation
from pesky.study.recommendation import Recommendation
from pesky.study.study import Study

__all__ = ["Evaluation", "Recommendation", "Study"]
