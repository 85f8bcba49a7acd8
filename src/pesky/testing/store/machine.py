"""Random sequences of all that can happen to a store, compared with a simple store that keeps the contract."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from pesky.errors import DataError
from pesky.store import Evaluation, Limit, Question, Store
from pesky.testing.store.reference import ReferenceStore, facts

TASKS = {"train": ("error", "size"), "profile": ("latency",)}
STUDY = "random things happen"

_handles = st.integers(0, 1)
_workers = st.sampled_from(["ada", "ben"])
_leases = st.sampled_from([0.0, 2.0, 8.0])
_attempts = st.sampled_from([None, 1, 1, 2])
_values = st.sampled_from([0.0, 0.0, 0.0, 1.0])  # mostly the same, so that the same and another are both told
_attributes = st.sampled_from([{}, {}, {"epochs": 3}, {"epochs": 4, "by": ["ada"]}])
_errors = st.sampled_from(["out of memory", "interrupted"])


class StoreMachine(RuleBasedStateMachine):
    """Two handles on one storage under random calls; a subclass makes them.

    class MyMachine(StoreMachine):
        def make_stores(self, clock):
            store = MyStore(clock=clock)
            return store, store

    TestMyStore = MyMachine.TestCase
    """

    def make_stores(self, clock: Callable[[], float]) -> tuple[Store, Store]:
        """Two handles (or one twice) on an empty storage that takes the time from `clock`."""
        raise NotImplementedError("a subclass of StoreMachine says which store it tests")

    def __init__(self) -> None:
        super().__init__()
        self.reference = ReferenceStore()
        self.stores = self.make_stores(lambda: self.reference.now)
        for store in self.stores:
            store.open(STUDY, "{}", 0, STUDY)
        self.known: dict[int, Evaluation] = {}
        self.revision = 0

    @rule(seconds=st.sampled_from([1.0, 3.0, 10.0]))
    def time_passes(self, seconds: float) -> None:
        """Leases run out, or do not."""
        self.reference.now += seconds

    @rule(
        handle=_handles,
        task=st.sampled_from(sorted(TASKS)),
        missed=st.sampled_from([None, 0, 0, 1]),
        evaluations=st.sampled_from([None, 2, 5]),
        cost=st.sampled_from([None, 0.3, 1.0]),
        price=st.sampled_from([0.1, 0.5]),
        worker=_workers,
        lease=st.none() | _leases,
    )
    def append(self, handle, task, missed, evaluations, cost, price, worker, lease) -> None:
        """A question, from someone who knows all the others or missed one, and under some limit."""
        known = None if missed is None else max(len(self.reference.all) - missed, 0)
        question = Question(task, {"x": len(self.reference.all) / 7}, 0.5, price, {"kind": "a guess"})
        limit = Limit(evaluations, cost)
        self._both(handle, "append", question, known=known, limit=limit, worker=worker, lease=lease)

    @rule(handle=_handles, value=_values)
    def add(self, handle, value) -> None:
        """Data of the user's own."""
        self._both(handle, "add", "profile", {"x": 0.5}, {"latency": value})

    @rule(
        handle=_handles,
        tasks=st.sets(st.sampled_from(sorted(TASKS))),
        losses=st.none() | st.integers(1, 2),
        worker=_workers,
        lease=st.none() | _leases,
        evaluations=st.sampled_from([None, None, 2]),
    )
    def claim(self, handle, tasks, losses, worker, lease, evaluations) -> None:
        """Someone is free for what is queued, or what others have lost."""
        limit = Limit(evaluations)
        self._both(handle, "claim", tasks, losses=losses, worker=worker, lease=lease, limit=limit)

    @rule(handle=_handles, tasks=st.lists(st.sampled_from(sorted(TASKS)), max_size=2))
    def enqueue(self, handle, tasks) -> None:
        """Someone wants something measured first."""
        self._both(handle, "enqueue", [Question(task, {"x": 0.125}, None, 0.1) for task in tasks])

    @rule(handle=_handles, attempts=st.dictionaries(st.integers(0, 6), st.integers(1, 2)), lease=_leases)
    def renew(self, handle, attempts, lease) -> None:
        """A heartbeat, also for what may no longer be one's own or does not exist."""
        self._both(handle, "renew", attempts, lease)

    @precondition(lambda self: self.reference.all)
    @rule(
        handle=_handles, data=st.data(), attempt=_attempts, seconds=st.sampled_from([None, 2.5]), attributes=_attributes
    )
    def tell(self, handle, data, attempt, seconds, attributes) -> None:
        """Some or all outcomes: in time, late, again, or in contradiction."""
        id = data.draw(st.integers(0, len(self.reference.all) - 1))
        expected = TASKS[self.reference.all[id]["task"]]
        outcomes = data.draw(st.dictionaries(st.sampled_from(expected), _values))
        self._both(handle, "tell", id, outcomes, expected, seconds, attempt=attempt, attributes=attributes)

    @precondition(lambda self: self.reference.all)
    @rule(
        handle=_handles,
        data=st.data(),
        error=_errors,
        attempt=_attempts,
        seconds=st.sampled_from([None, 2.5]),
        attributes=_attributes,
    )
    def fail(self, handle, data, error, attempt, seconds, attributes) -> None:
        """A failure with what was measured nevertheless, of this attempt or of another."""
        id = data.draw(st.integers(0, len(self.reference.all) - 1))
        outcomes = data.draw(
            st.dictionaries(st.sampled_from(TASKS[self.reference.all[id]["task"]]), _values, max_size=1)
        )
        given = {"seconds": seconds, "outcomes": outcomes, "attributes": attributes}
        self._both(handle, "fail", id, error, attempt=attempt, **given)

    @precondition(lambda self: self.reference.all)
    @rule(handle=_handles, data=st.data(), value=_values)
    def correct(self, handle, data, value) -> None:
        """The user takes back what was told, or what was not."""
        id = data.draw(st.integers(0, len(self.reference.all) - 1))
        outcome = data.draw(st.sampled_from(TASKS[self.reference.all[id]["task"]]))
        self._both(handle, "correct", id, {outcome: value}, "a slip")

    @rule(handle=_handles, id=st.integers(0, 6))
    def exclude(self, handle, id) -> None:
        """The user does not trust it."""
        self._both(handle, "exclude", id, "a power cut")

    @rule(handle=_handles, id=st.integers(0, 6))
    def include(self, handle, id) -> None:
        """The user does."""
        self._both(handle, "include", id, "it was none")

    @rule(
        handle=_handles,
        id=st.integers(0, 6),
        error=_errors,
        attempt=st.integers(1, 3),
        attempts=st.integers(1, 2),
    )
    def crash(self, handle, id, error, attempt, attempts) -> None:
        """The process that ran it dies, in this attempt or in another."""
        self._both(handle, "crash", id, error, attempt=attempt, attempts=attempts)

    @rule(handle=_handles, id=st.integers(0, 6), error=_errors, attempt=_attempts)
    def release(self, handle, id, error, attempt) -> None:
        """Someone lets go, of this attempt or of another."""
        self._both(handle, "release", id, error, attempt=attempt)

    @rule(handle=_handles, id=st.integers(0, 6))
    def abandon(self, handle, id) -> None:
        """The user expects no more."""
        self._both(handle, "abandon", id)

    @rule(handle=_handles)
    def look(self, handle) -> None:
        """A reader catches up, and then knows all: what it reads is what changed, no more and no less."""
        before, known = self.revision, dict(self.known)
        self.reference.expire()
        self.revision, changed = self.stores[handle].changes(STUDY, before)
        self.known.update((each.id, each) for each in changed)
        assert [each.id for each in changed] == sorted(self.reference.changed)
        assert (self.revision > before) == bool(changed)
        assert all(before < each.revision <= self.revision for each in changed)
        assert sorted(self.known) == list(range(len(self.reference.all)))
        assert [facts(each) for _, each in sorted(self.known.items())] == self.reference.all
        for id, each in known.items():
            now = {**self.known[id].outcomes, **_first(self.known[id])}
            assert {**each.outcomes, **_first(each)}.items() <= now.items(), "a fact vanished"
        self.reference.changed = set()

    def teardown(self) -> None:
        """The last look: one reader that was there all along, and one who comes now."""
        try:
            self.look(0)
            revision, everything = self.stores[1].changes(STUDY, 0)
            assert revision == self.revision
            assert [facts(each) for each in everything] == self.reference.all
            assert len({each.revision for each in everything}) == len(everything)
        finally:
            for store in self.stores:
                store.delete(STUDY)
                store.close()

    def _both(self, handle: int, method: str, *arguments: Any, **named: Any) -> None:
        """Call a method of the store and of the reference: both return the same, or both refuse."""
        found = _outcome(getattr(self.stores[handle], method), STUDY, *arguments, **named)
        expected = _outcome(getattr(self.reference, method), *arguments, **named)
        assert found == expected


def _first(evaluation: Evaluation) -> dict[str | None, float | None]:
    """What was told first of the outcomes that were corrected since."""
    return {made.outcome: made.old for made in reversed(evaluation.corrections)}


def _outcome(method: Callable[..., object], *arguments: object, **named: object) -> object:
    try:
        result = method(*arguments, **named)
    except DataError:
        return DataError
    if isinstance(result, list):
        return [facts(each) if isinstance(each, Evaluation) else each for each in result]
    return facts(result) if isinstance(result, Evaluation) else result
