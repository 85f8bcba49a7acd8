"""Tables of an older pesky, made into those of this one."""

import uuid
from collections.abc import Callable

from sqlalchemy import Connection, insert, literal, select, text, update

from pesky.store.sql import schema
from pesky.store.sql.database import Database


def _from_1(connection: Connection) -> None:
    """Studies get an identity, and evaluations the history of their attempts."""
    for column in (
        "cause TEXT",
        "crashes INTEGER NOT NULL DEFAULT 0",
        "losses INTEGER NOT NULL DEFAULT 0",
        "history TEXT NOT NULL DEFAULT '[]'",
        "lease DOUBLE PRECISION",
    ):
        connection.execute(text(f"ALTER TABLE {schema.evaluations.name} ADD COLUMN {column}"))
    # what was lost may have been for any reason: of those that free an evaluation, this one says least
    state = schema.evaluations.c.state
    connection.execute(update(schema.evaluations).where(state == "lost").values(cause="released"))
    connection.execute(text(f"ALTER TABLE {schema.studies.name} ADD COLUMN identity TEXT NOT NULL DEFAULT ''"))
    for key in connection.scalars(select(schema.studies.c.id)).all():
        this = schema.studies.c.id == key
        connection.execute(update(schema.studies).where(this).values(identity=uuid.uuid4().hex))
    for index in schema.studies.indexes:
        index.create(connection)
    schema.clocks.create(connection)


def _from_2(connection: Connection) -> None:
    """Evaluations get attributes, how they were chosen and corrections, and studies a history of problems."""
    for column in (
        "attributes TEXT NOT NULL DEFAULT '{}'",
        "why TEXT",
        "corrections TEXT NOT NULL DEFAULT '[]'",
        "is_excluded INTEGER NOT NULL DEFAULT 0",
    ):
        connection.execute(text(f"ALTER TABLE {schema.evaluations.name} ADD COLUMN {column}"))
    schema.problems.create(connection)
    columns = schema.studies.c.id, literal(0), schema.studies.c.created, schema.studies.c.problem
    into = ["study", "number", "since", "problem"]
    connection.execute(insert(schema.problems).from_select(into, select(*columns)))


MIGRATIONS: dict[int, Callable[[Connection], None]] = {1: _from_1, 2: _from_2}
"""From each older version to the next one: the key is the version that a migration starts from."""


def upgrade(url: str) -> tuple[int, int]:
    """The version that the tables had and the one that they have now; a StorageError if there are none."""
    database = Database(url, "write")

    def migrate(connection: Connection) -> int:
        schema.lock(connection)
        found = schema.version(connection)
        if found is None:
            raise schema.nothing_there(database)
        if found > schema.VERSION:
            schema.check(database.url, found)
        for version in range(found, schema.VERSION):
            MIGRATIONS[version](connection)
        connection.execute(update(schema.schema).values(version=schema.VERSION))
        return found

    try:
        return database.write(migrate), schema.VERSION
    finally:
        database.close()
