"""The pictures that somebody looks at, each drawn once for a state of its study, one at a time, in the background.

A picture is known by its name, or by that, a space and its options (see `options`): "progress", 'belief {"along":[0]}'.
There is no queue that could grow: what is drawn next is found among what was wanted in the last seconds. All wanted
pictures of a study are drawn of the same moment before it is looked at anew, since what is believed is the same for all
of them and takes longest.
"""

import json
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from pesky.errors import PeskyError
from pesky.page.background import Background

NAMES = ("answer", "timeline", "parallel", "belief", "progress", "importance", "why", "limits", "calibration")
"""What can be wanted, in the order in which it is drawn, what takes longest last: those of `pesky.show.PICTURES`."""
WANTED = 10.0
"""Seconds after which nobody looks any more who has not said so again."""
STUDIES, PICTURES = 20, 24
"""Studies whose pictures are kept, and pictures of each: those that were wanted last."""
LONGEST = 1000
"""Characters of a name with its options."""
AFTER_AN_ERROR = 30.0
"""Seconds after which a picture that could not be drawn is tried again; any other rests for as long as it took."""


def order(name: str) -> int | None:
    """When a picture is drawn among others; None if there is no such picture, whatever its options."""
    kind = name.partition(" ")[0]
    return NAMES.index(kind) if kind in NAMES and len(name) <= LONGEST else None


@dataclass(frozen=True)
class Drawing:
    """A picture, or why there is none."""

    state: str
    """That of the study that it is of; empty where it could not be drawn."""
    count: int
    """Evaluations that had ended."""
    content: bytes
    """As JSON."""
    ended: float
    seconds: float


@dataclass
class Watched:
    """A study whose pictures are wanted."""

    state: str = ""
    """As whoever looks at it sees it."""
    moment: str = ""
    """The state of which pictures are being drawn; empty while none is."""
    wanted: dict[str, float] = field(default_factory=dict)
    """When each picture was last wanted, the latest last."""
    drawings: dict[str, Drawing] = field(default_factory=dict)

    def want(self, names: Iterable[str], now: float) -> None:
        """Remember that these are looked at, and forget those that were looked at longest ago."""
        for name in names:
            if order(name) is not None:
                self.wanted.pop(name, None)
                self.wanted[name] = now
        while len(self.wanted) > PICTURES:
            del self.wanted[oldest := next(iter(self.wanted))]
            self.drawings.pop(oldest, None)

    def due(self, now: float) -> list[str]:
        """What somebody looks at and was not drawn a moment ago, in the order in which it is drawn."""
        return sorted((name for name in self.wanted if self.is_due(name, now)), key=lambda name: (order(name), name))

    def state_of(self, name: str) -> str | None:
        """That of the picture as it was drawn last."""
        return None if (drawing := self.drawings.get(name)) is None else drawing.state

    def is_due(self, name: str, now: float) -> bool:
        """Whether somebody looks at the picture, and it was not drawn a moment ago."""
        if now - self.wanted.get(name, -WANTED) >= WANTED:
            return False
        return (last := self.drawings.get(name)) is None or now - last.ended >= last.seconds


class Drawings:
    """Those of all studies of a page."""

    def __init__(self, background: Background) -> None:
        self._background = background
        self._studies: dict[str, Watched] = {}
        self._changed = threading.Condition()
        self._drawing: tuple[str, str] | None = None
        self._is_ended = False
        self._thread = threading.Thread(target=self._draw_all, daemon=True)

    def start(self) -> None:
        """Draw from now on what is wanted."""
        self._background.start()
        self._thread.start()

    def end(self) -> None:
        """Draw nothing more."""
        with self._changed:
            self._is_ended = True
            self._changed.notify()
        self._background.end()

    def want(self, study: str, state: str, names: Iterable[str]) -> dict[str, dict[str, object]]:
        """What there is of the study's pictures, of which these are looked at; the state is as it is now."""
        with self._changed:
            found = self._studies.pop(study, None) or Watched()
            self._studies[study] = found
            while len(self._studies) > STUDIES:
                del self._studies[next(iter(self._studies))]
            found.state = state
            found.want(names, time.monotonic())
            self._changed.notify()
            said = {
                name: {"state": each.state, "count": each.count, "is_current": each.state == state}
                for name, each in found.drawings.items()
            }
            if self._drawing is not None and self._drawing[0] == study:
                said.setdefault(self._drawing[1], {})["is_drawn"] = True
            return said

    def get(self, study: str, name: str) -> Drawing | None:
        """The picture as it was last drawn."""
        with self._changed:
            found = self._studies.get(study)
            return None if found is None else found.drawings.get(name)

    def _next(self, now: float) -> tuple[str, str, bool] | None:
        """The study and picture to draw, and whether to look at the study anew; None if there is nothing to do."""
        for identity, study in reversed(self._studies.items()):
            due = study.due(now)
            missing = [name for name in due if study.state_of(name) not in (study.moment, study.state)]
            if missing:
                return identity, missing[0], not study.moment
            outdated = [name for name in due if study.state_of(name) != study.state]
            if outdated:
                return identity, outdated[0], True
        return None

    def _draw_all(self) -> None:
        while True:
            with self._changed:
                while (found := self._next(time.monotonic())) is None and not self._is_ended:
                    self._changed.wait(0.5)
                if found is None or self._is_ended:
                    return
                identity, name, is_anew = found
                self._drawing = (identity, name)
            self._keep(identity, name, self._drawn(identity, name, is_anew))

    def _keep(self, identity: str, name: str, drawing: Drawing) -> None:
        with self._changed:
            self._drawing = None
            if (study := self._studies.get(identity)) is not None:
                study.moment = drawing.state
                if name in study.wanted:
                    study.drawings[name] = drawing

    def _drawn(self, identity: str, name: str, is_anew: bool) -> Drawing:
        began = time.monotonic()
        try:
            answer = self._background.call("draw", study=identity, name=name, renew=is_anew)
        except PeskyError as error:
            content = json.dumps({"error": str(error)})
            return Drawing("", 0, content.encode(), time.monotonic(), AFTER_AN_ERROR)
        ended = time.monotonic()
        return Drawing(answer["state"], answer["count"], answer["content"].encode(), ended, ended - began)
