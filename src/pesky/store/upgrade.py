"""Tables of an older pesky, made into those of this one."""

from collections.abc import Callable

from sqlalchemy import Connection, update

from pesky.store import schema
from pesky.store.database import Database

MIGRATIONS: dict[int, Callable[[Connection], None]] = {}
"""From each older version to the next one: the key is the version that a migration starts from."""


def upgrade(url: str) -> tuple[int, int]:
    """The version that the tables had and the one that they have now; a StorageError if there are none."""
    database = Database(url, create=False)

    def migrate(connection: Connection) -> int:
        schema.lock(connection)
        found = schema.version(connection)
        if found is None:
            raise schema.nothing_there(database)
        if found > schema.VERSION:
            schema.check(database, found)
        for version in range(found, schema.VERSION):
            MIGRATIONS[version](connection)
        connection.execute(update(schema.schema).values(version=schema.VERSION))
        return found

    try:
        return database.write(migrate), schema.VERSION
    finally:
        database.close()
