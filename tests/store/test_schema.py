"""Databases of other versions: refused in words, and upgraded step by step."""

from pathlib import Path

import pytest
from sqlalchemy import text, update

from pesky.errors import StorageError
from pesky.store import open_store, schema
from pesky.store.database import Database
from pesky.store.upgrade import MIGRATIONS, upgrade
from pesky.testing.base import STUDY, ask


@pytest.fixture
def kept(url):
    """The URL of a database with a study that has an evaluation."""
    store = open_store(url)
    store.open(STUDY, "{}", 0)
    ask(store)
    store.close()
    return url


def set_version(url: str, version: int) -> None:
    Database(url).write(lambda connection: connection.execute(update(schema.schema).values(version=version)))


def test_a_newer_database_wants_a_newer_pesky(kept):
    set_version(kept, 3)
    for use in (open_store, upgrade):
        with pytest.raises(StorageError, match=r"newer pesky \(schema 3, this one knows 1\): upgrade pesky"):
            use(kept)


def test_an_older_database_names_the_way_to_upgrade_it(kept, monkeypatch):
    monkeypatch.setattr(schema, "VERSION", 2)
    with pytest.raises(
        StorageError, match=r"older pesky \(schema 1, this one writes 2\).*pesky upgrade (sqlite|postgres)"
    ):
        open_store(kept)


def test_migrations_run_one_after_another(kept, monkeypatch):
    monkeypatch.setattr(schema, "VERSION", 3)
    monkeypatch.setitem(MIGRATIONS, 1, lambda c: c.execute(text("ALTER TABLE pesky_studies ADD COLUMN note TEXT")))
    monkeypatch.setitem(MIGRATIONS, 2, lambda c: c.execute(text("UPDATE pesky_studies SET note = 'moved'")))
    assert upgrade(kept) == (1, 3)
    assert upgrade(kept) == (3, 3)
    assert len(open_store(kept).changes(STUDY, 0)[1]) == 1
    assert Database(kept).read(lambda c: c.scalar(text("SELECT note FROM pesky_studies"))) == "moved"


def test_a_migration_that_fails_leaves_the_database_as_it_was(kept, monkeypatch):
    def fail(connection):
        raise RuntimeError("no")

    with monkeypatch.context() as patch:
        patch.setattr(schema, "VERSION", 3)
        patch.setitem(MIGRATIONS, 1, lambda c: c.execute(text("DROP TABLE pesky_evaluations")))
        patch.setitem(MIGRATIONS, 2, fail)
        with pytest.raises(RuntimeError, match="no"):
            upgrade(kept)
    assert len(open_store(kept).changes(STUDY, 0)[1]) == 1


def test_there_is_a_migration_from_every_older_version():
    assert sorted(MIGRATIONS) == list(range(1, schema.VERSION))


def test_who_comes_second_finds_the_tables(postgres_url, monkeypatch):
    lock = schema.lock

    def let_another_go_first(connection):
        monkeypatch.setattr(schema, "lock", lock)
        open_store(postgres_url).open(STUDY, "{}", 0)
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
