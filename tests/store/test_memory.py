"""Studies in memory."""

import pickle

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from pesky.errors import StorageError
from pesky.store import MemoryStore, open_store
from pesky.testing import StoreContract, StoreMachine


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self):
        return MemoryStore()


def test_random_things_happen_in_memory():
    class Machine(StoreMachine):
        def make_stores(self, clock):
            store = MemoryStore(clock)
            return store, store

    run_state_machine_as_test(Machine, settings=settings(max_examples=60, stateful_step_count=40))


def test_no_url_is_memory():
    assert isinstance(open_store(None), MemoryStore)


def test_memory_does_not_travel():
    with pytest.raises(StorageError, match=r'cannot be sent to another process.*storage="sqlite:'):
        pickle.dumps(MemoryStore())
