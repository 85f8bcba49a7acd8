"""What to do next: which task, and where."""

from pesky.decide.duplicates import Duplicates
from pesky.decide.exclusion import excluded_regions
from pesky.decide.select import Analysis, Choices, Decision, analyze, choose, choose_each, update
from pesky.decide.tasks import TaskOptions, fixed_prices
from pesky.decide.thompson import draw, worth_at_optima

__all__ = [
    "Analysis",
    "Choices",
    "Decision",
    "Duplicates",
    "TaskOptions",
    "analyze",
    "choose",
    "choose_each",
    "draw",
    "excluded_regions",
    "fixed_prices",
    "update",
    "worth_at_optima",
]
