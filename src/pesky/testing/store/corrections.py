"""What a user adds and changes: attributes, reasons, corrections, questions of their own."""

import math

import pytest

from pesky.errors import DataError
from pesky.store import Change, Datum, Evaluation, Limit, Question, State, Store
from pesky.testing.store.base import GONE, LONG, STUDY, StoreTest, ask, assert_same

BOTH = ("f", "c")
ODD = {"epochs": 3, "loss": [0.5, None, True, {"deep": "text"}], "note": "\N{GREEK SMALL LETTER MU}\n"}


class CorrectionsContract(StoreTest):
    """What a store promises about what its user says of evaluations, beside their results."""

    def test_why_a_question_was_asked_is_kept(self, study: Store):
        asked = ask(study, why={"kind": "design", "gains": {"t": 0.5}})
        assert asked.why == {"kind": "design", "gains": {"t": 0.5}}
        assert ask(study).why is None
        assert_same(self.another(study).changes(STUDY, 0)[1][0], asked)

    def test_parts_of_why_that_are_of_another_kind_are_left_out(self, study: Store):
        asked = ask(study, why={"kind": 7, "values": {"t": "much"}, "left_out": [{}], "unit": "nats", "of mine": [1]})
        assert asked.why == {"unit": "nats", "of mine": [1]}
        assert_same(self.another(study).changes(STUDY, 0)[1][0], asked)

    def test_attributes_come_back_and_the_latest_of_a_name_counts(self, study: Store):
        ask(study)
        told = study.tell(STUDY, 0, {"f": 1.0}, BOTH, None, attributes=ODD)
        assert dict(told.attributes) == ODD
        assert_same(self.another(study).changes(STUDY, 0)[1][0], told)
        assert_same(study.tell(STUDY, 0, {"f": 1.0}, BOTH, None, attributes={"epochs": 3}), told)
        failed = study.fail(STUDY, 0, "no", attempt=None, seconds=None, outcomes={}, attributes={"epochs": 4})
        assert dict(failed.attributes) == {**ODD, "epochs": 4}
        assert dict(failed.outcomes) == {"f": 1.0}
        assert_same(self.another(study).changes(STUDY, 0)[1][0], failed)

    def test_attributes_that_json_has_no_word_for_lose_no_result(self, study: Store):
        ask(study)
        given = {"nan": math.nan, "set": {1}, "large": 10**400, "long": "a" * 10**6, "nul": "a\0b\ud800", 3: 1}
        deep: dict[str, object] = {}
        for _ in range(3000):
            deep = {"deep": deep}
        told = study.tell(STUDY, 0, {"f": 1.0}, ["f"], None, attributes={**given, "deep": deep})  # pyright: ignore
        assert told.state is State.DONE
        assert (told.attributes["nan"], told.attributes["set"], told.attributes["3"]) == ("nan", "{1}", 1)
        assert len(str(told.attributes)) < 50_000
        kept = self.another(study).changes(STUDY, 0)[1][0]
        assert_same(kept, told)
        assert_same(study.tell(STUDY, 0, {}, ["f"], None, attributes=kept.attributes), told)
        many = study.tell(STUDY, 0, {}, ["f"], None, attributes={f"{n}": "b" * 9000 for n in range(999)})
        assert len(str(many.attributes)) < 200_000

    def test_a_corrected_value_keeps_the_old_one_and_who_told_that_changes_nothing(self, study: Store):
        ask(study)
        study.tell(STUDY, 0, {"f": 1.0, "c": 2.0}, BOTH, 3.0)
        study.correct(STUDY, 0, {"f": 1.5, "c": 2.0}, "a slip\0")
        twice = study.correct(STUDY, 0, {"f": 1.25}, "another")
        assert (dict(twice.outcomes), twice.state, twice.seconds) == ({"f": 1.25, "c": 2.0}, State.DONE, 3.0)
        assert [(each.change, each.outcome, each.old, each.new) for each in twice.corrections] == [
            (Change.CORRECTED, "f", 1.0, 1.5), (Change.CORRECTED, "f", 1.5, 1.25)
        ]  # fmt: skip
        assert [each.reason for each in twice.corrections] == ["a slip\\x00", "another"]
        assert all(each.when.endswith("+00:00") for each in twice.corrections)
        assert_same(self.another(study).changes(STUDY, 0)[1][0], twice)
        for told in (1.0, 1.5, 1.25):
            assert_same(study.tell(STUDY, 0, {"f": told}, BOTH, None), twice)
        assert_same(study.correct(STUDY, 0, {"f": 1.25}, "the same"), twice)
        with pytest.raises(DataError, match=r"f was told as 1\.25 before and as 9\.0 now"):
            study.tell(STUDY, 0, {"f": 9.0}, BOTH, None)

    def test_only_what_was_told_is_corrected_and_only_by_numbers(self, study: Store):
        ask(study)
        before = study.tell(STUDY, 0, {"f": 1.0}, BOTH, None)
        with pytest.raises(DataError, match=r"#0 t at x=0.5: c was not told yet.*one of 'f'"):
            study.correct(STUDY, 0, {"f": 2.0, "c": 2.0}, "a slip")
        with pytest.raises(DataError, match="f was nan"):
            study.correct(STUDY, 0, {"f": math.nan}, "a slip")
        with pytest.raises(DataError, match="no evaluation 7"):
            study.correct(STUDY, 7, {"f": 2.0}, "a slip")
        assert_same(study.changes(STUDY, 0)[1][0], before)

    def test_an_excluded_evaluation_is_kept_and_counts_as_spent(self, study: Store):
        ask(study)
        study.tell(STUDY, 0, {"f": 1.0}, ["f"], None)
        out = study.exclude(STUDY, 0, "the sensor was off")
        assert (out.is_excluded, dict(out.outcomes), out.state) == (True, {"f": 1.0}, State.DONE)
        assert_same(self.another(study).changes(STUDY, 0)[1][0], out)
        assert_same(study.exclude(STUDY, 0, "again"), out)
        question = Question("t", {"x": 0.5})
        refused = study.append(STUDY, question, known=None, limit=Limit(1), worker=None, lease=None)
        assert not isinstance(refused, Evaluation)
        back = study.include(STUDY, 0, "it was on")
        assert [(each.change, each.outcome, each.reason) for each in back.corrections] == [
            (Change.EXCLUDED, None, "the sensor was off"), (Change.INCLUDED, None, "it was on")
        ]  # fmt: skip
        assert not back.is_excluded
        assert_same(study.include(STUDY, 0, "again"), back)
        assert_same(self.another(study).changes(STUDY, 0)[1][0], back)

    def test_what_is_queued_is_handed_out_first_and_counts_then(self, study: Store):
        ask(study, worker="w", lease=GONE)
        queued = study.enqueue(
            STUDY, [Question("t", {"x": 0.25}, price=2.0, why={"kind": "enqueued"}), Question("u", {})]
        )
        assert [(each.id, each.state, each.attempts) for each in queued] == [(1, State.QUEUED, 0), (2, State.QUEUED, 0)]
        assert not any(each.is_yours or each.is_open for each in queued)
        assert_same(self.another(study).changes(STUDY, 0)[1][1], queued[0])
        assert study.renew(STUDY, {1: 0}, LONG) == set()
        first = study.claim(STUDY, ["t", "u"], losses=1, worker="w", lease=LONG, limit=Limit(2))
        assert first is not None
        assert (first.id, first.state, first.attempts, first.price) == (1, State.RUNNING, 1, 2.0)
        assert study.claim(STUDY, ["u"], losses=None, worker="w", lease=LONG, limit=Limit(2)) is None
        assert study.claim(STUDY, ["u"], losses=None, worker="w", lease=LONG, limit=Limit(cost=3.5)) is None
        lost = study.claim(STUDY, ["t", "u"], losses=None, worker="w", lease=LONG, limit=Limit(2))
        assert lost is not None
        assert lost.id == 0
        assert study.abandon(STUDY, 2).state is State.ABANDONED
        assert study.claim(STUDY, ["u"], losses=None, worker="w", lease=LONG) is None

    def test_data_of_a_failure_are_a_failure_that_no_limit_counts(self, study: Store):
        (failed,) = study.add_all(STUDY, [Datum("t", {"x": 3}, {"g": 1.0}, error="burst")])
        assert (failed.state, failed.error, failed.attempts, failed.price) == (State.FAILED, "burst", 0, 0.0)
        assert failed.is_yours
        (kept,) = self.another(study).changes(STUDY, 0)[1]
        assert_same(kept, failed)
        question = Question("t", {"x": 4}, None, 1.0)
        asked = study.append(STUDY, question, known=None, limit=Limit(1), worker=None, lease=None)
        assert isinstance(asked, Evaluation)

    def test_many_data_are_added_or_none(self, study: Store):
        good = Datum("t", {"x": 1}, {"f": 2.0}, {"from": "a table"})
        with pytest.raises(DataError, match="f was nan"):
            study.add_all(STUDY, [good, Datum("t", {"x": 2}, {"f": math.nan})])
        assert study.changes(STUDY, 0) == (0, [])
        added = study.add_all(STUDY, [good, good])
        assert [(each.id, each.is_yours, dict(each.attributes)) for each in added] == [
            (0, True, {"from": "a table"}), (1, True, {"from": "a table"})
        ]  # fmt: skip
        kept = self.another(study).changes(STUDY, 0)[1]
        for found, expected in zip(kept, added, strict=True):
            assert_same(found, expected)
