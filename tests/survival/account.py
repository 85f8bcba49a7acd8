"""What happened to a study, as three independent records have it: the storage, the functions, and those who watched."""

import json
import random
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from survival.programs import until
from survival.small import small

from pesky.store import Evaluation, State

Outcomes = dict[str, float]


class Account:
    """Looks at the storage again and again: what was told must be there ever after, unchanged."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder
        self.told: dict[int, Outcomes] = {}
        self.study = small(storage=url)

    def look(self) -> Mapping[int, Evaluation]:
        """The evaluations as they are now."""
        seen = [(id_, outcomes) for id_, outcomes in self._lines("told")]
        now = self.study.evaluations  # later than what was seen, or something could be told in between
        for id_, outcomes in seen + list(self.told.items()):
            assert now[id_].outcomes == outcomes, f"{id_} was told as {outcomes} and is {now[id_]}"
        self.told = {id_: dict(e.outcomes) for id_, e in now.items() if e.outcomes}
        return now

    def await_moment(self, chance: random.Random, results: int) -> None:
        """Nothing, a random moment after so many more results were told."""
        before = len(self.told)
        until(lambda: sum(bool(e.outcomes) for e in self.look().values()) >= before + results)
        time.sleep(chance.uniform(0.0, 0.2 if results else 1.0))

    def running(self) -> set[tuple[int, int]]:
        """The evaluations that are being measured, as far as the storage knows, and for the how manyth time."""
        return {(e.id, e.attempts) for e in self.look().values() if e.state is State.RUNNING}

    def hold(self) -> int:
        """A process that is in a call of the function, and will be until `release`."""
        (self.folder / "hold").touch()
        return int(until(lambda: [path.name for path in (self.folder / "held").iterdir()])[0])

    def release(self) -> None:
        """Let calls end again."""
        for path in (self.folder / "held").iterdir():
            path.unlink()
        (self.folder / "hold").unlink(missing_ok=True)

    def settle(self, evaluations: int) -> dict[str, int]:
        """Counts, after it was checked that the budget was spent to the last evaluation and no result is an invention.

        Every result is what a call returned, at those very parameters, and no call's result is there twice.
        """
        now = self.look()
        calls = [(params, outcomes) for params, outcomes in self._lines("calls")]
        each = [(dict(e.params), dict(e.outcomes)) for e in now.values()]
        done = [e for e in now.values() if e.state is State.DONE]
        failed = [e for e in now.values() if e.state is State.FAILED]
        handed_out = sum(e.attempts for e in now.values())
        assert list(now) == list(range(evaluations))
        assert len(done) + len(failed) == evaluations
        assert all(told in calls for told in each if told[1])
        assert len({json.dumps(outcomes) for _, outcomes in each if outcomes}) == len(done)
        assert all(e.crashes == 3 and "crashed 3 times" in str(e.error) for e in failed)
        # each attempt but the last one ended without a result, and said so
        assert all(e.attempts <= 1 + len(e.history) for e in now.values() if e.attempts <= 20)
        assert len(calls) <= handed_out, "something was measured again without having been asked again"
        return {
            "evaluations": evaluations,
            "done": len(done),
            "failed": len(failed),
            "asked again": sum(e.attempts > 1 for e in now.values()),
            "attempts": handed_out,
            "lost": handed_out - evaluations + len(failed),
            "completed calls": len(calls),
        }

    def _lines(self, name: str) -> list[Any]:
        path = self.folder / name
        # the last line may be of a process that is writing just now
        text = path.read_text() if path.exists() else ""
        return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
