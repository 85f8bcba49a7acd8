"""What is asked: parameters, the objective, constraints, tasks with costs, and resources."""

from pesky.problem.constraint import Constraint
from pesky.problem.outcome import Outcome
from pesky.problem.parameters import Choice, Integer, Option, Parameter, Real
from pesky.problem.problem import Problem
from pesky.problem.task import Resource, Task

__all__ = ["Choice", "Constraint", "Integer", "Option", "Outcome", "Parameter", "Problem", "Real", "Resource", "Task"]
