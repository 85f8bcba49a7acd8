"""Many who ask and tell at once: nobody is refused, nothing is asked twice, and nobody waits for others' deciding."""

import itertools
import json
import os
from pathlib import Path
from statistics import quantiles
from typing import Any

import pytest
from survival.small import measure, small

from pesky import Study
from pesky.store import Evaluation, Limit, Question, State
from pesky.strategy.asker import MAX_RETRIES
from pesky.strategy.conflict import MAX_OVERLAP
from pesky.strategy.limits import Request
from pesky.strategy.masks import SAME_QUESTION

EVALUATIONS = int(os.environ.get("PESKY_CROWD", "50"))  # 250 are worth a look from time to time
ASKERS, TOLD_BY_TELLER = (8 if EVALUATIONS > 100 else 4), 10


def test_a_crowd_asks_and_tells(url: str, start, tmp_path: Path, show):
    """Four or eight processes ask and tell, while another one only reports, every 50 ms.

    That one measures how long reports wait. It sleeps for nearly all of its life, so that a machine with fewer cores
    than processes still runs it soon. How soon it does so, and how fast the disk is, it measures at the same time with
    the same reports to a study that nobody else works on. What they take beyond that is the wait for others'
    transactions: one that had to wait for others' deciding would take as long as that, seconds on two cores.

    Those who ask say how long they decided, and how long they waited for the storage. With many of them on two cores
    nearly all of it is waiting for a processor, so that seconds of the processor are what to compare.
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
    asks = [ask for each in asked for ask in each["asks"]]
    decisions = total(asks, "decisions") / len(known)
    waits, undisturbed = zip(*reports, strict=True)
    seconds = [ask["asks, seconds"] for ask in asks]
    beside = [ask["asks, seconds"] - ask["decisions, seconds"] for ask in asks]
    again_and_again = [ask["decisions, seconds"] / ask["decisions, longest"] for ask in asks]
    stages = ("asks", "decisions", "second thoughts", "storage")
    seen = {
        "evaluations": len(evaluations),
        "seconds in all": round(max(e.ended or 0 for e in evaluations) - evaluations[TOLD_BY_TELLER].asked, 1),
        "asked while open": len(again),
        "decisions per question": round(decisions, 2),
        "ask, median and longest": [round(quantiles(seconds)[1], 3), round(max(seconds), 3)],
        "seconds in all asks, and of the processor": {
            stage: [round(total(asks, f"{stage}, {kind}"), 1) for kind in ("seconds", "CPU seconds")]
            for stage in stages
        },
        "calls": {stage: int(total(asks, stage)) for stage in stages},
        "an ask beside its decisions, most": round(max(beside), 3),
        "decisions of an ask, most, in terms of the longest": round(max(again_and_again), 2),
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
    # Who asks waits for their own decisions, which are few, and for others' transactions, which are short.
    assert max(again_and_again) < 4
    assert [ask for ask in asks if ask["asks, seconds"] > 3 * ask["decisions, seconds"] + 10 * max(waits)] == []


def total(asks: list[dict[str, float]], what: str) -> float:
    return sum(ask.get(what, 0.0) for ask in asks)


def beside_another(monkeypatch: pytest.MonkeyPatch, most: int) -> tuple[Study, list[Evaluation]]:
    """A study beside whose first so many decisions another process asks and tells what it is about to ask."""
    study, theirs = small(), []
    other = small(storage=study.store)
    for _ in range(6):
        evaluation = study.ask()
        study.tell(evaluation, measure(evaluation.params))
    suggest = study._asker.suggest

    def meanwhile(*given: Any, **options: Any) -> Question:
        question = suggest(*given, **options)
        if len(theirs) < most:
            theirs.append(other.add(question.params, measure(question.params)))
        return question

    monkeypatch.setattr(study._asker, "suggest", meanwhile)
    study.time_budget.decisions.clear()
    return study, theirs


def test_who_decides_again_does_not_begin_from_nothing(monkeypatch: pytest.MonkeyPatch):
    """Not even if there are new data: the last analysis is brought up to date."""
    study, theirs = beside_another(monkeypatch, 2)
    asked = study.ask()
    assert study.time_budget.decisions == {"full": 1, "update": 2}
    encode = study.space.encode
    assert min(float((encode(asked.params) - encode(each.params)).abs().max()) for each in theirs) > SAME_QUESTION
    study.tell(asked, measure(asked.params))
    study.ask()
    assert study.time_budget.decisions == {"full": 2, "update": 2}


def test_who_has_decided_again_for_long_takes_what_is_not_theirs(monkeypatch: pytest.MonkeyPatch):
    study, _ = beside_another(monkeypatch, 0)
    known = study.evaluations
    question = study._asker.suggest(known, Request(("all",)))
    centre = dict.fromkeys(question.params, 0.5)
    now = {**known, 99: Evaluation(99, "all", centre)}
    monkeypatch.setattr("pesky.strategy.conflict.overlap", lambda *given: 2 * MAX_OVERLAP)

    def is_still_good(*seconds: float) -> bool:
        study._asker.last.seconds[:] = seconds
        return study._asker.is_still_good(question, now, Limit())

    assert not is_still_good(1.0)
    assert not is_still_good(1.0, 0.5, 0.4)
    assert is_still_good(1.0, 0.5, 0.6)
    assert is_still_good(100.0, *[0.1] * MAX_RETRIES)
    same = {**known, 100: Evaluation(100, "all", question.params)}
    assert not study._asker.is_still_good(question, same, Limit())


def repeats(evaluations: list[Evaluation]) -> list[tuple[int, int]]:
    """Pairs that were open at the same time, by the clock of the storage, and ask the same.

    With such noise that can be worth it; not, however, if the second asker did not know of the first.
    """
    return [
        (one.id, two.id)
        for one, two in itertools.combinations(evaluations, 2)
        if one.params == two.params and max(one.asked, two.asked) < min(one.ended or 0.0, two.ended or 0.0)
    ]
