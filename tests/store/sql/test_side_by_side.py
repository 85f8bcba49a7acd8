"""Processes of several versions on one database, and clocks that jump."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from dumps import restore
from sqlalchemy import text

from pesky.errors import StorageError
from pesky.store import State, Store, open_store
from pesky.store.sql import schema
from pesky.store.sql.database import Database
from pesky.store.sql.store import SqlStore
from pesky.store.sql.upgrade import upgrade
from pesky.testing.store.base import LONG, STUDY, ask

OLD = Path(__file__).parents[1]
USES: dict[str, Callable[[Store], object]] = {
    "append": ask,
    "tell": lambda store: store.tell(STUDY, 0, {"f": 1.0}, ["f"], 1),
    "renew": lambda store: store.renew(STUDY, {0: 1}, LONG),
    "rename": lambda store: store.rename(STUDY, "b"),
    "exclude": lambda store: store.exclude(STUDY, 0, "a slip"),
}


def alter(url: str, statement: str) -> None:
    database = Database(url)
    database.write(lambda connection: connection.execute(text(statement)))
    database.close()


@pytest.mark.parametrize("use", USES)
def test_who_has_it_open_while_a_newer_pesky_upgrades_it_writes_no_more(url: str, use: str):
    store = open_store(url)
    store.open(STUDY, "{}", 0, STUDY)
    ask(store, worker="w", lease=LONG)
    alter(url, f"UPDATE pesky_schema SET version = {schema.VERSION + 1}")
    for _ in range(2):
        with pytest.raises(StorageError, match=r"was written by a newer pesky .*: upgrade pesky"):
            USES[use](store)
    alter(url, f"UPDATE pesky_schema SET version = {schema.VERSION}")
    USES[use](store)
    store.close()


@pytest.mark.parametrize("version", [1, 2])
def test_two_upgrades_at_once_are_one(url: str, version: int):
    restore(OLD / f"v{version}" / "study.sql", url)
    together = threading.Barrier(4)

    def begin(_: int) -> tuple[int, int]:
        together.wait()
        return upgrade(url)

    with ThreadPoolExecutor(4) as pool:
        found = sorted(pool.map(begin, range(4)))
    assert found == [(version, 3), (3, 3), (3, 3), (3, 3)]
    store = open_store(url)
    assert len(store.changes(store.load(store.names()[0]).identity, 0)[1]) > 0
    store.close()


def test_settings_are_kept_by_many_at_once_where_an_older_pesky_made_no_table_of_them(url: str):
    store = open_store(url)
    store.open(STUDY, "{}", 0, STUDY)
    alter(url, "DROP TABLE pesky_settings")
    stores, together = [open_store(url) for _ in range(6)], threading.Barrier(6)

    def keep(i: int) -> None:
        together.wait()
        for _ in range(5):
            stores[i].keep_settings(STUDY, str(i))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(keep, range(6)))
    assert store.settings(STUDY) in [str(i) for i in range(6)]
    for each in (store, *stores):
        each.close()


@pytest.mark.parametrize("jump", [-1e9, -1e6, -3600.0, -0.5, 0.5, 3600.0, 1e6, 1e9])
def test_a_clock_that_jumps_loses_no_result_and_no_question_for_good(url: str, jump: float):
    now = [2e9]
    store = SqlStore(url, lambda: now[0])
    store.open(STUDY, "{}", 0, STUDY)
    for _ in range(3):
        ask(store, worker="w", lease=60.0)
    now[0] += jump
    is_late = jump >= 60
    assert [e.state for e in store.changes(STUDY, 0)[1]] == 3 * [State.LOST if is_late else State.RUNNING]
    assert store.renew(STUDY, {0: 1}, 60.0) == {0}  # who still works on it has it again
    assert store.tell(STUDY, 1, {"f": 1.0}, ["f"], 1.0, attempt=1).state is State.DONE
    now[0] += 61  # who does not has lost it a lease later at the latest
    assert [e.state for e in store.changes(STUDY, 0)[1]] == [State.LOST, State.DONE, State.LOST]
    claimed = store.claim(STUDY, ["t"], losses=None, worker="v", lease=60.0)
    assert claimed is not None
    assert (claimed.id, claimed.attempts, claimed.expires) == (0, 2, now[0] + 60)
    store.correct(STUDY, 1, {"f": 2.0}, "a slip")
    assert store.changes(STUDY, 0)[1][1].corrections[0].new == 2.0
    store.close()
