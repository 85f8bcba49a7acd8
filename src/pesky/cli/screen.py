"""The console of the commands, whose texts may be anybody's."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from pesky.text import visible


class Screen(Console):
    """A console whose own orders reach the terminal, and none that are in a text."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of what is printed; all but the console's own orders are made harmless."""
        for each in super().render(renderable, options):
            yield each if each.control else Segment(visible(each.text), _without_link(each.style))


def _without_link(style: Any) -> Any:
    return style if style is None or style.link is None else style.update_link(None)
