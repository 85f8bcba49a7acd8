"""A program that asks and tells until the limit is reached: python -m survival.asker URL EVALUATIONS NAME."""

import json
import random
import sys
import time
from typing import Any

from survival.small import measure, small

from pesky.store import Limit
from pesky.study import Exhausted


def main(url: str, evaluations: int, name: str) -> None:
    """Print what was asked, how many questions were known at each, and how often and for how long was decided."""
    study = small(storage=url)
    decide, when_decided = study._questioner.next, 0

    def remembering(evaluations: Any, *arguments: Any) -> Any:
        """How many questions were known when the last one was decided."""
        nonlocal when_decided
        when_decided = len(evaluations)
        return decide(evaluations, *arguments)

    setattr(study._questioner, "next", remembering)  # noqa: B010 (its type is another)
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
        known[evaluation.id] = when_decided
        time.sleep(random.uniform(0.0, 0.1))
        study.tell(evaluation, measure(evaluation.params))
    print(json.dumps({"known": known, "decisions": study.pace.decisions.total(), "seconds": seconds}))


main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
