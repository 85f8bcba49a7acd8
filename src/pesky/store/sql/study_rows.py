"""The rows of studies, found by name."""

from sqlalchemy import Connection, delete, insert, inspect, select

from pesky.errors import StorageError
from pesky.store.checks import gone, unknown_study
from pesky.store.contract import ProblemRecord, StudyRecord
from pesky.store.sql import counted
from pesky.store.sql.schema import lock, problems, settings, studies

_COLUMNS = studies.c.name, studies.c.problem, studies.c.seed, studies.c.identity


def names(connection: Connection) -> list[str]:
    """The names of all studies, in the order of their creation."""
    return [name for _, name in sorted(counted.rows(connection, select(studies.c.id, studies.c.name)))]


def find(connection: Connection, name: str) -> StudyRecord | None:
    """The study of that name, if there is one."""
    found = connection.execute(select(*_COLUMNS).where(studies.c.name == name)).one_or_none()
    return None if found is None else StudyRecord(*found)


def of_identity(connection: Connection, identity: str) -> StudyRecord:
    """The study of that identity; StudyGone if there is none."""
    found = connection.execute(select(*_COLUMNS).where(studies.c.identity == identity)).one_or_none()
    if found is None:
        raise gone()
    return StudyRecord(*found)


def problems_of(connection: Connection, identity: str) -> list[ProblemRecord]:
    """The problems that the study of that identity had, the present one last; StudyGone if there is none."""
    columns = problems.c.number, problems.c.since, problems.c.problem
    had = counted.rows(connection, select(*columns).join(studies).where(studies.c.identity == identity))
    found = [ProblemRecord(*row) for _, *row in sorted(had)]
    return found or [ProblemRecord(0.0, of_identity(connection, identity).problem)]


def settings_of(connection: Connection, identity: str) -> str:
    """The settings of the study of that identity, as JSON text; StudyGone if there is none."""
    of_identity(connection, identity)
    if not inspect(connection).has_table(settings.name):
        return "{}"
    found = connection.scalar(select(settings.c.settings).where(settings.c.identity == identity))
    return "{}" if found is None else found


def keep_settings(connection: Connection, identity: str, text: str) -> None:
    """Keep the settings of the study of that identity; StudyGone if there is none."""
    of_identity(connection, identity)
    if not inspect(connection).has_table(settings.name):
        lock(connection)  # another process may make the table at the same time
        settings.create(connection, checkfirst=True)
    connection.execute(delete(settings).where(settings.c.identity == identity))
    connection.execute(insert(settings).values(identity=identity, settings=text))


def forget(connection: Connection, identity: str) -> None:
    """Delete the settings of the study of that identity, if there are any."""
    if inspect(connection).has_table(settings.name):
        connection.execute(delete(settings).where(settings.c.identity == identity))


def get(connection: Connection, name: str) -> StudyRecord:
    """The study of that name; a StorageError if there is none."""
    kept = find(connection, name)
    if kept is None:
        raise StorageError(unknown_study(name, names(connection)))
    return kept
