"""Storages that cannot be opened: each error says what was given and what to do, and none shows a password."""

import sqlite3
import sys
import traceback
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from pesky.errors import StorageError
from pesky.store import open_store
from pesky.store.sql import SqlStore
from pesky.store.trouble import explain
from pesky.store.url import parse, shown


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("study.db", "the storage was 'study.db': expected .*Did you mean \"sqlite:///study.db\"?"),
        (Path("study.db"), 'Did you mean "sqlite:///study.db"?'),
        ("", "the storage was ''"),
        (7, "the storage was 7"),
        ("://", "is no URL"),
        ("postgresql://user@host:port/name", "is no URL"),
        ("mysql://host/name", "there is no other kind"),
        ("postgresql+psycopg2://host/name", "there is no other kind"),
        ("sqlite://", "in memory: leave it out"),
        ("sqlite:///:memory:", "in memory: leave it out"),
        ("sqlite:///file::memory:?uri=true&mode=memory", "in memory: leave it out"),
        ("sqlite:////nowhere/at/all/study.db", "folder '/nowhere/at/all' does not exist: create it"),
    ],
)
def test_what_is_no_storage(given, message):
    with pytest.raises(StorageError, match=message):
        open_store(given)


@pytest.mark.parametrize(
    "given",
    [
        "postgresql://user:secret@host:port/name",
        "postgresql://user:se@cret@host/name",
        "postgresql://user:sec/ret@host:x/name",
        "mysql://user:secret@host/name",
        "mysql://host/name?password=secret",
        "postgresql://user:secret@127.0.0.1:1/name?connect_timeout=2",
        "postgresql://127.0.0.1:1/name?user=user&password=secret",
    ],
)
def test_no_password_is_shown(given):
    with pytest.raises(StorageError) as caught:
        open_store(given)
    said = "".join(traceback.format_exception(caught.value))
    said = said.replace(repr(given), "")  # the line of code that the traceback quotes is not ours
    assert "secret" not in said
    assert "cret" not in said


def test_no_password_that_the_server_repeats_is_shown():
    error = OperationalError("SELECT 1", None, Exception("what is 'secret'?"))
    assert "what is '***'?" in str(explain(parse("postgresql://user:secret@host/name"), error))


def test_a_server_that_is_not_there():
    with pytest.raises(StorageError, match=r"postgresql://me:\*\*\*@127.0.0.1:1/name.*cannot be reached: check that.*"):
        open_store("postgresql://me:secret@127.0.0.1:1/name")


def test_a_database_that_is_not_there(postgres_server):
    missing = parse(postgres_server).set(database="missing").render_as_string(hide_password=False)
    with pytest.raises(StorageError, match=r'cannot be reached.*database "missing" does not exist'):
        open_store(missing)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_postgresql_means_psycopg_3(scheme):
    assert parse(f"{scheme}://user:a%40b@host/name").drivername == "postgresql+psycopg"
    assert parse(f"{scheme}://user:a%40b@host/name").password == "a@b"
    assert shown(parse(f"{scheme}://user:a%40b@host/name")) == "postgresql://user:***@host/name"


def test_a_missing_driver(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StorageError, match=r'needs psycopg 3.*pip install "pesky\[postgresql\]"'):
        open_store("postgresql://host/name")


def test_a_file_that_is_no_database(tmp_path):
    (tmp_path / "notes.txt").write_text("not a database, but a text that is long enough to look at\n" * 20)
    with pytest.raises(StorageError, match=r"notes.txt\" is no SQLite database"):
        open_store(f"sqlite:///{tmp_path}/notes.txt")
    assert (tmp_path / "notes.txt").read_text().startswith("not a database")


def test_a_folder_is_no_database(tmp_path):
    with pytest.raises(StorageError, match="cannot be opened: expected a file"):
        open_store(f"sqlite:///{tmp_path}")


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_file_that_is_read_only(tmp_path, is_ours):
    path = tmp_path / "study.db"
    if is_ours:
        open_store(f"sqlite:///{path}").close()
    else:
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE something (a)")
    # by SQLite's own flag: the superuser may write to any file
    with pytest.raises(StorageError, match="is read-only: get the right to write"):
        open_store(f"sqlite:///file:{path}?mode=ro&uri=true")


def test_a_store_shows_no_password(postgres_url):
    url = parse(postgres_url).set(password="secret").render_as_string(hide_password=False)
    store = SqlStore(url)
    assert "secret" not in repr(store)
    assert "postgresql://" in repr(store)
    assert "secret" not in repr(store._database)
    store.close()
