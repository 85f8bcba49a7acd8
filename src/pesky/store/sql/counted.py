"""Rows counted as they are read: a damaged file can lead round in circles, and have more of them than bytes."""

from typing import Any

from sqlalchemy import Connection, Executable

from pesky.errors import StorageError
from pesky.store.sql.url import shown

_PART = 1000


def rows(connection: Connection, statement: Executable) -> list[tuple[Any, ...]]:
    """Every row of a statement, in the order in which they are found; a StorageError beyond what a file can hold.

    They are better sorted afterwards: the database would gather all of them first.
    """
    found: list[tuple[Any, ...]] = []
    for part in connection.execute(statement).partitions(_PART):
        found += map(tuple, part)
        if len(found) > _PART and len(found) * len(found[0]) > _bytes(connection):  # each value takes one, or more
            where = shown(connection.engine.url)
            raise StorageError(
                f'the storage "{where}" is damaged, a table has more rows than its file can hold: restore a copy of it.'
            )
    return found


def _bytes(connection: Connection) -> float:
    """How large the database is; a server looks after its own tables."""
    if connection.dialect.name != "sqlite":
        return float("inf")
    size = connection.exec_driver_sql("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
    return float(size.scalar() or 0)
