"""Studies in SQLite and in PostgreSQL: the contract, and what only a database can get wrong."""

import json
import os
import pickle
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from sqlalchemy import create_engine, event, inspect, select, text

from pesky.errors import StorageError
from pesky.store import Limit, Question, State, open_store
from pesky.store.sql.clock import clock_of
from pesky.store.sql.database import Database
from pesky.store.sql.schema import evaluations, studies
from pesky.store.sql.store import SqlStore
from pesky.testing import StoreContract, StoreMachine
from pesky.testing.store.base import GONE, LONG, STUDY, ask


class TestSqlStore(StoreContract):
    @pytest.fixture
    def store(self, url):
        store = SqlStore(url)
        self.url = url
        self.others = []
        yield store
        for each in (store, *self.others):
            each.close()

    def another(self, store):
        self.others.append(SqlStore(self.url))
        return self.others[-1]


@pytest.fixture
def store(url):
    store = SqlStore(url)
    store.open(STUDY, "{}", 0, STUDY)
    yield store
    store.close()


def test_random_things_happen_in_a_database(url):
    class Machine(StoreMachine):
        def make_stores(self, clock):
            return SqlStore(url, clock), SqlStore(url, clock)

    run_state_machine_as_test(Machine, settings=settings(max_examples=20, stateful_step_count=30))


def test_the_clock_of_the_database_decides(store, monkeypatch):
    before = time.time()
    asked = ask(store, worker="w", lease=LONG)
    assert before - 1 < asked.asked < time.time() + 1
    monkeypatch.setattr(time, "time", lambda: before + 2 * LONG)
    assert store.changes(STUDY, 0)[1][0].state == State.RUNNING


def test_a_lease_begins_when_the_others_are_done(store, url):
    is_locked = threading.Event()

    def hold(connection):
        connection.execute(select(studies).with_for_update())
        is_locked.set()
        time.sleep(0.4)
        return connection.scalar(select(clock_of(connection.dialect.name)))

    with ThreadPoolExecutor() as pool:
        released = pool.submit(Database(url).write, hold)
        is_locked.wait()
        asked = ask(store).asked
    assert asked >= released.result() - 0.1  # of a file the two clocks are not one: SQLite's and the steady one


def test_reading_waits_for_no_writer_and_no_writer_for_it(store, url):
    ask(store, worker="w", lease=LONG)
    other = Database(url)

    def write_slowly(connection):
        connection.execute(studies.update().values(seed=7))
        assert len(store.changes(STUDY, 0)[1]) == 1  # would wait for this very transaction if it took a lock
        assert store.load(STUDY).seed == 0

    other.write(write_slowly)
    assert store.load(STUDY).seed == 7
    other.read(lambda connection: (connection.execute(select(studies)).all(), ask(store)))
    other.close()


def test_reading_writes_only_where_a_lease_has_run_out(store):
    statements = []
    event.listen(store._database._engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    ask(store, worker="w", lease=GONE)
    statements.clear()
    assert store.changes(STUDY, 0)[1][0].state == State.LOST
    assert any(statement.startswith("UPDATE") for statement in statements)
    statements.clear()
    assert store.changes(STUDY, 0)[1][0].state == State.LOST
    assert [statement.split()[0] for statement in statements if statement != "BEGIN"] == ["SELECT"]


def test_a_change_that_fails_half_way_leaves_nothing(store, monkeypatch):
    ask(store)
    monkeypatch.setattr("pesky.store.sql.locked_study.LockedStudy.finish", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.tell(STUDY, 0, {"f": 1.0}, ["f"], None)
    monkeypatch.undo()
    revision, (kept,) = store.changes(STUDY, 0)
    assert (revision, kept.revision, dict(kept.outcomes)) == (1, 1, {})


def test_tables_are_prefixed_and_others_left_alone(postgres_url):
    """A database on a server may be shared; a file of another program is refused."""
    engine = create_engine(Database(postgres_url).url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE studies (a INTEGER)"))
    SqlStore(postgres_url).open(STUDY, "{}", 0, STUDY)
    names = set(inspect(engine).get_table_names())
    assert "studies" in names
    assert all(name.startswith("pesky_") for name in names - {"studies"})
    engine.dispose()


def test_nothing_in_the_database_is_executable(store, url):
    asked = ask(store, params={"x": 0.1, "kind": "a", "n": 3}, worker="w", lease=LONG)
    store.tell(STUDY, asked.id, {"f": 1e-300}, ["f"], 0.5)
    with store._database._engine.connect() as connection:
        row = dict(connection.execute(select(evaluations)).one()._mapping)
    assert {type(value) for value in row.values()} <= {int, float, str, type(None)}
    assert json.loads(row["params"]) == {"x": 0.1, "kind": "a", "n": 3}
    assert json.loads(row["outcomes"]) == {"f": 1e-300}


def test_a_store_travels_by_its_url(store):
    ask(store)
    copy = pickle.loads(pickle.dumps(store))
    assert copy.changes(STUDY, 0) == store.changes(STUDY, 0)
    copy.close()


def test_a_closed_store_may_be_used_again(store):
    store.close()
    assert ask(store).id == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_uses_connections_of_its_own(store):
    ask(store)
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            try:
                for _ in range(5):
                    ask(store)
                os._exit(0)
            finally:
                os._exit(1)
        children.append(child)
    for _ in range(5):
        ask(store)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
    assert [each.id for each in store.changes(STUDY, 0)[1]] == list(range(16))


def test_more_threads_than_connections(store):
    threads = [threading.Thread(target=ask, args=(store,)) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.changes(STUDY, 0)[1]) == 12


DAMAGES = {
    "a text that is no JSON": ("params", "{'x': 1}", "a JSON object of texts and finite numbers"),
    "JSON that is no object": ("params", "[1]", "a JSON object"),
    "a parameter that is a list": ("params", '{"x": [1]}', "a JSON object"),
    "a parameter that is not finite": ("params", '{"x": Infinity}', "a JSON object"),
    "an outcome that is not finite": ("outcomes", '{"f": NaN}', "a JSON object of finite numbers"),
    "an outcome that is a text": ("outcomes", '{"f": "1"}', "a JSON object of finite numbers"),
    "an outcome that is too large": ("outcomes", '{"f": 1' + "0" * 400 + "}", "a JSON object of finite numbers"),
    "a state that there is not": ("state", "dnoe", "one of queued, pending, running, done"),
    "a cause that there is not": ("cause", "fate", "one of released, lost, crashed"),
    "a history that is none": ("history", '{"a": 1}', "a JSON list of attempts"),
    "a history of something else": ("history", '[{"worker": 1}]', "a JSON list of attempts"),
    "a text that is deep": ("history", "[" * 100_000, "a JSON list of attempts"),
    "an infinite price": ("price", float("inf"), "a finite number"),
    "a negative number of attempts": ("attempts", -1, "a whole number, 0 or above"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_row_is_said_in_words(store, damage):
    column, value, expected = DAMAGES[damage]
    ask(store)
    ask(store)
    store._database.write(
        lambda c: c.execute(evaluations.update().where(evaluations.c.id == 1).values({column: value}))
    )
    with pytest.raises(StorageError) as caught:
        store.changes(STUDY, 0)
    said = str(caught.value)
    assert said.startswith(f"evaluation #1 is damaged in the storage: its {column} was ")
    assert expected in said
    assert "restore a copy of the storage, or delete this row" in said
    assert len(said) < 500
    assert said.isprintable()


@pytest.mark.parametrize(
    ("column", "value"), [("task", b"\x1b[31mred"), ("price", "dear"), ("asked", "now"), ("attempts", 1.5), ("id", "x")]
)
def test_a_row_of_other_types_is_said_in_words(sqlite_url, column, value):
    """SQLite keeps what it is given."""
    store = SqlStore(sqlite_url)
    store.open(STUDY, "{}", 0, STUDY)
    ask(store)
    statement = f"UPDATE pesky_evaluations SET {column} = ?"
    store._database.write(lambda connection: connection.exec_driver_sql(statement, (value,)))
    with pytest.raises(StorageError, match=f"is damaged in the storage: its {column} was ") as caught:
        store.changes(STUDY, 0)
    assert str(caught.value).isprintable()
    store.close()


def test_a_row_that_was_damaged_and_deleted_is_no_longer_missed(store):
    for _ in range(3):
        ask(store)
    store._database.write(lambda c: c.execute(evaluations.delete().where(evaluations.c.id == 1)))
    assert [each.id for each in store.changes(STUDY, 0)[1]] == [0, 2]
    assert ask(store).id == 3


def test_a_file_is_the_same_from_another_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = open_store("sqlite:///study.db")
    store.close()
    monkeypatch.chdir("/")
    store.open(STUDY, "{}", 0, STUDY)
    assert open_store(f"sqlite:///{tmp_path}/study.db").names() == [STUDY]


class TestBrokenConnections:
    @pytest.fixture
    def store(self, postgres_url):
        store = SqlStore(postgres_url)
        store.open(STUDY, "{}", 0, STUDY)
        yield store
        store.close()

    BREAK = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"

    def test_between_two_calls_nobody_notices(self, store, postgres_url):
        ask(store)
        other = create_engine(Database(postgres_url).url)
        with other.connect() as connection:
            connection.execute(text(self.BREAK + " AND pid != pg_backend_pid()"))
        other.dispose()
        assert ask(store).id == 1

    def test_during_a_call_it_is_done_again(self, store, monkeypatch):
        calls = []

        def break_once(connection):
            calls.append(None)
            if len(calls) == 1:
                connection.execute(text(self.BREAK))
            return len(calls)

        monkeypatch.setattr(time, "sleep", lambda seconds: None)
        assert store._database.write(break_once) == 2

    def test_while_it_is_kept_only_what_can_be_done_twice_is_done_again(self, store, monkeypatch):
        engine = store._database._engine
        calls = []

        def break_at_commit(connection):
            if len(calls) == 1:
                connection.exec_driver_sql(self.BREAK)

        event.listen(engine, "commit", break_at_commit)
        monkeypatch.setattr(time, "sleep", lambda seconds: None)
        with pytest.raises(StorageError, match="cannot be reached"):
            store._database.write(lambda connection: calls.append(None))
        calls.clear()
        store._database.write(lambda connection: calls.append(None), is_repeatable=True)
        assert len(calls) == 2


def test_a_store_in_memory_does_not_wait_for_the_database_s_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "pesky.store.sql.store", None)
    store = open_store(None)
    store.open(STUDY, "{}", 0, STUDY)
    assert store.append(STUDY, Question("t", {}), known=0, limit=Limit(), worker=None, lease=None)
