"""Many who call at once: each change happens once, one after another."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from pesky.errors import DataError
from pesky.store import Evaluation, Limit, Refusal, State, Store
from pesky.testing.store.base import GONE, LONG, STUDY, StoreTest, append, ask

R = TypeVar("R")
THREADS = 6


class ConcurrencyContract(StoreTest):
    """What a store promises to threads that call at once."""

    def at_once(self, store: Store, work: Callable[[Store, int], R]) -> list[R]:
        """What each of some threads, half of them with another handle on the storage, got at the same time."""
        handles = (store, self.another(store))
        start = threading.Barrier(THREADS)

        def take_part(number: int) -> R:
            start.wait()
            return work(handles[number % 2], number)

        with ThreadPoolExecutor(THREADS) as pool:
            return list(pool.map(take_part, range(THREADS)))

    def test_a_study_that_many_create_is_created_once(self, store: Store):
        kept = self.at_once(store, lambda each, number: each.open(STUDY, f"{{{number}}}", number, f"{number}"))
        assert set(kept) == {store.load(STUDY)}
        assert store.names() == [STUDY]

    def test_every_question_has_a_number_of_its_own_and_knows_all_before_it(self, study: Store):
        def ask_thrice(each: Store, number: int) -> list[int]:
            ids: list[int] = []
            while len(ids) < 3:
                revision, evaluations = each.changes(STUDY, 0)
                assert revision == max((one.revision for one in evaluations), default=0)
                answer = append(each, known=len(evaluations))
                if isinstance(answer, Evaluation):
                    assert answer.id == len(evaluations)
                    ids.append(answer.id)
                else:
                    assert answer == Refusal(is_outdated=True, is_beyond_limit=False)
            return ids

        ids = [id for mine in self.at_once(study, ask_thrice) for id in mine]
        assert sorted(ids) == list(range(3 * THREADS))

    def test_a_crowd_stays_within_the_limit(self, study: Store):
        answers = self.at_once(study, lambda each, number: append(each, limit=Limit(4)))
        assert sum(isinstance(answer, Evaluation) for answer in answers) == 4
        assert len(study.changes(STUDY, 0)[1]) == 4

    def test_what_is_lost_is_claimed_by_one(self, study: Store):
        for _ in range(THREADS - 2):
            ask(study, worker="w", lease=GONE)
        claims = self.at_once(
            study, lambda each, number: each.claim(STUDY, ["t"], losses=None, worker=f"{number}", lease=LONG)
        )
        claimed = [(each.id, each.worker) for each in claims if each is not None]
        assert sorted(id for id, _ in claimed) == list(range(THREADS - 2))
        kept = study.changes(STUDY, 0)[1]
        assert sorted(claimed) == [(each.id, each.worker) for each in kept]
        assert {each.attempts for each in kept} == {2}

    def test_of_results_that_contradict_each_other_one_is_kept(self, study: Store):
        ask(study)

        def tell(each: Store, number: int) -> float | None:
            try:
                return each.tell(STUDY, 0, {"f": float(number)}, ["f"], None).outcomes["f"]
            except DataError:
                return None

        (told,) = [value for value in self.at_once(study, tell) if value is not None]
        kept = study.changes(STUDY, 0)[1][0]
        assert (kept.state, dict(kept.outcomes)) == (State.DONE, {"f": told})
        assert kept.revision == 2
