"""The rows of studies, found by name."""

from sqlalchemy import Connection, select

from pesky.errors import StorageError
from pesky.store.checks import unknown_study
from pesky.store.contract import StudyRecord
from pesky.store.sql.schema import studies


def names(connection: Connection) -> list[str]:
    """The names of all studies, in the order of their creation."""
    return list(connection.scalars(select(studies.c.name).order_by(studies.c.id)))


def find(connection: Connection, name: str) -> StudyRecord | None:
    """The study of that name, if there is one."""
    columns = studies.c.name, studies.c.problem, studies.c.seed, studies.c.identity
    statement = select(*columns).where(studies.c.name == name)
    found = connection.execute(statement).one_or_none()
    return None if found is None else StudyRecord(*found)


def get(connection: Connection, name: str) -> StudyRecord:
    """The study of that name; a StorageError if there is none."""
    kept = find(connection, name)
    if kept is None:
        raise StorageError(unknown_study(name, names(connection)))
    return kept
