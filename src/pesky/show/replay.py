"""A study as it was: what was known, and what was believed, after the first evaluations, after some more, and now."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from pesky.errors import DataError
from pesky.inference.inferred import Inferred
from pesky.store import Evaluation, State
from pesky.study import Study

MOMENTS = 12
"""At how many moments a study is looked at: what is believed is computed anew for each, which takes about a second."""


@dataclass(frozen=True)
class Moment:
    """What was known after some evaluations, and what is believed given that."""

    known: dict[int, Evaluation]
    inferred: Inferred


def ended(evaluations: Iterable[Evaluation]) -> list[Evaluation]:
    """Those that told something or failed, in the order in which they ended; as they were corrected since."""
    told = (e for e in evaluations if e.outcomes or e.state in (State.DONE, State.FAILED))
    return sorted(told, key=lambda e: (e.asked if e.ended is None else e.ended, e.id))


def replay(study: Study, every: Sequence[Evaluation], now: Inferred, most: int = MOMENTS) -> list[Moment]:
    """Moments of the study, closer to each other at its beginning, where more changes; the last one is now.

    None of them is before an answer could rest on anything.
    """
    found = []
    for count in sorted({round(1 + (len(every) - 1) * each**2) for each in np.linspace(0, 1, most)} - {len(every)}):
        known = {e.id: e for e in every[:count]}
        with suppress(DataError):
            found.append(Moment(known, study.inferred(known)))
    return [*found, Moment({e.id: e for e in every}, now)]
