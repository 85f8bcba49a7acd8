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
    bindparam,
    func,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.engine import URL

from pesky.errors import StorageError
from pesky.store.sql.database import Database
from pesky.store.sql.url import shown

VERSION = 3

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
    Column("identity", Text, nullable=False),
    Index("pesky_by_identity", "identity", unique=True),
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
    Column("cause", Text),
    Column("crashes", Integer, nullable=False, server_default="0"),
    Column("losses", Integer, nullable=False, server_default="0"),
    Column("history", Text, nullable=False, server_default="[]"),  # JSON
    Column("lease", Double),
    Column("attributes", Text, nullable=False, server_default="{}"),  # JSON, as are the next two
    Column("why", Text),
    Column("corrections", Text, nullable=False, server_default="[]"),
    Column("is_excluded", Integer, nullable=False, server_default="0"),
    Index("pesky_by_revision", "study", "revision"),
    Index("pesky_by_expires", "study", "expires"),
)

problems = Table(
    "pesky_problems",
    _tables,
    Column("study", Integer, ForeignKey("pesky_studies.id"), primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("since", Double, nullable=False),
    Column("problem", Text, nullable=False),
)
"""Every problem that a study had; that of the largest number is the present one, which its own row has as well."""

settings = Table(
    "pesky_settings",
    _tables,
    Column("identity", Text, primary_key=True),
    Column("settings", Text, nullable=False),  # JSON
)
"""How each study is asked. Tables without it are of this version all the same: it is made when it is first needed."""

clocks = Table(
    "pesky_clocks",
    _tables,
    Column("boot", Text, primary_key=True),
    Column("offset", Double, nullable=False),
)

_LOCK = 0x7065736B79  # "pesky": PostgreSQL's advisory locks are numbers, shared by all who use the database

# A view, a virtual table, a trigger or a column that is computed would run whatever the file's author likes.
_NO_TABLES = {
    dialect: text(query).bindparams(bindparam("ours", expanding=True))
    for dialect, query in {
        "sqlite": """
            SELECT name FROM sqlite_master
            WHERE lower(name) IN :ours AND (type != 'table' OR sql NOT LIKE 'create table%')
            UNION SELECT name FROM sqlite_master WHERE type = 'trigger' AND lower(tbl_name) IN :ours
            UNION SELECT made.name FROM sqlite_master made, pragma_table_xinfo(made.name) its
            WHERE lower(made.name) IN :ours AND made.type = 'table' AND its.hidden != 0
        """,
        "postgresql": """
            SELECT relname FROM pg_class
            WHERE relname IN :ours AND relkind NOT IN ('r', 'p') AND pg_table_is_visible(oid)
        """,
    }.items()
}


def prepare(database: Database) -> None:
    """The tables are there and of this version afterwards; a StorageError if they are of another, or read-only.

    Two processes may do so at once. Unless the database may be created, tables that are not there are an error, too.
    """
    if database.access == "read":
        check(database.url, database.read(lambda connection: _readable(connection, database)))
        return
    check(database.url, database.write(lambda connection: _writable(connection, database), is_repeatable=True))
    database.enable_wal()


def nothing_there(database: Database) -> StorageError:
    """The error for a database without our tables."""
    return StorageError(f'the storage "{shown(database.url)}" holds no studies of pesky: check its name.')


def version(connection: Connection) -> int | None:
    """The version of the tables, None if there are none; a StorageError if one of them is no plain table."""
    if others := connection.execute(_NO_TABLES[connection.dialect.name], {"ours": [*_tables.tables]}).all():
        raise StorageError(
            f'the storage "{shown(connection.engine.url)}" is damaged, or made to mislead: {others[0][0]!r} is no '
            "plain table as pesky makes them. Restore a copy of it, and use none whose origin you do not know."
        )
    if not inspect(connection).has_table(schema.name):
        return None
    return connection.scalar(select(schema.c.version))


def lock(connection: Connection) -> None:
    """Nobody else creates or upgrades tables until this transaction ends."""
    if connection.dialect.name == "postgresql":  # in SQLite every writing transaction is the only one
        connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))


def check(url: URL, found: object) -> None:
    """A StorageError if the tables are not of this version."""
    where = shown(url)
    if not isinstance(found, int):
        raise StorageError(f'the storage "{where}" is damaged, its version was {found!r}: restore a copy of it.')
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


def _readable(connection: Connection, database: Database) -> int:
    """The version of the tables; nothing is written."""
    found = version(connection)
    if found is None:
        raise _not_ours(connection, database)
    return found


def _not_ours(connection: Connection, database: Database) -> StorageError:
    """The error for a database without our tables, which says what it has instead."""
    names = sorted(inspect(connection).get_table_names())
    if not _tables.tables.keys().isdisjoint(names):
        return StorageError(f'the storage "{shown(database.url)}" is damaged, its version is missing: restore a copy.')
    others = ", ".join(map(repr, names[:3])) + (", ..." if len(names) > 3 else "")
    there = f"it holds tables of another program ({others})" if names else "it is empty"
    return StorageError(
        f'the storage "{shown(database.url)}" is no storage of pesky, {there}: check its name, or give the study a '
        "storage of its own."
    )


def _writable(connection: Connection, database: Database) -> int:
    """The version of the tables, which may be written to."""
    create = database.access == "create"
    found = version(connection)
    if found is None and create:
        lock(connection)
        found = version(connection)  # someone may have been faster
    if found is None and create:
        # a server's database may be shared, a file is one program's
        names = inspect(connection).get_table_names()
        if names and (database.is_sqlite or not _tables.tables.keys().isdisjoint(names)):
            raise _not_ours(connection, database)
        _tables.create_all(connection)
        connection.execute(insert(schema).values(version=VERSION))
        return VERSION
    if found is None:
        raise nothing_there(database)
    # changes no row, and is refused all the same where nothing can be written: better now than with a result in hand
    connection.execute(update(schema).where(schema.c.version < 0).values(version=VERSION))
    return found
