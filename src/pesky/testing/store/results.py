"""Results are facts, whenever they come; failures, releases and abandonments are opinions."""

import math

import pytest

from pesky.errors import DataError
from pesky.store import Cause, State, Store
from pesky.testing.store.base import GONE, LONG, STUDY, StoreTest, ask, assert_same

BOTH = ("f", "c")


class ResultsContract(StoreTest):
    """What a store promises about results."""

    def test_an_evaluation_is_done_when_everything_was_told(self, study: Store):
        ask(study, worker="w", lease=LONG)
        part = study.tell(STUDY, 0, {"f": 1.0}, BOTH, None)
        assert (part.state, dict(part.outcomes), part.ended) == (State.RUNNING, {"f": 1.0}, None)
        assert part.expires is not None
        whole = study.tell(STUDY, 0, {"c": 2.0}, BOTH, 4.5)
        assert (whole.state, dict(whole.outcomes), whole.seconds) == (State.DONE, {"f": 1.0, "c": 2.0}, 4.5)
        assert (whole.expires, whole.worker) == (None, "w")
        assert whole.ended is not None
        assert whole.ended >= whole.asked
        assert_same(self.another(study).changes(STUDY, 0)[1][0], whole)

    @pytest.mark.parametrize("end", ["lost", "claimed", "failed", "released", "abandoned"])
    def test_a_late_result_is_a_fact(self, study: Store, end: str):
        ask(study, worker="w", lease=GONE if end in ("lost", "claimed") else LONG)
        if end == "claimed":
            study.claim(STUDY, ["t"], losses=None, worker="v", lease=LONG)
        elif end == "failed":
            study.fail(STUDY, 0, "an error", attempt=1, seconds=None, outcomes={})
        elif end == "released":
            study.release(STUDY, 0, "let go", attempt=1)
        elif end == "abandoned":
            study.abandon(STUDY, 0)
        before = study.changes(STUDY, 0)[1][0]
        part = study.tell(STUDY, 0, {"f": 1.0}, BOTH, None)
        assert (part.state, dict(part.outcomes)) == (before.state, {"f": 1.0})
        whole = study.tell(STUDY, 0, {"f": 1.0, "c": 2.0}, BOTH, None)
        assert (whole.state, whole.error, whole.attempts) == (State.DONE, None, before.attempts)
        assert study.claim(STUDY, ["t"], losses=None, worker="v", lease=LONG) is None

    def test_the_same_result_twice_changes_nothing(self, study: Store):
        ask(study)
        first = study.tell(STUDY, 0, {"f": 1.0, "c": 2.0}, BOTH, 1.0)
        assert_same(study.tell(STUDY, 0, {"f": 1.0, "c": 2.0}, BOTH, 99.0), first)
        assert_same(study.tell(STUDY, 0, {"c": 2.0}, BOTH, None), first)
        assert_same(study.tell(STUDY, 0, {}, BOTH, None), first)
        assert study.changes(STUDY, 0)[0] == first.revision

    def test_another_result_is_refused_and_nothing_of_it_is_kept(self, study: Store):
        ask(study)
        first = study.tell(STUDY, 0, {"f": 1.0}, BOTH, None)
        with pytest.raises(DataError, match=r"#0 t at x=0.5.*f was told as 1.0 before and as 1.5 now"):
            study.tell(STUDY, 0, {"c": 2.0, "f": 1.5}, BOTH, None)
        with pytest.raises(DataError, match="f was told"):
            study.fail(STUDY, 0, "an error", attempt=None, seconds=None, outcomes={"c": 2.0, "f": 1.5})
        revision, (kept,) = study.changes(STUDY, 0)
        assert_same(kept, first)
        assert revision == first.revision
        added = study.add(STUDY, "t", {"x": 1}, {"f": 1.0})
        with pytest.raises(DataError, match="f was told"):
            study.tell(STUDY, added.id, {"f": 2.0}, ["f"], None)

    def test_an_id_that_does_not_exist_is_refused(self, study: Store):
        with pytest.raises(DataError, match="no evaluation 0: nothing was asked yet"):
            study.tell(STUDY, 0, {"f": 1.0}, ["f"], None)
        ask(study)
        for id in (1, -1, 2**70):
            for use in (
                lambda id=id: study.tell(STUDY, id, {"f": 1.0}, ["f"], None),
                lambda id=id: study.fail(STUDY, id, "an error", attempt=None, seconds=None, outcomes={}),
                lambda id=id: study.release(STUDY, id, "let go", attempt=None),
                lambda id=id: study.abandon(STUDY, id),
            ):
                with pytest.raises(DataError, match=f"no evaluation {id}: expected one of 0 to 0"):
                    use()

    def test_a_failure_keeps_its_reason_and_what_was_measured(self, study: Store):
        ask(study, worker="w", lease=LONG)
        failed = study.fail(STUDY, 0, "diverged", attempt=1, seconds=3.0, outcomes={"c": 2.0})
        assert (failed.state, failed.error, dict(failed.outcomes)) == (State.FAILED, "diverged", {"c": 2.0})
        assert (failed.seconds, failed.expires) == (3.0, None)
        assert_same(self.another(study).changes(STUDY, 0)[1][0], failed)
        assert_same(study.fail(STUDY, 0, "diverged", attempt=1, seconds=9.0, outcomes={}), failed)
        again = study.fail(STUDY, 0, "diverged badly", attempt=None, seconds=None, outcomes={})
        assert (again.error, again.seconds, dict(again.outcomes)) == ("diverged badly", 3.0, {"c": 2.0})
        assert study.claim(STUDY, ["t"], losses=None, worker="v", lease=LONG) is None

    def test_a_failure_of_a_lost_attempt_is_still_its_failure(self, study: Store):
        ask(study, worker="w", lease=GONE)
        assert study.fail(STUDY, 0, "slow", attempt=1, seconds=None, outcomes={}).state == State.FAILED

    def test_opinions_change_nothing_that_is_done_or_abandoned(self, study: Store):
        for end in (lambda: study.tell(STUDY, 0, {"f": 1.0}, ["f"], None), lambda: study.abandon(STUDY, 1)):
            ended = ask(study, worker="w", lease=LONG)
            end()
            revision, kept = study.changes(STUDY, 0)
            study.fail(STUDY, ended.id, "an error", attempt=None, seconds=None, outcomes={"f": 2.0})
            study.release(STUDY, ended.id, "let go", attempt=None)
            study.abandon(STUDY, ended.id)
            assert study.changes(STUDY, 0)[0] == revision
            assert_same(study.changes(STUDY, 0)[1][ended.id], kept[ended.id])

    def test_opinions_of_an_earlier_attempt_change_nothing(self, study: Store):
        ask(study, worker="w", lease=GONE)
        claimed = study.claim(STUDY, ["t"], losses=None, worker="v", lease=LONG)
        assert claimed is not None
        assert_same(study.fail(STUDY, 0, "an error", attempt=1, seconds=1.0, outcomes={"f": 2.0}), claimed)
        assert_same(study.release(STUDY, 0, "let go", attempt=1), claimed)
        assert study.release(STUDY, 0, "let go", attempt=2).state == State.LOST

    def test_what_is_let_go_can_be_claimed(self, study: Store):
        for lease in (LONG, None):
            asked = ask(study, worker="w", lease=lease)
            released = study.release(STUDY, asked.id, "interrupted", attempt=None)
            assert (released.state, released.error, released.expires) == (State.LOST, "interrupted", None)
            assert (released.cause, released.losses, released.crashes) == (Cause.RELEASED, 0, 0)
            assert_same(study.release(STUDY, asked.id, "again", attempt=None), released)
            claimed = study.claim(STUDY, ["t"], losses=1, worker="v", lease=LONG)
            assert claimed is not None
            assert (claimed.id, claimed.attempts, claimed.worker, claimed.cause) == (asked.id, 2, "v", None)
            assert [(each.worker, each.cause, each.error) for each in claimed.history] == [
                ("w", Cause.RELEASED, "interrupted")
            ]

    @pytest.mark.parametrize("end", ["pending", "running", "lost", "failed"])
    def test_what_is_not_done_can_be_abandoned(self, study: Store, end: str):
        ask(study, worker="w", lease={"pending": None, "lost": GONE}.get(end, LONG))
        if end == "failed":
            study.fail(STUDY, 0, "an error", attempt=1, seconds=None, outcomes={})
        before = study.changes(STUDY, 0)[1][0]
        assert before.state == State(end)
        abandoned = study.abandon(STUDY, 0)
        assert (abandoned.state, abandoned.error, abandoned.expires) == (State.ABANDONED, before.error, None)
        assert study.claim(STUDY, ["t"], losses=None, worker="v", lease=LONG) is None
        assert study.renew(STUDY, {0: 1}, LONG) == set()

    def test_a_process_that_dies_frees_its_evaluation_until_it_has_died_too_often(self, study: Store):
        ask(study, worker="w", lease=LONG)
        for crashes in (1, 2):
            free = study.crash(STUDY, 0, f"SIGSEGV {crashes}", attempt=crashes, attempts=3)
            assert (free.state, free.cause, free.crashes) == (State.LOST, Cause.CRASHED, crashes)
            assert_same(study.crash(STUDY, 0, "again", attempt=crashes, attempts=3), free)
            assert study.renew(STUDY, {0: crashes}, LONG) == set()
            study.claim(STUDY, ["t"], losses=None, worker="v", lease=LONG)
        failed = study.crash(STUDY, 0, "SIGSEGV 3", attempt=3, attempts=3)
        assert (failed.state, failed.cause, failed.is_given_up) == (State.FAILED, Cause.CRASHED, False)
        assert failed.error == "crashed 3 times, and not tried again: SIGSEGV 3"
        assert [each.error for each in failed.history] == ["SIGSEGV 1", "SIGSEGV 2", "SIGSEGV 3"]
        assert_same(self.another(study).changes(STUDY, 0)[1][0], failed)
        assert study.claim(STUDY, ["t"], losses=None, worker="v", lease=LONG) is None

    def test_a_crash_is_known_better_than_a_loss(self, study: Store):
        ask(study, worker="w", lease=GONE)
        assert study.changes(STUDY, 0)[1][0].losses == 1
        crashed = study.crash(STUDY, 0, "SIGSEGV", attempt=1, attempts=3)
        assert (crashed.cause, crashed.crashes, crashed.losses, len(crashed.history)) == (Cause.CRASHED, 1, 0, 1)

    def test_a_crash_that_was_is_no_more_once_there_is_a_result(self, study: Store):
        ask(study, worker="w", lease=LONG)
        study.crash(STUDY, 0, "SIGSEGV", attempt=1, attempts=1)
        told = study.tell(STUDY, 0, {"f": 1.0}, ["f"], None, attempt=1)
        assert (told.state, told.error, told.cause, told.crashes) == (State.DONE, None, None, 1)
        assert_same(study.crash(STUDY, 0, "SIGSEGV", attempt=1, attempts=1), told)

    def test_a_result_of_an_attempt_that_never_was_is_refused(self, study: Store):
        ask(study, worker="w", lease=GONE)
        study.claim(STUDY, ["t"], losses=None, worker="v", lease=LONG)
        with pytest.raises(DataError, match="of attempt 3, and it was handed out 2 times"):
            study.tell(STUDY, 0, {"f": 1.0}, ["f"], None, attempt=3)
        assert not study.changes(STUDY, 0)[1][0].outcomes
        assert study.tell(STUDY, 0, {"f": 1.0}, ["f"], None, attempt=1).state == State.DONE

    @pytest.mark.parametrize("seconds", [math.inf, math.nan, -1.0])
    def test_a_time_that_is_none_is_refused(self, study: Store, seconds: float):
        with pytest.raises(DataError, match="the lease was"):
            ask(study, worker="w", lease=seconds)
        ask(study, worker="w", lease=LONG)
        for use in (
            lambda: study.tell(STUDY, 0, {"f": 1.0}, ["f"], seconds),
            lambda: study.fail(STUDY, 0, "an error", attempt=1, seconds=seconds, outcomes={}),
            lambda: study.renew(STUDY, {0: 1}, seconds),
        ):
            with pytest.raises(DataError, match="expected a finite number of seconds"):
                use()
        assert study.changes(STUDY, 0)[1][0].state == State.RUNNING
