"""The contract of a store once more, as simply as possible and for one caller: what `StoreMachine` compares with."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from pesky.errors import DataError
from pesky.store import Evaluation, Limit, Question, Refusal

Facts = dict[str, Any]


class SomeText:
    """Equal to any text that is not empty: the store's own words are its own affair."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and other != ""

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "<some text>"


def facts(evaluation: Evaluation) -> Facts:
    """All that a store says of an evaluation, except when it last changed."""
    plain = asdict(evaluation)
    plain |= {key: dict(plain[key]) for key in ("params", "outcomes", "attributes")}
    plain["why"] = None if evaluation.why is None else dict(evaluation.why)
    return {key: value for key, value in plain.items() if key not in ("revision", "study")}


class ReferenceStore:
    """One study's evaluations as dicts. `changed` collects the ids of those that changed."""

    def __init__(self) -> None:
        self.now = 0.0
        self.all: list[Facts] = []
        self.changed: set[int] = set()

    def append(
        self, question: Question, *, known: int | None, limit: Limit, worker: str | None, lease: float | None
    ) -> Facts | Refusal:
        """What the store's method should return, as facts."""
        self.expire()
        beyond_count, beyond_cost = self._beyond(limit, question.price)
        outdated = known is not None and len(self.all) > known
        if outdated or beyond_count or beyond_cost:
            return Refusal(outdated, beyond_count or beyond_cost)
        new = self._new(question.task, question.params, question.gain, question.price, question.why)
        self._hand_out(new, worker, lease)
        return dict(new)

    def enqueue(self, questions: Sequence[Question]) -> list[Facts]:
        """What the store's method should return, as facts."""
        self.expire()
        return [dict(self._new(each.task, each.params, each.gain, each.price, each.why)) for each in questions]

    def add(self, task: str, params: Mapping[str, Any], outcomes: Mapping[str, float]) -> Facts:
        """What the store's method should return, as facts."""
        self.expire()
        new = self._new(task, params, None, 0.0, None)
        new.update(state="done", outcomes=dict(outcomes), ended=self.now)
        return dict(new)

    def claim(
        self,
        tasks: Collection[str],
        *,
        losses: int | None,
        worker: str | None,
        lease: float | None,
        limit: Limit,
    ) -> Facts | None:
        """What the store's method should return, as facts."""
        self.expire()
        for each in self.all:
            if each["state"] == "queued" and each["task"] in tasks and not any(self._beyond(limit, each["price"])):
                self._hand_out(each, worker, lease)
                return dict(each)
        for each in self.all:
            if each["state"] == "lost" and each["task"] in tasks:
                if losses is None or each["losses"] < losses:
                    self._hand_out(each, worker, lease)
                    return dict(each)
                self._end(each, "failed", SomeText(), "lost")
        return None

    def renew(self, attempts: Mapping[int, int], lease: float) -> set[int]:
        """What the store's method should return."""
        self.expire()
        held = [each for each in self.all if attempts.get(each["id"]) == each["attempts"]]
        running = [each for each in held if each["state"] == "running"]
        back = [each for each in held if each["state"] == each["cause"] == "lost"]
        for each in back:
            self._forget_loss(each)
            self._set(each, state="running", error=None, cause=None, ended=None)
        for each in running + back:
            self._set(each, lease=lease, expires=self.now + lease)
        return {each["id"] for each in running + back}

    def tell(
        self,
        id: int,
        outcomes: Mapping[str, float],
        expected: Collection[str],
        seconds: float | None,
        *,
        attempt: int | None,
        attributes: Mapping[str, object],
    ) -> Facts:
        """What the store's method should return, as facts."""
        each = self._get(id)
        if attempt is not None and attempt > each["attempts"]:
            raise DataError("no such attempt")
        news = self._news(each, outcomes)
        becomes_done = each["state"] != "done" and set(expected) <= {*each["outcomes"], *outcomes}
        noted = {**each["attributes"], **attributes}
        if news or becomes_done or noted != each["attributes"]:
            self._set(each, outcomes={**each["outcomes"], **news}, attributes=noted)
            each["seconds"] = each["seconds"] if seconds is None else seconds
        if becomes_done:
            self._end(each, "done", None)
        return dict(each)

    def fail(
        self,
        id: int,
        error: str,
        *,
        attempt: int | None,
        seconds: float | None,
        outcomes: Mapping[str, float],
        attributes: Mapping[str, object],
    ) -> Facts:
        """What the store's method should return, as facts."""
        each = self._get(id)
        if each["state"] in ("done", "abandoned") or attempt not in (None, each["attempts"]):
            return dict(each)
        news = self._news(each, outcomes)
        noted = {**each["attributes"], **attributes}
        if news or each["state"] != "failed" or each["error"] != error or noted != each["attributes"]:
            each["outcomes"], each["attributes"] = {**each["outcomes"], **news}, noted
            each["seconds"] = each["seconds"] if seconds is None else seconds
            self._end(each, "failed", error)
        return dict(each)

    def release(self, id: int, error: str, *, attempt: int | None) -> Facts:
        """What the store's method should return, as facts."""
        each = self._get(id)
        if each["state"] in ("pending", "running") and attempt in (None, each["attempts"]):
            self._free(each, error, "released", self.now)
        return dict(each)

    def crash(self, id: int, error: str, *, attempt: int, attempts: int) -> Facts:
        """What the store's method should return, as facts."""
        each = self._get(id)
        is_lost = each["state"] == each["cause"] == "lost"
        if not (each["state"] in ("pending", "running") or is_lost) or attempt != each["attempts"]:
            return dict(each)
        if is_lost:
            self._forget_loss(each)
        self._free(each, error, "crashed", self.now)
        each["crashes"] += 1
        if each["crashes"] >= attempts:
            self._end(each, "failed", SomeText(), "crashed")
        return dict(each)

    def abandon(self, id: int) -> Facts:
        """What the store's method should return, as facts."""
        each = self._get(id)
        if each["state"] not in ("done", "abandoned"):
            self._end(each, "abandoned", each["error"], each["cause"])
        return dict(each)

    def expire(self) -> None:
        """What has to happen before any method."""
        for each in self.all:
            if each["state"] == "running" and each["expires"] <= self.now:
                self._free(each, SomeText(), "lost", each["expires"])
                each["losses"] += 1

    def correct(self, id: int, outcomes: Mapping[str, float], reason: str) -> Facts:
        """What the store's method should return, as facts."""
        each = self._get(id)
        if not set(outcomes) <= set(each["outcomes"]):
            raise DataError("not told")
        for name, value in outcomes.items():
            if each["outcomes"][name] != value:
                made = self._correction("corrected", name, each["outcomes"][name], value, reason)
                new = {**each["outcomes"], name: value}
                self._set(each, outcomes=new, corrections=(*each["corrections"], made))
        return dict(each)

    def exclude(self, id: int, reason: str) -> Facts:
        """What the store's method should return, as facts."""
        return self._weigh(id, True, "excluded", reason)

    def include(self, id: int, reason: str) -> Facts:
        """What the store's method should return, as facts."""
        return self._weigh(id, False, "included", reason)

    def _weigh(self, id: int, is_excluded: bool, change: str, reason: str) -> Facts:
        each = self._get(id)
        if each["is_excluded"] != is_excluded:
            made = self._correction(change, None, None, None, reason)
            self._set(each, is_excluded=is_excluded, corrections=(*each["corrections"], made))
        return dict(each)

    def _correction(self, change: str, outcome: str | None, old: float | None, new: float | None, reason: str) -> Facts:
        words = {"change": change, "outcome": outcome, "reason": reason}
        return {"when": datetime.fromtimestamp(self.now, UTC).isoformat(), "old": old, "new": new, **words}

    def _beyond(self, limit: Limit, price: float) -> tuple[bool, bool]:
        """Whether one more at this price is beyond the limit of evaluations, and beyond that of cost."""
        counted = [
            each["price"]
            for each in self.all
            if each["attempts"] > 0 and not (each["state"] == "abandoned" and not each["outcomes"])
        ]
        beyond_count = limit.evaluations is not None and len(counted) >= limit.evaluations
        return beyond_count, limit.cost is not None and sum(counted) + price > limit.cost + 1e-6

    def _new(
        self,
        task: str,
        params: Mapping[str, Any],
        gain: float | None,
        price: float,
        why: Mapping[str, object] | None,
    ) -> Facts:
        new: Facts = {"id": len(self.all), "task": task, "params": dict(params), "gain": gain, "price": price}
        new.update(why=why, attributes={}, is_excluded=False, corrections=())
        new.update(state="queued", outcomes={}, error=None, attempts=0, worker=None, asked=self.now)
        new.update(began=None, ended=None, seconds=None, expires=None, lease=None)
        new.update(cause=None, crashes=0, losses=0, history=())
        self.all.append(new)
        self.changed.add(new["id"])
        return new

    def _get(self, id: int) -> Facts:
        self.expire()
        if not 0 <= id < len(self.all):
            raise DataError("no such id")
        return self.all[id]

    def _news(self, each: Facts, outcomes: Mapping[str, float]) -> dict[str, float]:
        corrected = {(made["outcome"], made["old"]) for made in each["corrections"]}
        for name, value in outcomes.items():
            if each["outcomes"].get(name, value) != value and (name, value) not in corrected:
                raise DataError("told otherwise before")
        return {name: value for name, value in outcomes.items() if name not in each["outcomes"]}

    def _hand_out(self, each: Facts, worker: str | None, lease: float | None) -> None:
        state = "pending" if lease is None else "running"
        expires = None if lease is None else self.now + lease
        self._set(each, state=state, expires=expires, worker=worker, began=self.now, ended=None, error=None)
        self._set(each, lease=lease, cause=None, attempts=each["attempts"] + 1)

    def _free(self, each: Facts, error: object, cause: str, when: float) -> None:
        attempt = {key: each[key] for key in ("worker", "began")} | {"ended": when, "cause": cause, "error": error}
        self._end(each, "lost", error, cause, when)
        each["history"] = (*each["history"], attempt)

    def _forget_loss(self, each: Facts) -> None:
        each.update(losses=each["losses"] - 1, history=each["history"][:-1])

    def _end(self, each: Facts, state: str, error: object, cause: str | None = None, when: float | None = None) -> None:
        ended = self.now if when is None else when
        self._set(each, state=state, error=error, cause=cause, ended=ended, lease=None, expires=None)

    def _set(self, each: Facts, **values: object) -> None:
        each.update(values)
        self.changed.add(each["id"])
