"""Many who ask and tell at once: nobody is refused, nothing is asked twice, and telling waits for nobody's deciding."""

import itertools
import json
from statistics import quantiles

import pytest
from survival.small import small

from pesky.store import Evaluation, State

ASKERS, EVALUATIONS, TOLD_BY_TELLER = 8, 500, 40


@pytest.mark.slow
def test_a_crowd_asks_and_tells(url: str, start, record_property):
    """Eight processes ask and tell for 500 evaluations, while a ninth only reports.

    The ninth measures how long reports wait. It sleeps for nearly all of its life, so that a machine with fewer cores
    than processes still runs it soon; for how long the machine did not is known exactly from the kernel, and is not
    counted. What is left is the work of a report, the storage's, and the wait for others' transactions, also where the
    machine does not run those: a report that had to wait for others' deciding would take as long as that.
    """
    teller = start("teller", url, TOLD_BY_TELLER)
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
    assert [e.id for e in evaluations] == list(range(EVALUATIONS))
    assert {e.state for e in evaluations} == {State.DONE}
    assert {e.attempts for e in evaluations} == {1}
    known = {int(id_): count for each in asked for id_, count in each["known"].items()}
    assert sorted(known) == list(range(TOLD_BY_TELLER, EVALUATIONS))
    again = repeats(evaluations[TOLD_BY_TELLER:])
    assert [(one, two) for one, two in again if known[two] <= one] == []

    decisions = sum(each["decisions"] for each in asked) / len(known)
    waits = [seconds - unscheduled for _, seconds, unscheduled in reports]
    tells = [seconds - unscheduled for kind, seconds, unscheduled in reports if kind == "tell"]
    asks = [seconds for each in asked for seconds in each["seconds"]]
    seen = {
        "evaluations": len(evaluations),
        "seconds in all": round(max(e.ended or 0 for e in evaluations) - evaluations[TOLD_BY_TELLER].asked, 1),
        "asked while open, knowingly": len(again),
        "decisions per question": round(decisions, 2),
        "ask, median and longest": [round(quantiles(asks)[1], 3), round(max(asks), 3)],
        "reports": len(reports),
        "report, 99th percentile and longest": [round(quantiles(waits, n=100)[98], 4), round(max(waits), 4)],
        "tell, longest": round(max(tells), 4),
        "longest without a core": round(max(unscheduled for *_, unscheduled in reports), 4),
    }
    print(f"\n{url.split(':')[0]}: {seen}")
    record_property("crowd", seen)
    assert max(waits) < 1.0
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
