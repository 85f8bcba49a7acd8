"""A program that computes nothing and reports often: python -m survival.teller URL QUIET_URL COUNT.

It has asked `COUNT` questions of no merit beforehand. Every 50 ms it reports: it renews leases, and at every twentieth
report tells a result. After each it does the same with a study that nobody else works on, at the other URL. A line on
its standard input, or the last result, ends it.
"""

import json
import random
import select
import sys
import time

from survival.small import NAMES, measure, small

from pesky import Study
from pesky.store import Evaluation, Limit, Question

PAUSE = 0.05
EVERY = 20
LEASE = 600.0


class Reporter:
    """One who has questions of a study, and reports on them."""

    def __init__(self, study: Study, count: int) -> None:
        self.study = study
        questions = [Question("all", {name: random.random() for name in NAMES}) for _ in range(count)]
        self.mine = [self._asked(question) for question in questions]

    def _asked(self, question: Question) -> Evaluation:
        append, study = self.study.store.append, self.study.identity
        appended = append(study, question, known=None, limit=Limit(), worker="teller", lease=LEASE)
        assert isinstance(appended, Evaluation)
        return appended

    def report(self, is_result: bool) -> float:
        """Tell a result, or renew two leases, and say how many seconds that took."""
        outcomes = measure(self.mine[0].params)
        began = time.perf_counter()
        if is_result:
            self.study.tell(self.mine.pop(0), outcomes)
        else:
            self.study.store.renew(self.study.identity, {e.id: 1 for e in self.mine[:2]}, LEASE)
        return time.perf_counter() - began


def main(url: str, quiet: str, count: int) -> None:
    """Print the seconds of each report, and those of each in the study that nobody else works on."""
    crowded, alone = Reporter(small(storage=url), count), Reporter(small(storage=quiet, name="quiet"), count)
    print("ready", flush=True)
    sys.stdin.readline()
    reports: list[tuple[float, float]] = []
    while crowded.mine and not select.select([sys.stdin], [], [], PAUSE)[0]:
        is_result = len(reports) % EVERY == 0
        reports.append((crowded.report(is_result), alone.report(is_result)))
    while crowded.mine:
        crowded.report(is_result=True)
    print(json.dumps(reports))


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
