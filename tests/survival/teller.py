"""A program that computes nothing and reports often: python -m survival.teller URL COUNT.

It has asked `COUNT` questions of no merit beforehand. Every 50 ms it reports: it renews the leases of those, and tells
a result every `EVERY` reports. A line on standard input, or the last result, ends it.
"""

import json
import random
import select
import sys
import time
from pathlib import Path

from survival.small import NAMES, measure, small

from pesky.store import Evaluation, Limit, Question

PAUSE = 0.05
EVERY = 8
LEASE = 600.0


def unscheduled() -> float:
    """Seconds for which this process was ready to run and had no core."""
    path = Path("/proc/self/schedstat")
    return int(path.read_text().split()[1]) / 1e9 if path.exists() else 0.0


def main(url: str, count: int) -> None:
    study = small(storage=url)
    store, name = study.store, study.name
    mine: list[Evaluation] = []
    for _ in range(count):
        question = Question("all", {name: random.random() for name in NAMES})
        appended = store.append(name, question, known=None, limit=Limit(), worker="teller", lease=LEASE)
        assert isinstance(appended, Evaluation)
        mine.append(appended)
    print("ready", flush=True)
    sys.stdin.readline()
    reports: list[tuple[str, float, float]] = []
    while mine and not select.select([sys.stdin], [], [], PAUSE)[0]:
        is_result = len(reports) % EVERY == 0
        outcomes = measure(mine[0].params)
        waited, began = unscheduled(), time.perf_counter()
        if is_result:
            store.tell(name, mine[0].id, outcomes, ["f"], None)
        else:
            store.renew(name, [e.id for e in mine[:2]], "teller", LEASE)
        reports.append(("tell" if is_result else "renew", time.perf_counter() - began, unscheduled() - waited))
        if is_result:
            del mine[0]
    for evaluation in mine:
        study.tell(evaluation, measure(evaluation.params))
    print(json.dumps(reports))


main(sys.argv[1], int(sys.argv[2]))
