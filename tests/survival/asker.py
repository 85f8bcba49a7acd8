"""A program that asks and tells until the limit is reached: python -m survival.asker URL EVALUATIONS NAME."""

import json
import random
import sys
import time
from typing import Any

from survival.small import measure, small

from pesky.store import Limit
from pesky.study import Exhausted
from pesky.study.question import Questioner


class Remembering(Questioner):
    """Remembers how many questions were known when the last one was decided."""

    known = 0

    def next(self, evaluations: Any, *arguments: Any) -> Any:
        self.known = len(evaluations)
        return super().next(evaluations, *arguments)


def main(url: str, evaluations: int, name: str) -> None:
    """Print what was asked, how many questions were known at each, and how often and for how long was decided."""
    study = small(storage=url)
    study._questioner.__class__ = Remembering
    print("ready", flush=True)
    sys.stdin.readline()
    known: dict[int, int] = {}
    seconds: list[float] = []
    while True:
        began = time.perf_counter()
        try:
            evaluation = study.ask(limit=Limit(evaluations=evaluations), worker=name, lease=60)
        except Exhausted:
            break
        seconds.append(time.perf_counter() - began)
        known[evaluation.id] = study._questioner.known
        time.sleep(random.uniform(0.0, 0.1))
        study.tell(evaluation, measure(evaluation.params))
    print(json.dumps({"known": known, "decisions": study.pace.decisions.total(), "seconds": seconds}))


main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
