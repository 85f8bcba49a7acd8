"""Results that the storage would not take: written beside it, and taken in later."""

import errno
import json
import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from study.quick import measure, quick

from pesky import DataError, StorageError
from pesky.errors import StorageAway
from pesky.run import rescue as rescuing
from pesky.run.rescue import Result, read_results, rescue
from pesky.store import MemoryStore, State

RESULTS = [
    Result("5f2c", 3, 1, "all", {"x": 0.25, "kind": "low"}, {"f": 1.5}, None, 2.0),
    Result("5f2c", 4, 2, "all", {"x": 1 / 3, "kind": "high"}, {}, "diverged", None),
]


def test_what_is_written_is_read_again(tmp_path):
    rescued = rescue(RESULTS, tmp_path / "study.db")
    assert rescued is not None
    assert rescued.path.parent == tmp_path
    assert rescued.path.name.startswith("study.db.untold-")
    assert read_results(rescued.path) == RESULTS
    assert "2 results that were measured" in str(rescued)
    assert rescue([], tmp_path / "study.db") is None


def test_where_nothing_can_be_written_there_is_another_place(tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(rescuing.tempfile, "gettempdir", lambda: str(tmp_path / "temporary"))
    monkeypatch.chdir(tmp_path)
    write = rescuing._write

    def full(path: Path, text: str) -> None:
        if path.parent != tmp_path / "temporary":
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, text)

    monkeypatch.setattr(rescuing, "_write", full)
    rescued = rescue(RESULTS, tmp_path / "study.db")
    assert rescued is not None
    assert read_results(rescued.path) == RESULTS


def test_where_nothing_can_be_written_at_all_the_results_are_printed(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(rescuing, "_write", lambda path, text: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
    with caplog.at_level(logging.ERROR, "pesky"):
        assert rescue(RESULTS, tmp_path / "study.db") is None
    lines = [record.getMessage() for record in caplog.records]
    assert [json.loads(line)["id"] for line in lines[1:]] == [3, 4]


@pytest.mark.parametrize("text", ["no json", "[1]", '{"id": 3}', '{"study": "5f2c", "surprise": 1}', "\xff"])
def test_a_file_of_something_else_is_refused(tmp_path, text):
    path = tmp_path / "some.jsonl"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError, match=r"some\.jsonl"):
        read_results(path)
    with pytest.raises(DataError, match="cannot be read"):
        read_results(tmp_path / "none")


WRONG = {
    "study": [None, 7],
    "id": [None, "3", 3.5, True],
    "attempt": [None, "1"],
    "task": [None, 7],
    "params": [None, [1]],
    "outcomes": [None, [1], {"f": None}, {"f": "1"}, {"f": [1]}],
    "error": [7, ["no"]],
    "seconds": ["long", True],
    "attributes": [None, [1]],
}


@pytest.mark.parametrize("field", WRONG)
def test_a_field_of_another_kind_is_refused_with_its_line(tmp_path, field):
    path, s = tmp_path / "some.jsonl", quick()
    good = {"study": s.identity, "id": 0, "attempt": 1, "task": "all", "params": {}, "outcomes": {"f": 1, "c": 2}}
    s.ask()
    for value in WRONG[field]:
        path.write_text(f"{json.dumps(good)}\n{json.dumps({**good, field: value})}\n")
        with pytest.raises(DataError, match=rf"line 2: .*{field} was"):
            s.recover(path)
    path.write_text(json.dumps(good))
    assert s.recover(path)[0].state is State.DONE


def test_lists_in_lists_without_end_and_endless_numbers_are_refused(tmp_path):
    path = tmp_path / "some.jsonl"
    for text in ("[" * 100_000, '{"a":' * 100_000, "1" * 10_000, '{"study": "a", "id": ' + "1" * 10_000 + "}"):
        path.write_text(text)
        with pytest.raises(DataError, match="line 1: expected a result"):
            read_results(path)


class Failing(MemoryStore):
    """A store that takes no more results after the first two; `file` is where it would be."""

    def __init__(self, error: StorageError, file: Path) -> None:
        super().__init__()
        self.error, self.file, self.is_broken, self.told = error, file, True, 0

    def tell(self, *given, **named):
        self.told += 1
        if self.is_broken and self.told > 2:
            raise self.error
        return super().tell(*given, **named)


def test_a_storage_that_takes_no_more_ends_the_run_and_nothing_is_lost(tmp_path, caplog):
    store = Failing(StorageError("the disk is read-only"), tmp_path / "study.db")
    s = quick(storage=store)
    with pytest.raises(StorageError, match="read-only"), caplog.at_level(logging.ERROR, "pesky"):
        s.run(measure, budget=6, workers=2)
    (path,) = tmp_path.glob("study.db.untold-*.jsonl")
    assert str(path) in caplog.text
    results = read_results(path)
    assert 1 <= len(results) <= 2
    store.is_broken = False
    taken = s.recover(path)
    assert [e.state for e in taken] == [State.DONE] * len(results)
    assert all(dict(e.outcomes) == measure(e.params) for e in taken)
    assert [e.id for e in s.recover(path)] == [e.id for e in taken]  # again changes nothing
    assert s.run(measure, budget=6).evaluations == 6


def test_a_file_that_is_deleted_ends_the_run_and_what_comes_after_is_kept_beside_it(tmp_path):
    s = quick(storage=f"sqlite:///{tmp_path}/study.db")

    def delete(params):
        if len(s.evaluations) == 2:
            for path in tmp_path.glob("study.db*"):
                path.unlink()
        return measure(params)

    with pytest.raises(StorageError, match="is gone"), ThreadPoolExecutor(1) as pool:
        s.run(delete, budget=6, executor=pool)
    (path,) = tmp_path.iterdir()
    assert [result.id for result in read_results(path)] == [1]
    with pytest.raises(StorageError, match="is gone"):
        s.tell(0, {"f": 1.0, "c": 1.0})


def test_an_error_that_nobody_expected_ends_the_run_with_it(tmp_path):
    store = Failing(StorageError("never"), tmp_path / "study.db")
    store.error = ZeroDivisionError("a fault of the store")  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(ZeroDivisionError, match="a fault of the store"):
        quick(storage=store).run(measure, budget=6)
    assert len(list(tmp_path.glob("study.db.untold-*.jsonl"))) == 1


def test_a_storage_that_is_away_is_said_at_once_and_awaited(tmp_path, caplog):
    store = Failing(StorageAway("the disk is full."), tmp_path / "study.db")
    s = quick(storage=store)

    def watch(progress):
        store.is_broken = store.told < 5

    with caplog.at_level(logging.WARNING, "pesky"):
        assert s.run(measure, budget=4, watch=watch).evaluations == 4
    assert caplog.text.count("the disk is full. What was measured is kept here") == 1
    assert not list(tmp_path.iterdir())


def test_results_of_another_study_are_refused(tmp_path):
    rescued = rescue(RESULTS, tmp_path / "study.db")
    assert rescued is not None
    with pytest.raises(DataError, match="results of another study"):
        quick().recover(rescued.path)
