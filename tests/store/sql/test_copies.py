"""An older copy in the place of a database that is open: noticed in words, whatever SQLite remembers of the other."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from pesky.errors import StorageAway, StorageError
from pesky.store import Store, open_store
from pesky.store.sql.database import Database
from pesky.testing.store.base import LONG, STUDY, ask

USES: dict[str, Callable[[Store], object]] = {
    "append": ask,
    "changes": lambda store: store.changes(STUDY, 0),
    "tell": lambda store: store.tell(STUDY, 0, {"f": 1.0}, ["f"], 1),
    "claim": lambda store: store.claim(STUDY, ["t"], losses=None, worker="w", lease=LONG),
    "renew": lambda store: store.renew(STUDY, {0: 1}, LONG),
    "change_problem": lambda store: store.change_problem(STUDY, "[]"),
}


@pytest.mark.parametrize("use", USES)
def test_a_study_whose_revision_went_back_is_an_older_copy(url: str, use: str):
    store, other = open_store(url), open_store(url)
    store.open(STUDY, "{}", 0, STUDY)
    for _ in range(3):
        ask(store)
    other.changes(STUDY, 0)
    back = Database(url)
    back.write(lambda connection: connection.execute(text("UPDATE pesky_studies SET revision = revision - 1")))
    for each in (store, other):
        with pytest.raises(StorageError, match="revision 2, and revision 3 of it was known: an older copy was put in"):
            USES[use](each)
    store.close()
    USES[use](store)  # who opens it anew goes on with it
    for each in (store, other, back):
        each.close()


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("was_closed", [False, True])
def test_a_copy_over_an_open_database_is_noticed(sqlite_url: str, tmp_path: Path, use: str, was_closed: bool):
    path, store = tmp_path / "study.db", open_store(sqlite_url)
    store.open(STUDY, "{}", 0, STUDY)
    for _ in range(3):
        ask(store)
    store.close()
    shutil.copy(path, tmp_path / "copy")
    for _ in range(60):
        ask(store)
    store.close()  # all is in the file itself by now
    ask(store)
    if was_closed:
        store.close()
        store.changes(STUDY, 0)
    before = os.stat(path).st_ino
    shutil.copy(tmp_path / "copy", path)
    assert os.stat(path).st_ino == before
    with pytest.raises(StorageError) as caught:
        USES[use](store)
    assert not isinstance(caught.value, StorageAway)
    store.close()


def test_what_another_process_moves_into_the_file_is_no_copy(sqlite_url: str):
    store, other = open_store(sqlite_url), open_store(sqlite_url)
    store.open(STUDY, "{}", 0, STUDY)
    checkpoint = Database(sqlite_url)
    for i in range(3):
        ask(other)
        checkpoint.write(lambda connection: None)
        checkpoint.read(lambda connection: connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").all())
        assert ask(store).id == 2 * i + 1
    assert len(store.changes(STUDY, 0)[1]) == 6
    for each in (store, other, checkpoint):
        each.close()
