"""The dashboard of a run, kept up to date in a terminal."""

import time
from types import TracebackType
from typing import TYPE_CHECKING

from pesky.cli.dashboard import DashboardState, dashboard
from pesky.text import colored

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from pesky.study import Progress

PAUSE = 2.0
"""Seconds between two recommendations."""
SHARE = 0.1
"""How much of the time recommendations may take: they are for the eye only."""


class LiveView:
    """Watches a run and shows where it stands, with what its measurements print above."""

    def __init__(self, console: "Console", storage: str):
        from rich.live import Live

        self._state = DashboardState(storage=storage)
        self._live = Live(console=console, get_renderable=self._render, refresh_per_second=4, transient=True)
        self._known: object = None
        self._next = 0.0

    def __enter__(self) -> "LiveView":
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def __call__(self, progress: "Progress") -> None:
        """Take in where the run stands."""
        self._state.take(progress)
        if progress.state != "asking" and time.monotonic() >= self._next:
            self._recommend(progress)

    def print(self, line: str) -> None:
        """Print a line above the view, in its colors; whatever else it asks of the terminal would tear the view."""
        from rich.text import Text

        self._live.console.print(Text.from_ansi(colored(line)), soft_wrap=True)

    def _recommend(self, progress: "Progress") -> None:
        known = (progress.done, progress.failed)
        if known == self._known or not self._state.has_grounds:
            return
        began = time.monotonic()
        try:
            self._state.best = progress.study.recommend()
        except Exception as error:  # a view must not end a run; the recommendation at its end will say what it is
            self._state.trouble = f"{type(error).__name__}: {error}"
        self._known = known
        ended = time.monotonic()
        self._next = ended + max(PAUSE, (ended - began) / SHARE)

    def _render(self) -> "RenderableType":
        return dashboard(self._state, time.time())
