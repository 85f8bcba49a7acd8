"""A program that asks and tells until the limit is reached: python -m survival.asker URL EVALUATIONS NAME."""

import json
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from survival.small import measure, small

from pesky.store import Limit
from pesky.study import Exhausted


class Spent:
    """Where the time of the last ask went: by the clock, of all calls and of the longest, and of the processor."""

    def __init__(self) -> None:
        self.counted: dict[str, float] = defaultdict(float)

    def on(self, what: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, whose time counts as spent on this."""

        def timed(*arguments: Any, **options: Any) -> Any:
            began, cpu = time.perf_counter(), time.process_time()
            try:
                return function(*arguments, **options)
            finally:
                seconds, longest = time.perf_counter() - began, f"{what}, longest"
                self.counted[what] += 1
                self.counted[f"{what}, seconds"] += seconds
                self.counted[longest] = max(seconds, self.counted[longest])
                self.counted[f"{what}, CPU seconds"] += time.process_time() - cpu

        return timed


def main(url: str, evaluations: int, name: str) -> None:
    """Print what was asked, how many questions were known at each, and where the time of asking went."""
    study, spent = small(storage=url), Spent()
    asker, when_decided = study._asker, 0
    suggest = spent.on("decisions", asker.suggest)

    def remembering(evaluations: Any, *arguments: Any, **options: Any) -> Any:
        """How many questions were known when the last one was decided."""
        nonlocal when_decided
        when_decided = len(evaluations)
        return suggest(evaluations, *arguments, **options)

    setattr(asker, "suggest", remembering)  # noqa: B010 (its type is another)
    setattr(asker, "is_still_good", spent.on("second thoughts", asker.is_still_good))  # noqa: B010
    for call in ("claim", "changes", "append"):
        setattr(study.store, call, spent.on("storage", getattr(study.store, call)))
    print("ready", flush=True)
    sys.stdin.readline()
    known: dict[int, int] = {}
    asks: list[dict[str, float]] = []
    while True:
        spent.counted.clear()
        try:
            evaluation = spent.on("asks", study.ask)(limit=Limit(evaluations=evaluations), worker=name, lease=60)
        except Exhausted:
            break
        asks.append(dict(spent.counted))
        known[evaluation.id] = when_decided
        time.sleep(random.uniform(0.0, 0.1))
        study.tell(evaluation, measure(evaluation.params))
    print(json.dumps({"known": known, "levels": study.time_budget.decisions, "asks": asks}))


main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
