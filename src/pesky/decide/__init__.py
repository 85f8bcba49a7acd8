"""What to do next: which task, and where."""

from pesky.decide.choose import Analysis, Decision, analyze, choose, draw, update, worth_at_optima
from pesky.decide.menu import Menu, fixed_prices
from pesky.decide.worn import worn_out

__all__ = [
    "Analysis",
    "Decision",
    "Menu",
    "analyze",
    "choose",
    "draw",
    "fixed_prices",
    "update",
    "worn_out",
    "worth_at_optima",
]
