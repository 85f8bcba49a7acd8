"""What to do next: which task and where, and what to recommend."""

from pesky.decide.choose import Analysis, Decision, analyze, choose, draw, gains_at_optima, update
from pesky.decide.menu import Menu, fixed_prices
from pesky.decide.recommend import Advice, recommend

__all__ = [
    "Advice",
    "Analysis",
    "Decision",
    "Menu",
    "analyze",
    "choose",
    "draw",
    "fixed_prices",
    "gains_at_optima",
    "recommend",
    "update",
]
