"""Names and values as texts of a picture: short, on one line, and never taken for markup."""

import html

from pesky.problem import Option
from pesky.store.evaluation import short
from pesky.text import one_line

NAME = 28
"""Characters of a name that there is room for."""


def label(text: object, most: int = NAME) -> str:
    """The text, shortened; whatever plotly or a browser would take for markup is shown as it is written."""
    said = one_line(str(text), max(4 * most, 200))
    return html.escape(said if len(said) <= most else f"{said[: most - 1]}…")


def value(given: Option | None, most: int = NAME) -> str:
    """A parameter's or an outcome's value."""
    return "" if given is None else label(short(given), most)


def listed(names: list[str], most: int = 4) -> str:
    """Names, of many the first ones."""
    shown = [label(name) for name in names[:most]]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")


def percent(share: float) -> str:
    """A share, never rounded to all or nothing where it is neither."""
    if 0 < share < 0.005:
        return "<1 %".replace("<", "&lt;")
    return ">99 %".replace(">", "&gt;") if 0.995 < share < 1 else f"{share:.0%}".replace("%", " %")
