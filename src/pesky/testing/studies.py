"""Studies by name: created once, found, replaced, deleted."""

import pytest

from pesky.errors import StorageError
from pesky.store import Store
from pesky.testing.base import STUDY, StoreTest, ask


class StudiesContract(StoreTest):
    """What a store promises about studies."""

    def test_a_store_is_a_store(self, store: Store):
        assert isinstance(store, Store)
        assert store.names() == []

    def test_a_study_is_created_once(self, store: Store):
        first = store.open("b", '{"problem": 1}', 7)
        assert (first.name, first.problem, first.seed) == ("b", '{"problem": 1}', 7)
        assert store.open("b", '{"problem": 2}', 8) == first
        assert self.another(store).load("b") == first
        store.open("a", "{}", 2**63 - 1)
        assert store.load("a").seed == 2**63 - 1
        assert self.another(store).names() == ["b", "a"]

    def test_an_unknown_study_is_refused_with_the_names_that_there_are(self, store: Store):
        with pytest.raises(StorageError, match=r"'typo'.*none yet"):
            store.load("typo")
        store.open("types", "{}", 0)
        for use in (
            lambda: store.load("typos"),
            lambda: store.changes("typos", 0),
            lambda: store.replace_problem("typos", "{}"),
            lambda: store.add("typos", "t", {}, {}),
            lambda: store.tell("typos", 0, {}, [], None),
        ):
            with pytest.raises(StorageError, match=r"'typos'.*Did you mean 'types'"):
                use()
        assert store.names() == ["types"]

    @pytest.mark.parametrize("name", ["", " ", "a\0b", "\ud800"])
    def test_a_name_that_not_every_store_could_keep_is_refused(self, store: Store, name: str):
        with pytest.raises(StorageError, match="name was"):
            store.open(name, "{}", 0)

    def test_a_deleted_study_is_gone_with_its_evaluations(self, store: Store):
        for name in ("a", "b"):
            store.open(name, "{}", 0)
            ask(store, name=name)
        store.delete("a")
        store.delete("a")
        assert store.names() == ["b"]
        assert len(store.changes("b", 0)[1]) == 1
        store.open("a", "{}", 0)
        assert store.changes("a", 0) == (0, [])
        with pytest.raises(StorageError, match="deleted and created anew"):
            store.changes("a", 1)

    def test_a_replaced_problem_stays_and_is_a_change(self, store: Store):
        store.open(STUDY, "{}", 3)
        store.replace_problem(STUDY, '{"tasks": "\N{GREEK SMALL LETTER MU}"}')
        assert self.another(store).load(STUDY).problem == '{"tasks": "\N{GREEK SMALL LETTER MU}"}'
        assert store.load(STUDY).seed == 3
        assert store.changes(STUDY, 0) == (1, [])
