"""Databases made to keep a reader busy for ever: refused at once, or left by Ctrl-C."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from pesky.errors import StorageError
from pesky.run.terminate import Terminated
from pesky.store import open_store
from pesky.store.sql.database import Database
from pesky.store.sql.schema import settings
from pesky.store.sql.upgrade import upgrade
from pesky.testing.store.base import STUDY, ask

ENDLESS = "WITH RECURSIVE n(id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM n)"
MANY = ENDLESS.replace("FROM n)", "FROM n WHERE id < 2999)")  # 3000 rows
OURS = ("schema", "studies", "evaluations", "problems", "clocks")


@pytest.fixture
def kept(url):
    """The URL of a database with a study that has an evaluation."""
    store = open_store(url)
    store.open(STUDY, "{}", 0, STUDY)
    ask(store)
    store.close()
    return url


def alter(url: str, *statements: str) -> None:
    with closing(Database(url)) as database:
        for statement in statements:
            database.write(lambda connection, said=statement: connection.execute(text(said)))


def refused(url: str, what: str) -> None:
    for use in (open_store, upgrade, lambda url: open_store(url, read_only=True)):
        with pytest.raises(StorageError, match=f"'{what}' is no plain table.*Restore a copy"):
            use(url)


@pytest.mark.parametrize("table", OURS)
def test_a_view_of_endlessly_many_rows_is_no_table(kept, table):
    name = f"pesky_{table}"
    alter(kept, f"ALTER TABLE {name} RENAME TO old", f"CREATE VIEW {name} AS {ENDLESS} SELECT old.* FROM n, old")
    refused(kept, name)


def test_a_table_that_may_be_missing_must_be_a_table_where_it_is_there(kept):
    alter(kept, f"DROP TABLE {settings.name}")
    open_store(kept).close()
    alter(kept, f"CREATE VIEW {settings.name} AS {ENDLESS} SELECT '{STUDY}' AS identity, '' AS settings FROM n")
    refused(kept, settings.name)


def test_names_of_tables_are_the_same_in_small_and_capital_letters(sqlite_url):
    open_store(sqlite_url).close()
    alter(sqlite_url, "DROP TABLE pesky_problems", "CREATE VIEW PESKY_Problems AS SELECT 1")
    refused(sqlite_url, "PESKY_Problems")


def test_a_virtual_table_a_trigger_and_a_computed_column_are_none_of_ours(sqlite_url):
    open_store(sqlite_url).close()
    alter(sqlite_url, "CREATE TRIGGER trap AFTER INSERT ON pesky_studies BEGIN DELETE FROM pesky_studies; END")
    refused(sqlite_url, "trap")
    alter(sqlite_url, "DROP TRIGGER trap", "ALTER TABLE pesky_problems ADD COLUMN b AS (hex(zeroblob(500000000)))")
    refused(sqlite_url, "pesky_problems")
    alter(sqlite_url, "DROP TABLE pesky_problems", "CREATE VIRTUAL TABLE pesky_problems USING fts4(problem)")
    refused(sqlite_url, "pesky_problems")


def test_tables_of_others_beside_ours_are_theirs(kept):
    alter(kept, f"CREATE VIEW theirs AS {ENDLESS} SELECT id FROM n")
    assert open_store(kept).names() == [STUDY]


def test_a_table_with_more_rows_than_its_file_can_hold_is_damaged(sqlite_url, monkeypatch):
    store = open_store(sqlite_url)
    store.open(STUDY, "{}", 0, STUDY)
    store.close()
    # the same study very often, each time with all evaluations: tables, but not with the keys that ours have
    alter(
        sqlite_url,
        f"INSERT INTO pesky_evaluations (study, id, task, params, price, state, outcomes, attempts, asked, revision) "
        f"{MANY} SELECT 1, id, 't', '{{}}', 1, 'done', '{{}}', 1, 0, 1 FROM n",
        "ALTER TABLE pesky_studies RENAME TO old",
        "CREATE TABLE pesky_studies AS SELECT * FROM old",
        f"INSERT INTO pesky_studies {MANY} SELECT old.* FROM n, old",
    )
    began = time.monotonic()
    for read_only in (True, False):
        store = open_store(sqlite_url, read_only=read_only)
        with pytest.raises(StorageError, match="more rows than its file can hold: restore a copy"):
            store.changes(STUDY, 0)
        store.close()
    assert time.monotonic() - began < 5


def test_a_table_of_studies_that_leads_round_in_circles_is_damaged(sqlite_url):
    open_store(sqlite_url).close()
    many = f"{MANY} SELECT id, id || hex(zeroblob(900)), '{{}}', 0, 0, 0, id FROM n"
    columns = "id, name, problem, seed, revision, created, identity"
    # of no types: its rows are in no order, and who asks for one gathers them all first
    alter(sqlite_url, "DROP TABLE pesky_studies", f"CREATE TABLE pesky_studies ({columns})")
    alter(sqlite_url, f"INSERT INTO pesky_studies {many.replace('2999', '299')}")
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'pesky_studies'").fetchone()
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    content = path.read_bytes()
    size, count = int.from_bytes(content[16:18], "big"), len(content) // int.from_bytes(content[16:18], "big")
    page = content[(root - 1) * size : root * size]
    pages = [page]  # levels above the root's own page, each with all its children the one below
    for child in [count + 1, count + 2, count + 3, count + 4]:
        level, to = bytearray(page), child.to_bytes(4, "big")
        for i in range(int.from_bytes(page[3:5], "big")):
            at = int.from_bytes(page[12 + 2 * i : 14 + 2 * i], "big")
            level[at : at + 4] = to
        level[8:12] = to
        pages.append(bytes(level))
    made = bytearray(content + b"".join(pages[:-1]))
    made[(root - 1) * size : root * size] = pages[-1]
    made[28:32] = (count + 4).to_bytes(4, "big")
    path.write_bytes(made)
    with (
        closing(open_store(sqlite_url, read_only=True)) as store,
        pytest.raises(StorageError, match="more rows than its file can hold: restore a copy"),
    ):
        store.names()


def test_many_rows_are_read(url):
    store = open_store(url)
    store.open(STUDY, "{}", 0, STUDY)
    store.close()
    alter(
        url,
        f"INSERT INTO pesky_evaluations (study, id, task, params, price, state, outcomes, attempts, asked, revision) "
        f"{MANY} SELECT 1, id, 't', '{{}}', 1, 'done', '{{}}', 1, 0, 1 FROM n",
    )
    with closing(open_store(url)) as store:
        assert [each.id for each in store.changes(STUDY, 0)[1]] == list(range(3000))


@pytest.mark.parametrize("kind", [KeyboardInterrupt, Terminated])
def test_a_signal_ends_a_statement_that_does_not(sqlite_url, kind):
    def leave(*_):
        raise kind(signal.SIGINT) if kind is Terminated else kind

    database, before = Database(sqlite_url), signal.signal(signal.SIGINT, leave)
    began = time.monotonic()
    try:
        for use in (database.read, database.write):
            timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with pytest.raises(kind):
                use(lambda connection: connection.execute(text(f"{ENDLESS} SELECT count(*) FROM n")).all())
            timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - began < 3
    assert database.read(lambda connection: connection.scalar(text("SELECT 1"))) == 1  # goes on as if nothing was
    database.close()


READER = f"""
import sqlite3, sys
from pesky.store import open_store
store = open_store(sys.argv[1], read_only=True)
other = sqlite3.connect(store.file)  # too late to be noticed when it is opened
other.execute("ALTER TABLE pesky_evaluations RENAME TO old")
other.execute("CREATE VIEW pesky_evaluations AS {ENDLESS} SELECT old.* FROM n, old")
other.commit()
print("reading", flush=True)
store.changes("{STUDY}", 0)
"""


def test_ctrl_c_ends_a_look_at_a_storage_that_never_ends(tmp_path: Path):
    url = f"sqlite:///{tmp_path}/study.db"
    with closing(open_store(url)) as store:
        store.open(STUDY, "{}", 0, STUDY)
        ask(store)
    command = [sys.executable, "-c", READER, url]
    reader = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "reading\n"
        time.sleep(0.5)
        assert reader.poll() is None
        began = time.monotonic()
        reader.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in reader.communicate(timeout=20)[1]
        assert time.monotonic() - began < 1
    finally:
        reader.kill()
        reader.wait()
