"""What is kept of evaluations comes back exactly, and to readers as it changes."""

import math

import pytest

from pesky.errors import DataError
from pesky.store import State, Store
from pesky.testing.store.base import LONG, STUDY, StoreTest, ask, assert_same

MU = "\N{GREEK SMALL LETTER MU}"
VALUES = (
    *(0.1, 1 / 3, 1e-300, 5e-324, 1.7976931348623157e308, -0.0, 1.0),
    *(7, 2**53 + 1, -(10**30), True, False),
    *("", "1", "null", '"{', "a\nb", "a\0b", "\ud800", "\N{SNOWMAN}\N{GRINNING FACE}"),
)


class PersistenceContract(StoreTest):
    """What a store promises about what it keeps."""

    def test_everything_that_was_asked_is_kept(self, study: Store):
        first = ask(study, params={"x": 0.25}, gain=0.125, price=3.5, worker="w", lease=LONG)
        assert (first.id, first.task, dict(first.params)) == (0, "t", {"x": 0.25})
        assert (first.gain, first.price, first.state, first.attempts) == (0.125, 3.5, State.RUNNING, 1)
        assert (first.worker, first.error, first.ended, dict(first.outcomes)) == ("w", None, None, {})
        assert first.began == first.asked
        assert first.expires == pytest.approx(first.asked + LONG, abs=1e-3)
        assert_same(self.another(study).changes(STUDY, 0)[1][0], first)
        second = ask(study)
        assert (second.id, second.state, second.gain, second.worker) == (1, State.PENDING, None, None)
        assert second.expires is None
        assert second.revision > first.revision

    def test_values_come_back_exactly(self, study: Store):
        given = {f"{number} {MU}": value for number, value in enumerate(VALUES)}
        asked = ask(study, params=given)
        kept = self.another(study).changes(STUDY, 0)[1][0]
        for found in (asked.params, kept.params):
            assert list(found.items()) == list(given.items())
            assert [type(value) for value in found.values()] == [type(value) for value in VALUES]
            assert [str(value) for value in found.values()] == [str(value) for value in VALUES]  # 0.0 == -0.0

    def test_outcomes_come_back_exactly(self, study: Store):
        ask(study)
        given = {f"{number} {MU}": value for number, value in enumerate(VALUES) if isinstance(value, float)}
        told = study.tell(STUDY, 0, given, given, 1 / 3)
        kept = self.another(study).changes(STUDY, 0)[1][0]
        for found in (told, kept):
            assert repr(dict(found.outcomes)) == repr(given)
            assert found.seconds == 1 / 3

    def test_values_that_are_no_values_are_refused(self, study: Store):
        with pytest.raises(DataError, match="'x' was nan"):
            ask(study, params={"x": math.nan})
        ask(study)
        with pytest.raises(DataError, match="f was inf"):
            study.tell(STUDY, 0, {"c": 1.0, "f": math.inf}, ["f"], None)
        with pytest.raises(DataError, match="f was nan"):
            study.add(STUDY, "t", {"x": 0}, {"f": math.nan})
        assert [dict(each.outcomes) for each in study.changes(STUDY, 0)[1]] == [{}]

    def test_any_text_can_be_an_error_or_a_worker(self, study: Store):
        odd = f"{MU}\n\0\ud800"
        ask(study, worker=odd, lease=LONG)
        assert study.renew(STUDY, {0: 1}, LONG) == {0}
        failed = study.fail(STUDY, 0, odd, attempt=1, seconds=2.0, outcomes={})
        assert str(failed.error).startswith(f"{MU}\n")
        assert "\0" not in str(failed.error).encode().decode()  # what every database can hold
        assert_same(self.another(study).changes(STUDY, 0)[1][0], failed)
        assert_same(study.fail(STUDY, 0, odd, attempt=1, seconds=2.0, outcomes={}), failed)

    def test_data_of_your_own_are_done(self, study: Store):
        added = study.add(STUDY, "t", {"x": 1}, {"f": 2.0})
        assert (added.state, added.price, added.attempts, added.is_yours) == (State.DONE, 0.0, 0, True)
        assert_same(self.another(study).changes(STUDY, 0)[1][0], added)
        assert ask(study).id == 1

    def test_changes_are_what_changed_since(self, study: Store):
        for _ in range(3):
            ask(study)
        before, _ = study.changes(STUDY, 0)
        study.tell(STUDY, 2, {"f": 1.0}, ["f"], None)
        study.tell(STUDY, 0, {"f": 1.0}, ["f"], None)
        revision, changed = study.changes(STUDY, before)
        assert [each.id for each in changed] == [0, 2]
        assert before < changed[1].revision < changed[0].revision == revision
        assert study.changes(STUDY, revision) == (revision, [])
