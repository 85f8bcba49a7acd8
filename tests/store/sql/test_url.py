"""Storages that cannot be opened: each error says what was given and what to do, and none shows a password."""

import pickle
import sys
import time
import traceback
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from pesky.errors import StorageAway, StorageError
from pesky.store import open_store
from pesky.store.sql.database import _postgresql
from pesky.store.sql.errors import explain
from pesky.store.sql.store import SqlStore
from pesky.store.sql.url import hidden, parse, path_of, shown, url_of
from pesky.testing.store.base import STUDY


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
        ("sqlite://study.db", "expected three slashes before the path of a file"),
        ("sqlite:///a?b.db", r"'b.db' is no option of SQLite: write \? as %3F where it is part of the file's name"),
        ("sqlite:///a.db?mode=ro", r"'mode' is no option of SQLite"),
        ("sqlite:////tmp/a%00b.db", "no NUL character"),
        (["sqlite:///study.db"], "the storage was of type list"),
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
        "postgresql://user@127.0.0.1:1/name?PASSWORD=secret",
        "postgresql://user@127.0.0.1:1/name?%70assword=secret",
        "postgresql://user@127.0.0.1:1/name?sslPassword=secret",
        "postgresql://user@127.0.0.1:1/name?password=se&cret",
        "postgresql://user:secret",
        "postgresql://user:sec/ret",
        "postgresql://us/er:secret@host/name",
        "postgresql:user:secret@host/name",
        "user:secret@host/name",
        "host=127.0.0.1 user=me password=secret",
        "host=127.0.0.1 user=me password = 'se cret'",
        "sqlite://user:secret@host/name",
        "postgresql://u%3Asecret@host:x/name",
        "postgresql://u;secret@host:x/name",
        "postgresql://u%3Asecret",
        "postgresql://u;secret/name",
        "u%3Asecret@host/name",
        "u;secret@host/name",
        "u/secret@host/name",
        "mysql://host/name?pwd=secret",
        "mysql://host/name?pw=secret",
        "mysql://host/name?api_key=secret",
        "sqlite:///name.db?key=secret",
        "postgresql%3A//user%3Asecret%40host/name",
        "postgresql%253A%252F%252Fuser%253Asecret%2540host%252Fname",
        "mysql://user:secret@host/name?url=postgresql%3A%2F%2Fuser%3Asecret%40host",
        "mysql://host/name?DB_PW=secret&x=1",
        "mysql://host/name?%2570%2577d=secret",
        "host=127.0.0.1 user=me pwd = 'se cret'",
        "jdbc:postgresql://user:secret@host/name",
        "jdbc:postgresql://host/name?user=me&word=secret",
        "JDBC:oracle:thin:user/secret@host",
        "jdbc:postgresql:user:secret",
        "mysql://host/name?user=u:secret",
        "mysql://host/name?user=u%3Asecret",
        "mysql://host/name?user=u:a@secret",
        "mysql://host/name?auth=secret",
        "mysql://host/name?p=secret&sslmode=prefer",
        "mysql://host/name?sslmode=prefer;secret",
        "mysql://host/name?a;auth=secret",
        "mysql://host/name#auth=secret",
        "mysql://host/name?=secret",
        "mysql://host/name?" + "x" * 99 + "=secret",
        "mysql%3A//host/name%3Fauth%3Dsecret",
        "mysql%253A//host/name%253Fuser%253Du%253Asecret",
        "mysql://user:secret?b=c@host/name",
        "postgresql://127.0.0.1:1/name?user=u:secret&connect_timeout=2",
        "postgresql://127.0.0.1:1/name?user=u%3Asecret&connect_timeout=2",
        "postgresql://127.0.0.1:1/name?auth=secret",
        "postgresql://127.0.0.1:1/name?p=secret",
        "sqlite:///name.db?auth=secret",
        "sqlite:////nowhere/at/all/name.db?timeout=u:secret",
        "postgresql://user:secret@host:secret/name",
        "postgresql://user:se%63ret@host:secret/name",
        "postgresql://user:" + "secret" * 2000 + "@host:x/name",
        ["postgresql://user:secret@host/name"],
        {"url": "postgresql://host/name", "password": "secret"},
    ],
)
def test_no_password_is_shown(given):
    with pytest.raises(StorageError) as caught:
        open_store(given)
    said = "".join(traceback.format_exception(caught.value))
    said = said.replace(repr(given), "")  # the line of code that the traceback quotes is not ours
    assert "secret" not in said
    assert "cret" not in said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgresql://me:secret@host/name?sslpassword=hidden&sslmode=prefer",
         "postgresql://me:***@host/name?sslpassword=***&sslmode=prefer"),
        ("postgresql://me@[::1]:5432/name", "postgresql://me@[::1]:5432/name"),
        ("postgresql://[::1]:5432/name", "postgresql://[::1]:5432/name"),
        ("postgresql://host:5432/name?application_name=a", "postgresql://host:5432/name?application_name=a"),
        ("postgresql://a:1,b:2/name?sslmode=prefer", "postgresql://a:1,b:2/name?sslmode=prefer"),
        ("postgresql://%2Fvar%2Frun/name", "postgresql://%2Fvar%2Frun/name"),
        ("postgresql://me:5432@host:5432/name", "postgresql://me:***@host:***/name"),
        ("postgresql://me:5432@host:54321/name", "postgresql://me:***@host:54321/name"),
        ("postgresql://host/name?user=me&host=a:1&host=/tmp&auth=x&keepalives=1",
         "postgresql://host/name?user=me&host=a:1&host=/tmp&auth=***&keepalives=1"),
        ("was 'mysql://host/name?auth=***': expected a=1", "was 'mysql://host/name?auth=***': expected a=1"),
        ("sqlite:///file:a.db?uri=true&mode=ro", "sqlite:///file:a.db?uri=true&mode=ro"),
        ("is it a file? f=1&c=2", "is it a file? f=1&c=2"),
        ('failed: FATAL: no such user "me@corp"', 'failed: FATAL: no such user "me@corp"'),
    ],
)  # fmt: skip
def test_only_secrets_are_hidden(text, expected):
    assert hidden(text) == expected
    assert hidden(expected) == expected


@pytest.mark.parametrize("end", ["", "@", "=", "@host:port"])
@pytest.mark.parametrize(
    "part",
    [
        "a",
        "://",
        "://:",
        "%25",
        "@",
        "&a",
        "&pass=",
        "=",
        "x@ ",
        "%3D",
        ":@",
        " ",
        "'",
        "%",
        "?",
        "?a=",
        "%3F",
        "&host=",
    ],
)
def test_hiding_takes_no_longer_than_the_text_is_long(part: str, end: str):
    for length in (9_900, 1_000_000):
        for start in ("", "a://b?"):
            text = start + (part * length)[:length] + end
            began = time.process_time()
            hidden(text)
            assert time.process_time() - began < 0.5


def test_what_holds_a_url_does_not_show_its_secrets(postgres_url):
    store = SqlStore(f"{postgres_url}&sslpassword=secret")
    database = store._database
    for each in (store, database, database._engine, database._engine.url):
        assert "secret" not in repr(each)
        assert "secret" not in str(each)
    store.close()
    for option in ("user=u:secret", "user=u%3Asecret", "auth=secret"):
        assert "secret" not in str(_postgresql(parse(f"postgresql://host/name?{option}")).url)


NAMES = [
    "what?.db",
    "a%41b.db",
    "50%.db",
    "a b#c.db",
    "ü.db",
    "quo'te\".db",
    "a&b=c;d.db",
    "file:x.db",
    "back\\slash.db",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_may_have_any_name(tmp_path, name):
    store = SqlStore(url_of(tmp_path / name))
    store.open(STUDY, "{}", 0, STUDY)
    assert [path.name for path in tmp_path.iterdir() if not path.name.endswith(("-wal", "-shm"))] == [name]
    copy = pickle.loads(pickle.dumps(store))
    assert copy.names() == [STUDY]
    for each in (store, copy):
        each.close()
    looker = open_store(shown(store._database.url), read_only=True)
    assert looker.names() == [STUDY]
    looker.close()
    assert path_of(url_of(tmp_path / name)) == str(tmp_path / name)


def test_a_uri_of_sqlites_own_is_left_to_sqlite(tmp_path):
    open_store(f"sqlite:///file:{tmp_path}/a%3Fb.db?uri=true").close()
    assert (tmp_path / "a?b.db").exists()
    assert path_of("sqlite:///file:a.db?uri=true") is None


def test_no_password_that_the_server_repeats_is_shown():
    error = OperationalError("SELECT 1", None, Exception("what is 'secret'?"))
    assert "what is '***'?" in str(explain(parse("postgresql://user:secret@host/name"), error))


def test_a_server_that_is_not_there():
    with pytest.raises(StorageAway, match=r"postgresql://me:\*\*\*@127.0.0.1:1/name.*cannot be reached: check that.*"):
        open_store("postgresql://me:secret@127.0.0.1:1/name")


def test_a_database_that_is_not_there(postgres_server):
    missing = parse(postgres_server).set(database="missing").render_as_string(hide_password=False)
    with pytest.raises(
        StorageError, match=r'refused the connection: check .*database "missing" does not exist'
    ) as caught:
        open_store(missing)
    assert not isinstance(caught.value, StorageAway)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_postgresql_means_psycopg_3(scheme):
    assert parse(f"{scheme}://user:a%40b@host/name").drivername == "postgresql+psycopg"
    assert parse(f"{scheme}://user:a%40b@host/name").password == "a@b"
    assert shown(parse(f"{scheme}://user:a%40b@host/name")) == "postgresql://user:***@host/name"


def test_a_missing_driver(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StorageError, match=r'needs psycopg 3.*pip install "psycopg\[binary\]'):
        open_store("postgresql://host/name")


def test_a_file_that_is_no_database(tmp_path):
    (tmp_path / "notes.txt").write_text("not a database, but a text that is long enough to look at\n" * 20)
    with pytest.raises(StorageError, match=r"notes.txt\" is no SQLite database"):
        open_store(f"sqlite:///{tmp_path}/notes.txt")
    assert (tmp_path / "notes.txt").read_text().startswith("not a database")


def test_a_folder_is_no_database(tmp_path):
    with pytest.raises(StorageError, match="cannot be opened: expected a file"):
        open_store(f"sqlite:///{tmp_path}")


def test_a_file_that_is_read_only(tmp_path):
    path = tmp_path / "study.db"
    open_store(f"sqlite:///{path}").close()
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
