"""Studies by name: created once, found, replaced, deleted."""

import pytest

from pesky.errors import StorageError, StudyGone
from pesky.store import Store
from pesky.testing.store.base import LONG, STUDY, StoreTest, ask, assert_same


class StudiesContract(StoreTest):
    """What a store promises about studies."""

    def test_a_store_is_a_store(self, store: Store):
        assert isinstance(store, Store)
        assert store.names() == []

    def test_a_study_is_created_once(self, store: Store):
        first = store.open("b", '{"problem": 1}', 7, "first")
        assert (first.name, first.problem, first.seed, first.identity) == ("b", '{"problem": 1}', 7, "first")
        assert store.open("b", '{"problem": 2}', 8, "second") == first
        assert self.another(store).load("b") == first
        store.open("a", "{}", 2**63 - 1, "third")
        assert store.load("a").seed == 2**63 - 1
        assert self.another(store).names() == ["b", "a"]

    def test_an_unknown_study_is_refused_with_the_names_that_there_are(self, store: Store):
        with pytest.raises(StorageError, match=r"'typo'.*none yet"):
            store.load("typo")
        store.open("types", "{}", 0, "types")
        with pytest.raises(StorageError, match=r"'typos'.*Did you mean 'types'"):
            store.load("typos")
        assert store.names() == ["types"]

    @pytest.mark.parametrize("name", ["", " ", "a\0b", "\ud800", "a\x1b[2Jb", "a\nb", 300 * "a"])
    def test_a_name_that_not_every_store_could_keep_is_refused(self, store: Store, name: str):
        with pytest.raises(StorageError, match="name was"):
            store.open(name, "{}", 0, "some")

    def test_settings_are_kept_with_a_study_whatever_its_name(self, store: Store):
        store.open("a", "{}", 0, "one")
        store.open("b", "{}", 0, "two")
        assert store.settings("one") == "{}"
        store.keep_settings("one", '{"rule": {"name": "eic"}}')
        store.keep_settings("one", '{"rule": {"name": "pesc"}}')
        store.rename("one", "c")
        assert self.another(store).settings("one") == '{"rule": {"name": "pesc"}}'
        assert store.settings("two") == "{}"
        assert store.changes("two", 0)[0] == 0
        store.delete("one")
        for use in (lambda: store.settings("one"), lambda: store.keep_settings("one", "{}")):
            with pytest.raises(StudyGone):
                use()

    def test_a_deleted_study_is_gone_with_its_evaluations(self, store: Store):
        for name in ("a", "b"):
            store.open(name, "{}", 0, name)
            ask(store, name=name)
        store.delete("a")
        store.delete("a")
        assert store.names() == ["b"]
        assert len(store.changes("b", 0)[1]) == 1

    def test_who_opened_a_study_never_meets_the_next_one_of_its_name(self, store: Store):
        store.open("a", "{}", 0, "old")
        ask(store, name="old", worker="w", lease=LONG)
        self.another(store).delete("old")
        store.open("a", "{}", 0, "new")
        asked = ask(store, name="new", worker="w", lease=LONG)
        assert asked.study == "new"
        for use in (
            lambda: store.changes("old", 0),
            lambda: ask(store, name="old"),
            lambda: store.add("old", "t", {"x": 0.5}, {"f": 1.0}),
            lambda: store.claim("old", ["t"], losses=None, worker="w", lease=LONG),
            lambda: store.renew("old", {0: 1}, LONG),
            lambda: store.tell("old", 0, {"f": 1.0}, ["f"], None, attempt=1),
            lambda: store.fail("old", 0, "an error", attempt=1, seconds=None, outcomes={}),
            lambda: store.crash("old", 0, "an error", attempt=1, attempts=1),
            lambda: store.release("old", 0, "let go", attempt=1),
            lambda: store.abandon("old", 0),
            lambda: store.replace_problem("old", "[]"),
            lambda: store.change_problem("old", "[]"),
            lambda: store.problems("old"),
            lambda: store.record("old"),
            lambda: store.rename("old", "b"),
            lambda: store.enqueue("old", []),
            lambda: store.add_all("old", []),
            lambda: store.correct("old", 0, {}, "a slip"),
            lambda: store.exclude("old", 0, "a slip"),
            lambda: store.include("old", 0, "a slip"),
        ):
            with pytest.raises(StudyGone, match="deleted, or started anew"):
                use()
        revision, (kept,) = store.changes("new", 0)
        assert_same(kept, asked)
        assert (revision, store.load("a").problem) == (1, "{}")

    def test_an_older_copy_of_a_study_is_noticed(self, store: Store):
        store.open("a", "{}", 0, "a")
        with pytest.raises(StorageError, match="older copy"):
            store.changes("a", 1)

    def test_a_replaced_problem_stays_and_is_a_change(self, store: Store):
        store.open(STUDY, "{}", 3, STUDY)
        store.replace_problem(STUDY, '{"tasks": "\N{GREEK SMALL LETTER MU}"}')
        assert self.another(store).load(STUDY).problem == '{"tasks": "\N{GREEK SMALL LETTER MU}"}'
        assert store.load(STUDY).seed == 3
        assert store.changes(STUDY, 0) == (1, [])
        assert [each.problem for each in store.problems(STUDY)] == ['{"tasks": "\N{GREEK SMALL LETTER MU}"}']

    def test_a_changed_problem_leaves_the_earlier_ones_in_the_history(self, store: Store):
        first = store.open(STUDY, "{}", 3, STUDY)
        assert store.record(STUDY) == first
        self.another(store).change_problem(STUDY, '{"b": 1}')
        store.change_problem(STUDY, '{"c": 1}')
        store.replace_problem(STUDY, '{"c": 1.0}')
        kept = self.another(store).problems(STUDY)
        assert [each.problem for each in kept] == ["{}", '{"b": 1}', '{"c": 1.0}']
        assert sorted(each.since for each in kept) == [each.since for each in kept]
        assert self.another(store).record(STUDY).problem == store.load(STUDY).problem == '{"c": 1.0}'
        assert store.changes(STUDY, 0) == (3, [])

    def test_a_renamed_study_is_the_same_and_its_name_is_free(self, store: Store):
        for name in ("a", "b"):
            store.open(name, "{}", 0, name)
            ask(store, name=name)
        with pytest.raises(StorageError, match="another study of the storage is called 'b'"):
            store.rename("a", "b")
        with pytest.raises(StorageError, match="name was"):
            store.rename("a", " ")
        store.rename("a", "a")
        store.rename("a", "a (set aside)")
        assert self.another(store).names() == ["a (set aside)", "b"]
        assert store.load("a (set aside)").identity == "a"
        assert self.another(store).record("a").name == "a (set aside)"
        assert len(store.changes("a", 0)[1]) == 1
        assert store.open("a", "{}", 0, "new").identity == "new"
        assert store.changes("new", 0) == (0, [])
