"""What to do next: which task, and where."""

from pesky.decide.exclusion import Duplicates, ExcludedRegions, Restrictions, excluded_regions
from pesky.decide.select import BY_RULE, CHECK_ANSWER, Decision, select
from pesky.decide.task_values import TaskOptions, TaskValues, fixed_prices
from pesky.decide.thompson import select_optimum, values_at_optima

__all__ = [
    "BY_RULE",
    "CHECK_ANSWER",
    "Decision",
    "Duplicates",
    "ExcludedRegions",
    "Restrictions",
    "TaskOptions",
    "TaskValues",
    "excluded_regions",
    "fixed_prices",
    "select",
    "select_optimum",
    "values_at_optima",
]
