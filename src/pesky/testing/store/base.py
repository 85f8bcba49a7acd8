"""What all parts of the contract's test share: the fixtures, and short ways to ask."""

from dataclasses import asdict

import pytest

from pesky.store import Evaluation, Limit, Question, Refusal, Store

STUDY = "study"
LONG = 3600.0
GONE = 0.0  # a lease that has run out as soon as anyone looks


class StoreTest:
    """The fixtures that a test of a store may ask for."""

    @pytest.fixture
    def store(self) -> Store:
        """An empty store."""
        raise NotImplementedError("a subclass of StoreContract overrides the fixture `store`")

    @pytest.fixture
    def study(self, store: Store) -> Store:
        """The store with an empty study."""
        store.open(STUDY, "{}", 0, STUDY)
        return store

    def another(self, store: Store) -> Store:
        """A second handle on the same storage, as another process would have; the same one if there can be none."""
        return store


def append(store: Store, **given) -> Evaluation | Refusal:
    """What the store says to a question, of which only what matters needs to be given."""
    name = given.pop("name", STUDY)
    asked = {key: given.pop(key) for key in ("gain", "price", "why") if key in given}
    question = Question(given.pop("task", "t"), given.pop("params", {"x": 0.5}), **asked)
    return store.append(name, question, **{"known": None, "limit": Limit(), "worker": None, "lease": None} | given)


def ask(store: Store, **given) -> Evaluation:
    """The new evaluation, if it was not refused."""
    asked = append(store, **given)
    assert isinstance(asked, Evaluation)
    return asked


def assert_same(found: Evaluation, expected: Evaluation) -> None:
    """All of the two is the same, not only the question: `==` compares no more."""
    assert asdict(found) == asdict(expected)
