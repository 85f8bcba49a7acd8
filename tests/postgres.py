"""A PostgreSQL server of the tests' own: one for each test process, whose database is empty for each test.

A `conftest.py` that imports both fixtures gives `postgres_url` to the tests beside it.
"""

import shutil
import tempfile
import warnings
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of the database, in whatever state."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where there is no folder for sockets, it says so and takes another
        from pgserver.postgres_server import get_server
    folder = tempfile.mkdtemp(prefix="pesky-postgres-")
    server = get_server(folder)
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            for setting in ("fsync", "synchronous_commit", "full_page_writes"):  # nothing here outlives the tests
                connection.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(setting)))
            connection.execute("SELECT pg_reload_conf()")
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """The URL of a database that is empty, whatever the test before has left or still does in it."""
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid != pg_backend_pid()"
        )
        # a new database would take ten times as long
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return postgres_server
