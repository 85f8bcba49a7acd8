"""Bayesian optimization under pesky constraints: which function to measure, and where."""

from pesky.errors import DataError, PeskyError, ProblemError
from pesky.model.beliefs import GP, Known
from pesky.problem import Choice, Constraint, Integer, Problem, Real, Task
from pesky.study import Evaluation, Recommendation, Study

__all__ = [
    "GP",
    "Choice",
    "Constraint",
    "DataError",
    "Evaluation",
    "Integer",
    "Known",
    "PeskyError",
    "Problem",
    "ProblemError",
    "Real",
    "Recommendation",
    "Study",
    "Task",
]
