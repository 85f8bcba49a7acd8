"""A study that remembers: continued, shared, refused where it is another."""

import math
import threading

import pytest
from study.quick import COUPLED, QUICK, SPACE, SPLIT, at, measure, quick

from pesky import DataError, Problem, ProblemError, Real, StorageError, Study, Task
from pesky.errors import StudyGone
from pesky.store import Limit, Question, State


@pytest.fixture
def url(tmp_path) -> str:
    return f"sqlite:///{tmp_path}/study.db"


def test_opening_a_study_again_continues_it(url):
    first = quick(storage=url, name="net", seed=4)
    first.run(measure, budget=5)
    again = quick(storage=url, name="net", seed=99)
    assert again.seed == 4
    assert dict(again.evaluations) == dict(first.evaluations)
    # Fits that began elsewhere end a little elsewhere.
    assert again.recommend().params == pytest.approx(first.recommend().params, abs=1e-4)
    assert again.ask() == quick(storage=url, name="net").evaluations[5]


def test_a_stored_study_asks_what_one_in_memory_asks(url):
    stored, memory = quick(storage=url), quick()
    for s in (stored, memory):
        s.run(measure, budget=6)
    one, two = (list(s.evaluations.values()) for s in (stored, memory))
    assert [e.params for e in one] == [e.params for e in two]


def test_another_problem_is_refused_with_the_difference(url):
    quick(storage=url, name="net")
    other = Problem({"x": Real(0, 2), "z": Real(0, 1)}, maximize="f", constraints=["c >= 1"], tasks={"one": ["f", "c"]})
    with pytest.raises(ProblemError) as caught:
        quick(other, storage=url, name="net")
    text = str(caught.value)
    for line in (
        "the study 'net' is stored with another problem",
        "parameter 'y' is gone",
        "parameter 'z' is new: real",
        "give the new study another name",
    ):
        assert line in text, text


def test_how_things_are_measured_may_change(url):
    quick(SPLIT, storage=url)
    dearer = Problem(
        SPACE, minimize="f", constraints=["c >= 0"], noise=0.01,
        tasks={"score": Task(["f"], cost="measured", timeout=5), "check": Task(["c"], cost=2)},
        resources={"desk": ["score", "check"]},
    )  # fmt: skip
    quick(dearer, storage=url)
    assert Study.load(url).problem == dearer


def test_a_stored_study_is_loaded_by_name_or_as_the_only_one(url):
    quick(storage=url, name="one").run(measure, budget=4)
    assert Study.load(url, rule=QUICK).name == "one"
    assert Study.load(url).problem == COUPLED
    quick(SPLIT, storage=url, name="two")
    with pytest.raises(StorageError, match="which study\\? The storage holds 'one', 'two'"):
        Study.load(url)
    with pytest.raises(StorageError, match="unknown study 'thre'"):
        Study.load(url, "thre")


def test_two_who_ask_at_once_know_of_each_other(url):
    """Both have decided on the same data; the second finds the first's question there and decides again."""
    one, two = (quick(storage=url) for _ in range(2))
    one.run(measure, budget=4)
    append = two.store.append
    meanwhile = []

    def overtaken(*args, **kwargs):
        if not meanwhile:
            meanwhile.append(one.ask())
        return append(*args, **kwargs)

    two.store.append = overtaken
    second = two.ask()
    (first,) = meanwhile
    assert (first.id, second.id) == (4, 5)
    assert math.dist(at(first.params), at(second.params)) > 1e-2


def test_an_asker_who_is_always_overtaken_gets_a_question_of_its_own(url):
    one, two = (quick(storage=url) for _ in range(2))
    one.run(measure, budget=4)
    append, others = two.store.append, []

    def overtaken(*args, **kwargs):
        if len(others) < 8:
            others.append(one.ask())
        return append(*args, **kwargs)

    two.store.append = overtaken
    mine = two.ask()
    assert two.time_budget.decisions.total() <= 6
    assert mine.params not in [e.params for e in others]


def test_threads_may_share_a_study():
    s = quick()
    asked = []

    def work():
        for _ in range(4):
            e = s.ask(limit=Limit(evaluations=12))
            s.tell(e, measure(e.params))
            asked.append(e.id)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(asked) == list(range(12))


def test_telling_does_not_wait_for_asking(monkeypatch):
    s = quick()
    s.run(measure, budget=3)
    waiting = s.ask()
    suggest, is_deciding, may_end = s._asker.suggest, threading.Event(), threading.Event()

    def slow(*args, **given):
        is_deciding.set()
        assert may_end.wait(30)
        return suggest(*args, **given)

    monkeypatch.setattr(s._asker, "suggest", slow)
    asker = threading.Thread(target=s.ask)
    asker.start()
    assert is_deciding.wait(30)
    s.tell(waiting, measure(waiting.params))  # would wait for ever
    assert s.evaluations[waiting.id].state is State.DONE
    may_end.set()
    asker.join()


def test_a_lease_that_runs_out_frees_the_question_and_a_late_result_is_taken():
    s = quick()
    slow = s.ask(worker="slow", lease=1e-6)
    again = s.ask(worker="quick", lease=60)
    assert (again.id, again.params, again.attempts) == (slow.id, slow.params, 2)
    assert not s.renew(slow, 60)
    assert s.renew(again, 60)
    s.tell(slow, measure(slow.params))
    assert s.evaluations[slow.id].state is State.DONE
    s.tell(again, measure(again.params))  # the same result twice changes nothing
    with pytest.raises(DataError, match="f was told as"):
        s.tell(again, {"f": 77.0})


def test_only_an_evaluation_with_a_lease_can_be_renewed():
    s = quick()
    with pytest.raises(DataError, match="has no lease"):
        s.renew(s.ask(), 5)


def test_a_lost_question_of_another_task_is_not_handed_to_this_one():
    s = quick(SPLIT)
    s.ask("score", worker="gone", lease=1e-6)
    other = s.ask("check")
    assert other.task == "check"
    assert s.ask("score").attempts == 2


def test_what_always_loses_its_worker_has_failed_where_that_is_asked_for():
    s = quick(initial=1)
    for attempt in (1, 2):
        assert s.ask(worker="gone", lease=1e-6, losses=2).attempts == attempt
    later = s.ask(worker="gone", lease=60, losses=2)
    assert later.id == 1
    assert s.evaluations[0].state is State.FAILED
    assert s.evaluations[0].is_given_up


def test_a_lease_that_ran_out_is_there_again_unless_someone_took_over():
    s = quick()
    slow = s.ask(worker="slow", lease=1e-6)
    assert s.evaluations[slow.id].state is State.LOST
    assert s.renew(slow, 60)
    assert s.evaluations[slow.id].state is State.RUNNING


def test_a_study_that_is_started_anew_takes_nothing_of_the_old_one(url):
    """Results of what was asked before belong to other points, though their numbers are the same."""
    old = quick(storage=url)
    asked = old.ask(worker="w", lease=60)
    again = quick(storage=url)
    again.store.delete(again.identity)
    new = quick(storage=url, seed=1)
    first = new.ask(worker="w", lease=60)
    assert (first.id, first.params == asked.params) == (asked.id, False)
    for use in (
        lambda: old.tell(asked, measure(asked.params)),
        lambda: old.renew(asked, 60),
        lambda: old.fail(asked, "an error"),
        lambda: old.evaluations,
        old.ask,
    ):
        with pytest.raises(StudyGone, match="started anew"):
            use()
    with pytest.raises(DataError, match="was asked by another study"):
        new.tell(asked, measure(asked.params))
    assert not new.evaluations[first.id].outcomes


def test_who_lets_go_has_not_failed():
    s = quick()
    first = s.ask(worker="w", lease=60)
    s.release(first, "preempted")
    assert s.evaluations[first.id].cause == "released"
    assert s.ask(worker="v", lease=60).id == first.id


def test_a_row_that_does_not_fit_the_problem_is_said_so(url):
    s = quick(storage=url)
    s.store.append(s.identity, Question("all", {"x": "7", "y": 0}), known=None, limit=Limit(), worker=None, lease=None)
    with pytest.raises(StorageError, match=r"evaluation 0 is stored with what does not fit.*'x' was '7'"):
        _ = s.evaluations


@pytest.mark.parametrize("tasks", ["skore", ["score", "chek"], []])
def test_a_task_that_does_not_exist_is_refused(tasks):
    with pytest.raises(ProblemError, match="task"):
        quick(SPLIT).ask(tasks)
