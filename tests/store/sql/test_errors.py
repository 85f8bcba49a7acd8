"""Storages in trouble: what passes is waited for and said, what does not is said at once, and Ctrl-C ends any wait."""

import logging
import os
import signal
import sqlite3
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
import psycopg
import pytest
from sqlalchemy import create_engine, event, exc, text
from sqlalchemy.exc import OperationalError, ProgrammingError
from stopwatch import Stopwatch
from survival.programs import until

from pesky.errors import StorageAway, StorageError
from pesky.store import Evaluation, open_store
from pesky.store.sql import database as database_module
from pesky.store.sql import errors
from pesky.store.sql.database import Database
from pesky.store.sql.errors import cause, explain, is_busy, is_disconnect
from pesky.store.sql.store import SqlStore
from pesky.store.sql.url import parse
from pesky.testing.store.base import STUDY, ask


@pytest.fixture
def store(url: str) -> Iterator[SqlStore]:
    store = SqlStore(url)
    store.open(STUDY, "{}", 0, STUDY)
    yield store
    store.close()


@pytest.fixture
def talkative(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock is tried again and said of soon, and waited for as long as ever."""
    monkeypatch.setattr(database_module, "_LIMITS", "SET LOCAL lock_timeout = '200ms'")
    monkeypatch.setattr(errors, "FIRST_WORD", 0.1)


@contextmanager
def locked(url: str) -> Iterator[None]:
    """Another program has the study locked meanwhile."""
    engine = create_engine(parse(url))
    with engine.connect() as connection:
        connection.execute(text("UPDATE pesky_studies SET seed = 1"))
        yield
    engine.dispose()


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Ctrl-C comes after so many seconds, and within a second more it has its way."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    began = time.monotonic()
    timer.start()
    with Stopwatch() as watch, pytest.raises(KeyboardInterrupt):
        yield
    assert seconds <= time.monotonic() - began
    assert watch.seconds < seconds + 1
    timer.join()


class TestLocked:
    def test_it_is_said_and_waited_for(self, store, url, talkative, monkeypatch, caplog):
        monkeypatch.setattr(database_module, "BUSY_TIMEOUT", 1.0)
        with locked(url):
            began = time.monotonic()
            with (
                Stopwatch() as watch,
                pytest.raises(StorageAway, match=r"was locked by another program all the time: close whatever"),
            ):
                ask(store)
            assert time.monotonic() - began >= 1
            assert watch.seconds < 3
        (record,) = [each for each in caplog.records if each.name == "pesky"]
        assert record.levelno == logging.WARNING
        assert record.getMessage().startswith('the storage "')
        assert record.getMessage().endswith('" is locked by another program: trying again')

    def test_it_goes_on_when_the_other_is_done(self, store, url, talkative, caplog):
        def said() -> list[str]:
            return [each.getMessage().split('" ')[1] for each in caplog.records if each.name == "pesky"]

        with locked(url):
            asker = threading.Thread(target=ask, args=(store,))
            asker.start()
            until(lambda: said() == ["is locked by another program: trying again"])
        asker.join()
        assert len(store.changes(STUDY, 0)[1]) == 1
        assert said()[1].startswith("answers again, after ")
        assert len(said()) == 2

    def test_ctrl_c_ends_the_wait(self, store, url):
        with locked(url), interrupted_after(0.5):
            ask(store)
        assert isinstance(ask(store), Evaluation)

    def test_nobody_starves(self, sqlite_url):
        """SQLite has no queue: whoever asks at the right moment is served."""
        stores, worst = [open_store(sqlite_url) for _ in range(8)], []
        stores[0].open(STUDY, "{}", 0, STUDY)

        def write(store):
            for _ in range(10):
                began = time.monotonic()
                ask(store)
                worst.append(time.monotonic() - began)
            store.close()

        threads = [threading.Thread(target=write, args=(store,)) for store in stores]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(worst) == 80
        assert max(worst) < 20


def test_each_transaction_that_writes_has_limits_which_take_one_statement(postgres_url):
    database, statements = Database(postgres_url), []
    event.listen(database._engine, "before_cursor_execute", lambda *given: statements.append(given[2]))

    def limits(connection):
        names = ("lock_timeout", "idle_in_transaction_session_timeout")
        return [connection.scalar(text(f"SHOW {name}")) for name in names]

    assert database.write(limits) == ["4s", "15s"]
    assert len(statements) == 3
    assert database.read(limits) == ["0", "0"]  # none is left behind for whoever a pooler gives the connection to
    database.close()


@pytest.mark.parametrize(("options", "idle"), [("", "20"), ("&keepalives_idle=7", "7")])
def test_a_server_whose_machine_is_gone_is_noticed(postgres_url, options, idle):
    database = Database(postgres_url + options)
    given: dict[str, str] = database.read(
        lambda c: c.connection.driver_connection.info.get_parameters()  # pyright: ignore
    )
    assert given["keepalives_idle"] == idle
    assert int(given["tcp_user_timeout"]) <= 60_000
    database.close()


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, Path]]:
    """The URL of a server of its own, and the folder that it is in."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgserver.postgres_server import get_server
    with tempfile.TemporaryDirectory(prefix="pesky-postgres-", ignore_cleanup_errors=True) as folder:
        server = get_server(folder)
        yield server.get_uri(), Path(folder)
        server.cleanup()


class TestFrozen:
    @pytest.fixture
    def freeze(self, server):
        """A function that stops the server where it stands, until the test is over, or has hung for long."""
        main = psutil.Process(int((server[1] / "postmaster.pid").read_text().split()[0]))
        processes: list[psutil.Process] = []

        def thaw():
            for process in processes:
                if process.is_running():
                    process.resume()

        def freeze():
            processes.extend((main, *main.children(recursive=True)))
            for process in processes:
                process.suspend()

        timer = threading.Timer(20.0, thaw)
        timer.start()
        yield freeze
        timer.cancel()
        thaw()

    @pytest.fixture
    def store(self, server):
        store = SqlStore(server[0])
        store.open(STUDY, "{}", 0, STUDY)
        yield store
        store.close()

    def test_a_server_that_is_silent_is_waited_for_with_a_word_and_not_for_ever(
        self, store, freeze, talkative, monkeypatch, caplog
    ):
        monkeypatch.setattr(database_module, "DISCONNECT_TIMEOUT", 1.0)
        monkeypatch.setattr(database_module, "SILENCE", 0.5)
        freeze()
        began = time.monotonic()
        with Stopwatch() as watch, pytest.raises(StorageAway, match="cannot be reached: check that the server runs"):
            store.changes(STUDY, 0)
        assert time.monotonic() - began >= 1
        assert watch.seconds < 3
        said = [each.getMessage() for each in caplog.records if each.name == "pesky"]
        assert len(said) == 1
        assert said[0].endswith("does not answer: waiting for it")

    def test_ctrl_c_ends_the_wait_for_an_answer(self, store, freeze):
        freeze()
        with interrupted_after(0.5):
            ask(store)

    def test_ctrl_c_ends_the_wait_for_a_connection(self, store, freeze):
        store.close()
        freeze()
        with interrupted_after(0.5):
            store.names()

    def test_it_goes_on_when_the_server_does(self, store, freeze, server):
        freeze()
        main = psutil.Process(int((server[1] / "postmaster.pid").read_text().split()[0]))
        threading.Timer(0.3, lambda: [each.resume() for each in (*main.children(recursive=True), main)]).start()
        assert store.names() == [STUDY]


def test_a_full_disk_is_said_at_once_and_may_pass(sqlite_url, monkeypatch):
    here, sleep = threading.get_ident(), time.sleep  # threads of other tests may sleep on

    def wait(seconds: float) -> None:
        assert threading.get_ident() != here, "it was waited for"
        sleep(seconds)

    monkeypatch.setattr(time, "sleep", wait)
    store = SqlStore(sqlite_url)
    store.open(STUDY, "{}", 0, STUDY)

    def fill(connection: sqlite3.Connection, _: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {connection.execute('PRAGMA page_count').fetchone()[0]}")

    store.close()
    event.listen(store._database._engine, "connect", fill)
    with pytest.raises(StorageAway, match="cannot grow, the disk is full: make room and go on"):
        ask(store, params={"x": "x" * 100_000})
    event.remove(store._database._engine, "connect", fill)
    store.close()
    assert isinstance(ask(store, params={"x": "x" * 100_000}), Evaluation)
    store.close()


def test_a_damaged_file_is_said_at_once(sqlite_url, tmp_path):
    store = open_store(sqlite_url)
    store.open(STUDY, "{}", 0, STUDY)
    store.close()
    path = tmp_path / "study.db"
    path.write_bytes(path.read_bytes()[:4096] + b"\xff" * (path.stat().st_size - 4096))
    for read_only in (True, False):
        with pytest.raises(StorageError, match=r"is damaged: restore a copy of it\.") as caught:
            open_store(sqlite_url, read_only=read_only).names()
        assert not isinstance(caught.value, StorageAway)


class TestGone:
    """The file is deleted, moved away or replaced while it is open: SQLite would go on in one without a name."""

    @pytest.fixture
    def store(self, sqlite_url):
        store = SqlStore(sqlite_url)
        store.open(STUDY, "{}", 0, STUDY)
        ask(store)
        yield store
        store.close()

    def move(self, folder, source, target):
        for path in folder.glob(f"{source}*"):
            path.rename(folder / path.name.replace(source, target))

    def test_what_is_told_is_an_error_and_no_new_file_is_made(self, store, tmp_path):
        for path in tmp_path.iterdir():
            path.unlink()
        for use in (store.names, lambda: store.changes(STUDY, 0), lambda: store.tell(STUDY, 0, {"f": 1}, ["f"], 1)):
            with pytest.raises(
                StorageError, match="is gone, its file was deleted or moved away: put it back"
            ) as caught:
                use()
            assert not isinstance(caught.value, StorageAway)
        assert not list(tmp_path.iterdir())

    def test_threads_that_have_no_connection_yet_make_no_new_file(self, store, tmp_path):
        def delete_and_read(_):
            self.move(tmp_path, "study.db", "away.db")
            store.names()

        with pytest.raises(StorageError, match="is gone"):
            store._database.read(delete_and_read)
        assert not (tmp_path / "study.db").exists()

    def test_what_was_kept_in_a_file_that_went_meanwhile_is_an_error(self, store, tmp_path):
        with pytest.raises(StorageError, match="is gone"):
            store._database.write(lambda _: self.move(tmp_path, "study.db", "away.db"))

    def test_a_file_that_is_put_back_is_used_again(self, store, tmp_path):
        self.move(tmp_path, "study.db", "away.db")
        with pytest.raises(StorageError, match="is gone"):
            ask(store)
        self.move(tmp_path, "away.db", "study.db")
        assert ask(store).id == 1

    def test_a_copy_in_its_place_is_not_told_of_by_who_had_the_other_open(self, store, sqlite_url, tmp_path):
        store.close()
        (tmp_path / "copy.db").write_bytes((tmp_path / "study.db").read_bytes())
        ask(store)
        self.move(tmp_path, "study.db", "away.db")
        (tmp_path / "copy.db").rename(tmp_path / "study.db")
        for _ in range(2):
            with pytest.raises(StorageError, match=r"is another file now .* open the study again to go on with this"):
                store.tell(STUDY, 0, {"f": 1}, ["f"], 1)
        later = open_store(sqlite_url)
        assert [each.id for each in later.changes(STUDY, 0)[1]] == [0]
        later.close()


def test_tables_that_another_program_has_changed_are_said(url):
    store = open_store(url)
    store.open(STUDY, "{}", 0, STUDY)
    Database(url).write(lambda c: c.execute(text("ALTER TABLE pesky_evaluations DROP COLUMN history")))
    with pytest.raises(StorageError, match=r"does not have the tables that its version promises.*history"):
        store.changes(STUDY, 0)
    store.close()


POSTGRESQL = {
    "a full disk": (psycopg.errors.DiskFull("no"), StorageAway, "the disk is full"),
    "too many connections": (psycopg.errors.TooManyConnections("no"), StorageAway, "takes no more connections"),
    "a standby": (psycopg.errors.ReadOnlySqlTransaction("no"), StorageError, "is read-only"),
    "a right": (psycopg.errors.InsufficientPrivilege("no"), StorageError, "get the right to read it"),
    "a table": (psycopg.errors.UndefinedTable("no"), StorageError, "restore a copy"),
    "a deadlock": (psycopg.errors.DeadlockDetected("no"), StorageAway, "locked by another program"),
    "whatever": (psycopg.errors.DivisionByZero("no"), StorageError, "did not do what was asked. It said: no"),
}


@pytest.mark.parametrize("case", POSTGRESQL)
def test_what_a_server_says_is_said_in_words(case):
    error, kind, words = POSTGRESQL[case]
    told = explain(parse("postgresql://host/name"), OperationalError("SELECT 1", None, error))
    assert type(told) is kind
    assert words in str(told)


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ('FATAL:  password authentication failed for user "me"', StorageError),
        ("fe_sendauth: no password supplied", StorageError),
        ('FATAL:  no pg_hba.conf entry for host "1.2.3.4"', StorageError),
        ('FATAL:  role "me" does not exist', StorageError),
        ('FATAL:  database "x" does not exist', StorageError),
        ('FATAL:  permission denied for database "x"', StorageError),
        ("Connection refused", StorageAway),
        ("FATAL:  the database system is starting up", StorageAway),
        ("FATAL:  sorry, too many clients already", StorageAway),
        ('could not translate host name "x" to address', StorageAway),
    ],
)
def test_a_connection_that_is_refused_for_good_is_not_tried_again(said, kind):
    error = OperationalError(None, None, psycopg.OperationalError(f"connection failed: {said}"))
    assert type(explain(parse("postgresql://host/name"), error)) is kind
    assert is_disconnect(error) == (kind is StorageAway)


def test_an_option_that_no_server_knows_is_said(postgres_url):
    with pytest.raises(StorageError, match=r'refused the connection.*"colour"') as caught:
        open_store(f"{postgres_url}&colour=green")
    assert not isinstance(caught.value, StorageAway)


def test_threads_that_find_no_connection_may_try_again():
    assert type(explain(parse("postgresql://host/name"), exc.TimeoutError("QueuePool limit"))) is StorageAway


def test_a_word_is_repeated_but_not_often(monkeypatch, caplog):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    wait = errors.Wait(parse("postgresql://me:secret@host/name"))
    for second in range(65):
        now[0] = float(second)
        wait.say("is away")
    assert [each.getMessage() for each in caplog.records] == ['the storage "postgresql://me:***@host/name" is away'] * 3


def test_a_password_that_a_server_repeats_is_not_in_the_chain_of_causes_either():
    url = parse("postgresql://me:s%26cret@host/name?sslpassword=hid%20den")
    for said in ("s&cret", "s%26cret", "hid den", "hid+den", "hid%20den"):
        error = ProgrammingError("SELECT 1", None, Exception(f"what is {said}?"))
        assert "what is ***?" in str(explain(url, error))
        assert cause(url, error) is None
    harmless = ProgrammingError("SELECT 1", None, Exception("what?"))
    assert cause(url, harmless) is harmless


def test_sqlites_own_words_for_busy():
    with closing(sqlite3.connect(":memory:")) as connection, pytest.raises(sqlite3.OperationalError) as caught:
        connection.execute("SELECT * FROM nothing")
    assert not is_busy(OperationalError("SELECT", None, caught.value))
