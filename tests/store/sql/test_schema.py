"""Databases of other versions: refused in words, and upgraded step by step."""

from pathlib import Path

import pytest
from sqlalchemy import text, update

from pesky.errors import StorageError
from pesky.store import open_store
from pesky.store.sql import schema
from pesky.store.sql.database import Database
from pesky.store.sql.upgrade import MIGRATIONS, upgrade
from pesky.testing.store.base import STUDY, ask

NOW = schema.VERSION


@pytest.fixture
def kept(url):
    """The URL of a database with a study that has an evaluation."""
    store = open_store(url)
    store.open(STUDY, "{}", 0, STUDY)
    ask(store)
    store.close()
    return url


def set_version(url: str, version: int) -> None:
    Database(url).write(lambda connection: connection.execute(update(schema.schema).values(version=version)))


def test_a_newer_database_wants_a_newer_pesky(kept):
    set_version(kept, NOW + 1)
    words = rf"newer pesky \(schema {NOW + 1}, this one knows {NOW}\): upgrade pesky"
    for use in (open_store, upgrade, lambda url: open_store(url, read_only=True)):
        with pytest.raises(StorageError, match=words):
            use(kept)


def test_an_older_database_names_the_way_to_upgrade_it(kept, monkeypatch):
    monkeypatch.setattr(schema, "VERSION", NOW + 1)
    words = rf"older pesky \(schema {NOW}, this one writes {NOW + 1}\).*pesky upgrade (sqlite|postgres)"
    for read_only in (True, False):
        with pytest.raises(StorageError, match=words):
            open_store(kept, read_only=read_only)


@pytest.mark.parametrize("damage", ["DELETE FROM pesky_schema", "DROP TABLE pesky_schema"])
def test_a_database_that_lost_its_version_is_damaged(kept, damage):
    Database(kept).write(lambda c: c.execute(text(damage)))
    for read_only in (True, False):
        with pytest.raises(StorageError, match="is damaged, its version is missing: restore a copy"):
            open_store(kept, read_only=read_only)


def test_a_version_that_is_no_number_is_damaged(sqlite_url):
    open_store(sqlite_url).close()
    # SQLite takes any value in a column that is no primary key
    Database(sqlite_url).write(lambda c: c.execute(text("DROP TABLE pesky_schema")))
    Database(sqlite_url).write(lambda c: c.execute(text("CREATE TABLE pesky_schema (version INTEGER)")))
    Database(sqlite_url).write(lambda c: c.execute(text("INSERT INTO pesky_schema VALUES ('one')")))
    with pytest.raises(StorageError, match="is damaged, its version was 'one': restore a copy"):
        open_store(sqlite_url)


def test_migrations_run_one_after_another(kept, monkeypatch):
    monkeypatch.setattr(schema, "VERSION", NOW + 2)
    add, change = "ALTER TABLE pesky_studies ADD COLUMN note TEXT", "UPDATE pesky_studies SET note = 'moved'"
    monkeypatch.setitem(MIGRATIONS, NOW, lambda c: c.execute(text(add)))
    monkeypatch.setitem(MIGRATIONS, NOW + 1, lambda c: c.execute(text(change)))
    assert upgrade(kept) == (NOW, NOW + 2)
    assert upgrade(kept) == (NOW + 2, NOW + 2)
    assert len(open_store(kept).changes(STUDY, 0)[1]) == 1
    assert Database(kept).read(lambda c: c.scalar(text("SELECT note FROM pesky_studies"))) == "moved"


def test_a_migration_that_fails_leaves_the_database_as_it_was(kept, monkeypatch):
    def fail(connection):
        raise RuntimeError("no")

    with monkeypatch.context() as patch:
        patch.setattr(schema, "VERSION", NOW + 2)
        patch.setitem(MIGRATIONS, NOW, lambda c: c.execute(text("DROP TABLE pesky_evaluations")))
        patch.setitem(MIGRATIONS, NOW + 1, fail)
        with pytest.raises(RuntimeError, match="no"):
            upgrade(kept)
    assert len(open_store(kept).changes(STUDY, 0)[1]) == 1


def test_there_is_a_migration_from_every_older_version():
    assert sorted(MIGRATIONS) == list(range(1, schema.VERSION))


def test_who_comes_second_finds_the_tables(postgres_url, monkeypatch):
    lock = schema.lock

    def let_another_go_first(connection):
        monkeypatch.setattr(schema, "lock", lock)
        open_store(postgres_url).open(STUDY, "{}", 0, STUDY)
        lock(connection)

    monkeypatch.setattr(schema, "lock", let_another_go_first)
    assert open_store(postgres_url).names() == [STUDY]
    assert schema.lock is lock


def test_an_empty_database_is_not_upgraded_nor_loaded(url):
    for use in (upgrade, lambda url: open_store(url, create=False)):
        with pytest.raises(StorageError, match=r"holds no studies of pesky|does not exist: check the path"):
            use(url)
    if url.startswith("sqlite"):
        assert not Path(url.removeprefix("sqlite:///")).exists()


def test_what_is_there_needs_not_be_created(kept):
    assert open_store(kept, create=False).names() == [STUDY]
