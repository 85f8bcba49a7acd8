"""Storages that are only looked at: nothing is written, and what is not ours is refused."""

import pickle
import shutil
import sqlite3
import time
from pathlib import Path

import psycopg
import pytest
from mounted import frozen  # noqa: F401 (a fixture)
from sqlalchemy import event, text

from pesky.errors import StorageError
from pesky.store import Limit, Question, State, open_store
from pesky.store.sql.store import SqlStore
from pesky.store.sql.url import parse, url_of
from pesky.testing.store.base import LONG, STUDY, ask


@pytest.fixture
def kept(url: str) -> str:
    """The URL of a storage with a study of one evaluation."""
    store = open_store(url)
    store.open(STUDY, "{}", 0, STUDY)
    ask(store, worker="w", lease=LONG)
    store.close()
    return url


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """The database of another program."""
    path = tmp_path / "addresses.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE people (name TEXT)")
        connection.execute("INSERT INTO people VALUES ('Ada')")
    connection.close()
    return path


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, with what is in it."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    "options", [{"read_only": True}, {}, {"create": False}], ids=["to look", "to begin", "to go on"]
)
def test_the_database_of_another_program_stays_as_it_is(theirs, options):
    before = snapshot(theirs.parent)
    with pytest.raises(StorageError, match=r"is no storage of pesky, .*another program \('people'\)|holds no studies"):
        open_store(url_of(theirs), **options)
    assert snapshot(theirs.parent) == before


def test_what_is_empty_is_no_storage_to_look_at(url, tmp_path):
    if url.startswith("sqlite"):
        (tmp_path / "study.db").touch()
    with pytest.raises(StorageError, match="is no storage of pesky, it is empty: check its name"):
        open_store(url, read_only=True)
    if url.startswith("sqlite"):
        assert snapshot(tmp_path) == {"study.db": b""}
    else:
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall() == []


def test_a_file_that_is_not_there_is_not_made(sqlite_url, tmp_path):
    with pytest.raises(StorageError, match="does not exist: check the path"):
        open_store(sqlite_url, read_only=True)
    assert not list(tmp_path.iterdir())


def test_all_that_would_change_something_is_refused(kept):
    store = SqlStore(kept, read_only=True)
    assert store.is_read_only
    question = Question("t", {"x": 0.5})
    for change in (
        lambda: store.append(STUDY, question, known=None, limit=Limit(), worker=None, lease=None),
        lambda: store.add(STUDY, "t", {"x": 1.0}, {"f": 1.0}),
        lambda: store.claim(STUDY, ["t"], losses=None, worker=None, lease=None),
        lambda: store.renew(STUDY, {0: 1}, LONG),
        lambda: store.tell(STUDY, 0, {"f": 1.0}, ["f"], None),
        lambda: store.fail(STUDY, 0, "no", attempt=None, seconds=None, outcomes={}),
        lambda: store.release(STUDY, 0, "no", attempt=None),
        lambda: store.abandon(STUDY, 0),
        lambda: store.replace_problem(STUDY, "[]"),
        lambda: store.delete(STUDY),
    ):
        with pytest.raises(StorageError, match="was opened for reading"):
            change()
    assert [each.state for each in store.changes(STUDY, 0)[1]] == [State.RUNNING]
    store.close()


def test_a_study_that_is_there_is_opened_and_no_other_is_begun(kept):
    store = open_store(kept, read_only=True)
    assert store.open(STUDY, "[]", 7, "another") == store.load(STUDY)
    with pytest.raises(StorageError) as load:
        store.load("other")
    with pytest.raises(StorageError) as opened:
        store.open("other", "[]", 7, "another")
    assert str(opened.value) == str(load.value)
    assert store.names() == [STUDY]
    store.close()


def test_a_lease_that_has_run_out_is_seen_without_being_marked(kept):
    later = time.time() + 2 * LONG
    store = SqlStore(kept, lambda: later, read_only=True)
    revision, (seen,) = store.changes(STUDY, 0)
    assert (seen.state, seen.worker) == (State.LOST, "w")
    assert store.changes(STUDY, revision) == (revision, [seen])  # it is news to whoever saw it running
    store.close()
    assert open_store(kept).changes(STUDY, 0)[1][0].state == State.RUNNING


def test_a_lease_by_the_storages_own_clock_is_seen_to_run_out(kept):
    store = open_store(kept)
    asked = ask(store, worker="w", lease=0.0)
    store.close()
    looker = open_store(kept, read_only=True)
    states = {each.id: each.state for each in looker.changes(STUDY, 0)[1]}
    assert states == {0: State.RUNNING, asked.id: State.LOST}
    looker.close()


def test_only_what_reads_is_sent(kept):
    store = SqlStore(kept, read_only=True)
    statements = []
    event.listen(store._database._engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    assert store.names() == [store.load(STUDY).name]
    store.changes(STUDY, 0)
    assert {statement.split()[0] for statement in statements} <= {"BEGIN", "SELECT"}
    store.close()


def test_looking_does_not_change_the_journal(sqlite_url, tmp_path):
    open_store(sqlite_url).open(STUDY, "{}", 0, STUDY)
    with sqlite3.connect(tmp_path / "study.db") as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    connection.close()
    before = snapshot(tmp_path)
    store = open_store(sqlite_url, read_only=True)
    assert store.names() == [STUDY]
    store.close()
    assert snapshot(tmp_path) == before


def begun(url: str) -> None:
    store = open_store(url)
    store.open(STUDY, "{}", 0, STUDY)
    ask(store)
    store.close()


def look(url: str) -> int:
    """How many evaluations are seen."""
    store = open_store(url, read_only=True)
    found = len(store.changes(STUDY, 0)[1])
    store.close()
    return found


def test_looking_leaves_nothing_beside_a_file(sqlite_url, tmp_path):
    begun(sqlite_url)
    before, when = snapshot(tmp_path), tmp_path.stat().st_mtime_ns
    assert list(before) == ["study.db"]
    assert look(sqlite_url) == 1
    assert snapshot(tmp_path) == before
    assert tmp_path.stat().st_mtime_ns == when  # not even for a moment


def test_an_empty_log_that_was_left_there_is_none(sqlite_url, tmp_path):
    begun(sqlite_url)
    (tmp_path / "study.db-wal").touch()
    before = snapshot(tmp_path)
    assert look(sqlite_url) == 1
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("is_over", [True, False])
def test_what_was_written_meanwhile_is_read(sqlite_url, is_over):
    """By one who has closed the file since, or has not: it had been read as one that does not change."""
    begun(sqlite_url)
    reader, seen = SqlStore(sqlite_url, read_only=True), []

    def count(connection):
        seen.append(connection.scalar(text("SELECT count(*) FROM pesky_evaluations")))
        if len(seen) == 1:
            writer = open_store(sqlite_url)
            ask(writer)
            if is_over:
                writer.close()
        return seen[-1]

    assert reader._database.read(count) == 2
    assert seen == [1, 2]
    reader.close()


def test_what_was_half_written_is_no_damage(sqlite_url):
    begun(sqlite_url)
    reader, tries = SqlStore(sqlite_url, read_only=True), []

    def read(connection):
        tries.append(1)
        if len(tries) == 1:
            writer = open_store(sqlite_url)
            ask(writer)
            writer.close()
        if len(tries) != 2:
            raise StorageError("damaged")
        return "read"

    assert reader._database.read(read) == "read"
    with pytest.raises(StorageError, match="damaged"):  # where nobody writes, it is
        reader._database.read(read)
    reader.close()


def test_a_store_for_reading_stays_one_elsewhere(kept):
    store = open_store(kept, read_only=True)
    copy = pickle.loads(pickle.dumps(store))
    assert copy.is_read_only
    assert copy.changes(STUDY, 0) == store.changes(STUDY, 0)
    for each in (store, copy):
        each.close()


def test_what_changes_meanwhile_is_seen(kept):
    reader, writer = open_store(kept, read_only=True), open_store(kept)
    assert len(reader.changes(STUDY, 0)[1]) == 1
    ask(writer)
    assert len(reader.changes(STUDY, 0)[1]) == 2
    for each in (reader, writer):
        each.close()


def test_nobody_waits_for_a_writer(kept):
    reader, writer = open_store(kept, read_only=True), SqlStore(kept)

    def write_slowly(connection):
        connection.execute(text("UPDATE pesky_studies SET seed = 7"))
        assert reader.load(STUDY).seed == 0

    writer._database.write(write_slowly)
    assert reader.load(STUDY).seed == 7
    for each in (reader, writer):
        each.close()


class TestAFolderThatCannotBeWrittenTo:
    def test_is_read(self, tmp_path, frozen):  # noqa: F811
        folder = tmp_path / "study"
        folder.mkdir()
        store = open_store(url_of(folder / "study.db"))
        store.open(STUDY, "{}", 0, STUDY)
        ask(store)
        store.close()
        place = frozen(folder)
        store = open_store(url_of(place / "study.db"), read_only=True)
        assert len(store.changes(STUDY, 0)[1]) == 1
        store.close()
        with pytest.raises(StorageError, match="is read-only: get the right to write"):
            open_store(url_of(place / "study.db"))

    def test_is_read_with_what_a_writer_had_not_put_in_its_place_yet(self, tmp_path, frozen):  # noqa: F811
        """As in the copy of a disk that was taken while a study ran."""
        folder = tmp_path / "study"
        folder.mkdir()
        store = open_store(url_of(folder / "study.db"))
        store.open(STUDY, "{}", 0, STUDY)
        ask(store)
        assert {path.name for path in folder.iterdir()} == {"study.db", "study.db-wal", "study.db-shm"}
        place = frozen(folder)
        store.close()
        looker = open_store(url_of(place / "study.db"), read_only=True)
        assert len(looker.changes(STUDY, 0)[1]) == 1
        looker.close()

    def test_says_what_is_missing_where_only_half_was_copied(self, tmp_path, frozen):  # noqa: F811
        folder, half = tmp_path / "study", tmp_path / "half"
        folder.mkdir()
        half.mkdir()
        store = open_store(url_of(folder / "study.db"))
        store.open(STUDY, "{}", 0, STUDY)
        for name in ("study.db", "study.db-wal"):
            shutil.copy(folder / name, half)
        store.close()
        with pytest.raises(StorageError, match=r"cannot be opened: .*take the files beside it along"):
            open_store(url_of(frozen(half) / "study.db"), read_only=True)


def test_a_uri_of_the_users_own_is_opened_for_reading(sqlite_url, tmp_path):
    open_store(sqlite_url).open(STUDY, "{}", 0, STUDY)
    store = open_store(f"sqlite:///file:{tmp_path}/study.db?uri=true", read_only=True)
    assert store.names() == [STUDY]
    store.close()


class TestPostgresql:
    @pytest.fixture
    def reader_url(self, postgres_url):
        """The URL of a user who may read, and nothing else."""
        open_store(postgres_url).open(STUDY, "{}", 0, STUDY)
        with psycopg.connect(postgres_url) as connection:
            connection.execute("DROP ROLE IF EXISTS looker")
            connection.execute("CREATE ROLE looker LOGIN")
            connection.execute("GRANT USAGE ON SCHEMA public TO looker")
            connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO looker")
        yield parse(postgres_url).set(username="looker").render_as_string(hide_password=False)
        with psycopg.connect(postgres_url) as connection:
            connection.execute("DROP OWNED BY looker")
            connection.execute("DROP ROLE looker")

    def test_a_user_who_may_only_read_does(self, reader_url):
        store = open_store(reader_url, read_only=True)
        assert store.names() == [STUDY]
        assert store.changes(STUDY, 0) == (0, [])
        store.close()
        with pytest.raises(StorageError, match=r"not this user's to use so: get the right .*permission denied"):
            open_store(reader_url)

    def test_transactions_are_read_only(self, postgres_url):
        open_store(postgres_url).open(STUDY, "{}", 0, STUDY)
        store = SqlStore(postgres_url, read_only=True)
        assert store._database.read(lambda c: c.scalar(text("SHOW transaction_read_only"))) == "on"
        with pytest.raises(StorageError, match="is read-only"):
            store._database.read(lambda c: c.execute(text("DELETE FROM pesky_studies")))
        store.close()
