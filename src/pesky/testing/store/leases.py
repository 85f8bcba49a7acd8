"""Who may ask, and what becomes of evaluations whose workers fall silent."""

import time

from pesky.store import Cause, Evaluation, Limit, Question, Refusal, State, Store
from pesky.testing.store.base import GONE, LONG, STUDY, StoreTest, append, ask, assert_same


class LeasesContract(StoreTest):
    """What a store promises about asking, leases and claims."""

    def test_a_question_of_someone_who_missed_others_is_refused(self, study: Store):
        assert ask(study, known=0) == Evaluation(0, "t", {"x": 0.5})
        assert study.append(STUDY, Question("t", {}), known=0, limit=Limit(), worker=None, lease=None) == Refusal(
            is_outdated=True, is_beyond_limit=False
        )
        study.add(STUDY, "t", {"x": 1}, {"f": 2.0})
        assert isinstance(append(study, known=1), Refusal)
        assert isinstance(append(study, known=2), Evaluation)
        assert isinstance(append(study, known=None), Evaluation)

    def test_no_more_than_the_limit_is_asked(self, study: Store):
        beyond = Refusal(is_outdated=False, is_beyond_limit=True)
        study.add(STUDY, "t", {"x": 1}, {"f": 2.0})  # your own data are free
        for _ in range(3):
            ask(study, price=0.1, limit=Limit(3, 0.3))  # 0.1 + 0.1 + 0.1 > 0.3, to a computer
        assert append(study, price=0.1, limit=Limit(3)) == beyond
        assert append(study, price=0.1, limit=Limit(cost=0.3)) == beyond
        assert append(study, price=0.1, known=0, limit=Limit(3)) == Refusal(is_outdated=True, is_beyond_limit=True)
        study.release(STUDY, 1, "let go", attempt=None)  # to be asked again, by `claim`
        study.fail(STUDY, 2, "an error", attempt=None, seconds=None, outcomes={})
        assert append(study, price=0.1, limit=Limit(3)) == beyond
        study.abandon(STUDY, 1)
        ask(study, price=0.1, limit=Limit(3, 0.3))
        study.tell(STUDY, 2, {"c": 1.0}, ["f", "c"], None)
        study.abandon(STUDY, 2)  # it has an outcome, which was paid for
        assert append(study, price=0.1, limit=Limit(cost=0.3)) == beyond

    def test_a_lease_that_ran_out_is_lost_by_the_clock_of_the_storage(self, study: Store):
        asked = ask(study, worker="w", lease=0.2)
        ask(study, worker="w", lease=LONG)
        time.sleep(0.25)
        revision, (first, second) = self.another(study).changes(STUDY, 0)
        assert (first.state, first.expires, first.ended) == (State.LOST, None, asked.expires)
        assert first.error
        assert second.state == State.RUNNING
        assert first.revision == revision > second.revision

    def test_only_the_holder_of_a_lease_renews_it(self, study: Store):
        for worker, lease in (("mine", LONG), ("other", LONG), ("mine", GONE), ("mine", LONG), ("mine", None)):
            ask(study, worker=worker, lease=lease)
        study.tell(STUDY, 3, {"f": 1.0}, ["f"], None)
        revision, before = study.changes(STUDY, 0)
        assert study.renew(STUDY, {0: 1, 1: 2, 3: 1, 4: 1, 99: 1}, 2 * LONG) == {0}
        _, (renewed,) = study.changes(STUDY, revision)
        assert renewed.state == State.RUNNING
        assert renewed.expires is not None
        assert before[0].expires is not None
        assert renewed.expires > before[0].expires + LONG / 2
        assert study.renew(STUDY, {}, LONG) == set()

    def test_a_worker_that_comes_back_before_anyone_took_over_has_its_lease_again(self, study: Store):
        for _ in range(3):
            ask(study, worker="w", lease=GONE)
        study.claim(STUDY, ["t"], losses=None, worker="v", lease=LONG)
        study.release(STUDY, 0, "let go", attempt=2)
        assert study.renew(STUDY, {0: 1, 1: 1}, LONG) == {1}
        assert study.renew(STUDY, {0: 2}, LONG) == set(), "who let go does not hold it any more"
        back = study.changes(STUDY, 0)[1][1]
        assert (back.state, back.error, back.cause, back.ended) == (State.RUNNING, None, None, None)
        assert (back.losses, back.history, back.attempts) == (0, (), 1)
        assert back.expires is not None
        assert_same(self.another(study).changes(STUDY, 0)[1][1], back)

    def test_work_that_is_lost_is_tried_for_ever_and_that_is_remembered(self, study: Store):
        ask(study, worker="w 0", lease=GONE)
        for attempt in range(1, 31):
            again = study.claim(STUDY, ["t"], losses=None, worker=f"w {attempt}", lease=GONE)
            assert again is not None
            assert (again.id, again.attempts, again.losses, again.crashes) == (0, attempt + 1, attempt, 0)
        lost = study.changes(STUDY, 0)[1][0]
        assert (lost.state, lost.cause) == (State.LOST, Cause.LOST)
        assert [each.worker for each in lost.history] == [f"w {number}" for number in range(11, 31)]
        assert {each.cause for each in lost.history} == {Cause.LOST}

    def test_what_is_lost_is_handed_out_again_in_order(self, study: Store):
        for task in ("a", "b", "a"):
            ask(study, task=task, worker="w", lease=GONE)
        ask(study, task="a", worker="w", lease=LONG)
        again = study.claim(STUDY, ["a"], losses=None, worker="v", lease=LONG)
        assert again is not None
        assert (again.id, again.state, again.attempts, again.worker) == (0, State.RUNNING, 2, "v")
        assert (again.error, again.ended) == (None, None)
        assert again.began is not None
        assert again.began >= again.asked
        assert_same(self.another(study).changes(STUDY, 0)[1][0], again)
        pending = study.claim(STUDY, {"a", "b"}, losses=None, worker=None, lease=None)
        assert pending is not None
        assert (pending.id, pending.state, pending.expires) == (1, State.PENDING, None)
        assert study.claim(STUDY, [], losses=None, worker="v", lease=LONG) is None
        assert study.claim(STUDY, ["a"], losses=None, worker="v", lease=LONG) == Evaluation(2, "a", {"x": 0.5})
        assert study.claim(STUDY, ["a", "b"], losses=None, worker="v", lease=LONG) is None

    def test_what_is_lost_too_often_fails_where_that_was_asked_for(self, study: Store):
        ask(study, worker="w", lease=GONE)
        study.claim(STUDY, ["t"], losses=2, worker="w", lease=GONE)
        ask(study, worker="w", lease=GONE)
        claimed = study.claim(STUDY, ["t"], losses=2, worker="w", lease=LONG)
        assert claimed is not None
        assert claimed.id == 1
        failed = study.changes(STUDY, 0)[1][0]
        assert (failed.state, failed.attempts, failed.is_given_up) == (State.FAILED, 2, True)
        assert "2 times" in str(failed.error)
