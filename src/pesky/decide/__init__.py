"""What to do next: which task, and where."""

from pesky.decide.choose import Analysis, Choices, Decision, analyze, choose, choose_each, update
from pesky.decide.draw import draw, worth_at_optima
from pesky.decide.menu import Menu, fixed_prices
from pesky.decide.settled import Settled
from pesky.decide.worn import worn_out

__all__ = [
    "Analysis",
    "Choices",
    "Decision",
    "Menu",
    "Settled",
    "analyze",
    "choose",
    "choose_each",
    "draw",
    "fixed_prices",
    "update",
    "worn_out",
    "worth_at_optima",
]
