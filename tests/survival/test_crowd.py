"""Many who ask and tell at once: nobody is refused, nothing is asked twice, and telling waits for nobody's deciding."""

import itertools
import json
import os
from pathlib import Path
from statistics import quantiles

import pytest
from survival.small import small

from pesky.store import Evaluation, State

ASKERS, EVALUATIONS, TOLD_BY_TELLER = 8, int(os.environ.get("PESKY_CROWD", "250")), 20


@pytest.mark.slow
def test_a_crowd_asks_and_tells(url: str, start, tmp_path: Path, show):
    """Eight processes ask and tell for 500 evaluations, while a ninth only reports, every 50 ms.

    The ninth measures how long reports wait. It sleeps for nearly all of its life, so that a machine with fewer cores
    than processes still runs it soon. How soon it does so, and how fast the disk is, it measures at the same time with
    the same reports to a study that nobody else works on. What they take beyond that is the wait for others'
    transactions: one that had to wait for others' deciding would take as long as that, seconds on two cores.
    """
    quiet = f"sqlite:///{tmp_path / 'quiet.db'}" if url.startswith("sqlite") else url
    teller = start("teller", url, quiet, TOLD_BY_TELLER)
    askers = [start("asker", url, EVALUATIONS, f"asker {number}") for number in range(ASKERS)]
    for program in [teller, *askers]:
        program.await_ready()
    for program in [teller, *askers]:
        program.go()
    asked = [json.loads(asker.result()) for asker in askers]
    teller.say("enough")
    reports = json.loads(teller.result())
    assert [program.err.read_text() for program in [teller, *askers]] == [""] * (ASKERS + 1)

    evaluations = list(small(storage=url).evaluations.values())
    known = {int(id_): count for each in asked for id_, count in each["known"].items()}
    again = repeats(evaluations[TOLD_BY_TELLER:])
    decisions = sum(each["decisions"] for each in asked) / len(known)
    waits, undisturbed = zip(*reports, strict=True)
    asks = [seconds for each in asked for seconds in each["seconds"]]
    seen = {
        "evaluations": len(evaluations),
        "seconds in all": round(max(e.ended or 0 for e in evaluations) - evaluations[TOLD_BY_TELLER].asked, 1),
        "asked while open": len(again),
        "decisions per question": round(decisions, 2),
        "ask, median and longest": [round(quantiles(asks)[1], 3), round(max(asks), 3)],
        "reports": len(reports),
        "report, 99th percentile and longest": [round(quantiles(waits, n=100)[98], 4), round(max(waits), 4)],
        "the same where nobody asks": [round(quantiles(undisturbed, n=100)[98], 4), round(max(undisturbed), 4)],
    }
    show(seen)

    assert [e.id for e in evaluations] == list(range(EVALUATIONS))
    assert {e.state for e in evaluations} == {State.DONE}
    assert {e.attempts for e in evaluations} == {1}
    assert sorted(known) == list(range(TOLD_BY_TELLER, EVALUATIONS))
    assert [(one, two) for one, two in again if known[two] <= one] == []
    assert max(waits) < 1.0 + 2 * max(undisturbed)
    assert decisions < 2.5


def repeats(evaluations: list[Evaluation]) -> list[tuple[int, int]]:
    """Pairs that were open at the same time, by the clock of the storage, and ask the same.

    With such noise that can be worth it; not, however, if the second asker did not know of the first.
    """
    return [
        (one.id, two.id)
        for one, two in itertools.combinations(evaluations, 2)
        if one.params == two.params and max(one.asked, two.asked) < min(one.ended or 0.0, two.ended or 0.0)
    ]
