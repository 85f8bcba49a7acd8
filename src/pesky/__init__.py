"""Bayesian optimization under pesky constraints: which function to measure, and where."""

from typing import TYPE_CHECKING

from pesky.errors import DataError, PeskyError, ProblemError, StorageError
from pesky.on_use import attribute
from pesky.problem import Choice, Constraint, Integer, Outcome, Problem, Real, Resource, Task

if TYPE_CHECKING:
    from pesky.model.surrogate import GP, FixedHyperparameters
    from pesky.store import Evaluation
    from pesky.strategy import Strategy
    from pesky.study import Budget, Ending, Progress, Recommendation, Study

# Imported on first use: a command that only reads a study file, and a child process that only calls a user's function,
# should not wait seconds for torch.
_ON_USE = {
    "GP": "pesky.model.surrogate",
    "FixedHyperparameters": "pesky.model.surrogate",
    "Budget": "pesky.study",
    "Ending": "pesky.study",
    "Evaluation": "pesky.store",
    "Progress": "pesky.study",
    "Recommendation": "pesky.study",
    "Strategy": "pesky.strategy",
    "Study": "pesky.study",
}

__all__ = [
    "GP",
    "Budget",
    "Choice",
    "Constraint",
    "DataError",
    "Ending",
    "Evaluation",
    "FixedHyperparameters",
    "Integer",
    "Outcome",
    "PeskyError",
    "Problem",
    "ProblemError",
    "Progress",
    "Real",
    "Recommendation",
    "Resource",
    "StorageError",
    "Strategy",
    "Study",
    "Task",
]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> object:
    if name == "__version__":  # to read the metadata of a package takes longer than to import this module
        from importlib.metadata import version

        return version("pesky")
    if name not in _ON_USE:
        raise AttributeError(f"module 'pesky' has no attribute {name!r}")
    return attribute(_ON_USE[name], name)
