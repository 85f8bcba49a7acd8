"""The tables, and the version of them that this pesky reads and writes."""

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    func,
    insert,
    inspect,
    select,
    update,
)

from pesky.errors import StorageError
from pesky.store.database import Database
from pesky.store.url import shown

VERSION = 1

_tables = MetaData()

schema = Table("pesky_schema", _tables, Column("version", Integer, primary_key=True, autoincrement=False))

studies = Table(
    "pesky_studies",
    _tables,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("problem", Text, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("created", Double, nullable=False),
)

evaluations = Table(
    "pesky_evaluations",
    _tables,
    Column("study", Integer, ForeignKey("pesky_studies.id"), primary_key=True, autoincrement=False),
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("task", Text, nullable=False),
    Column("params", Text, nullable=False),  # JSON, as are the outcomes: text keeps every float exactly
    Column("gain", Double),
    Column("price", Double, nullable=False),
    Column("state", Text, nullable=False),
    Column("outcomes", Text, nullable=False),
    Column("error", Text),
    Column("attempts", Integer, nullable=False),
    Column("worker", Text),
    Column("asked", Double, nullable=False),
    Column("began", Double),
    Column("ended", Double),
    Column("seconds", Double),
    Column("expires", Double),
    Column("revision", BigInteger, nullable=False),
    Index("pesky_by_revision", "study", "revision"),
    Index("pesky_by_expires", "study", "expires"),
)

_LOCK = 0x7065736B79  # "pesky": PostgreSQL's advisory locks are numbers, shared by all who use the database


def prepare(database: Database, create: bool = True) -> None:
    """The tables are there and of this version afterwards; a StorageError if they are of another, or read-only.

    Two processes may do so at once. Without `create`, tables that are not there are an error, too.
    """
    check(database, database.write(lambda connection: _writable(connection, database, create), is_repeatable=True))


def nothing_there(database: Database) -> StorageError:
    """The error for a database without our tables."""
    return StorageError(f'the storage "{shown(database.url)}" holds no studies of pesky: check its name.')


def version(connection: Connection) -> int | None:
    """The version of the tables, None if there are none."""
    if not inspect(connection).has_table(schema.name):
        return None
    return connection.scalar(select(schema.c.version))


def lock(connection: Connection) -> None:
    """Nobody else creates or upgrades tables until this transaction ends."""
    if connection.dialect.name == "postgresql":  # in SQLite every writing transaction is the only one
        connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))


def check(database: Database, found: int) -> None:
    """A StorageError if the tables are not of this version."""
    where = shown(database.url)
    if found > VERSION:
        raise StorageError(
            f'the storage "{where}" was written by a newer pesky (schema {found}, this one knows {VERSION}): '
            "upgrade pesky."
        )
    if found < VERSION:
        raise StorageError(
            f'the storage "{where}" was written by an older pesky (schema {found}, this one writes {VERSION}): '
            f'make a copy, then run "pesky upgrade {where}".'
        )


def _writable(connection: Connection, database: Database, create: bool) -> int:
    """The version of the tables, which may be written to."""
    found = version(connection)
    if found is None and create:
        lock(connection)
        found = version(connection)  # someone may have been faster
    if found is None and create:
        _tables.create_all(connection)
        connection.execute(insert(schema).values(version=VERSION))
        return VERSION
    if found is None:
        raise nothing_there(database)
    # changes no row, and is refused all the same where nothing can be written: better now than with a result in hand
    connection.execute(update(schema).where(schema.c.version < 0).values(version=VERSION))
    return found
