"""The rows of studies, found by name."""

from collections.abc import Sequence

from sqlalchemy import Connection, delete, insert, inspect, select

from pesky.errors import StorageError
from pesky.store.checks import gone, unknown_study
from pesky.store.contract import ProblemRecord, StudyRecord
from pesky.store.sql import cells, counted
from pesky.store.sql.schema import lock, problems, settings, studies
from pesky.text import one_line

_COLUMNS = studies.c.name, studies.c.problem, studies.c.seed, studies.c.identity


def names(connection: Connection) -> list[str]:
    """The names of all studies, in the order of their creation; a damaged one is spelled out, and hides no others."""
    found = counted.rows(connection, select(studies.c.id, studies.c.name))
    found.sort(key=lambda row: row[0] if isinstance(row[0], int) else -1)
    return [name if isinstance(name, str) else one_line(repr(name), 100) for _, name in found]


def find(connection: Connection, name: str) -> StudyRecord | None:
    """The study of that name, if there is one."""
    found = connection.execute(select(*_COLUMNS).where(studies.c.name == name)).one_or_none()
    return None if found is None else _record(found)


def _record(found: Sequence[object]) -> StudyRecord:
    name = found[0]
    what = f"the study {one_line(repr(name), 100)}" if isinstance(name, str) else "a study"
    return StudyRecord(*cells.read(what, _COLUMNS, found))


def of_identity(connection: Connection, identity: str) -> StudyRecord:
    """The study of that identity; StudyGone if there is none."""
    found = connection.execute(select(*_COLUMNS).where(studies.c.identity == identity)).one_or_none()
    if found is None:
        raise gone()
    return _record(found)


def problems_of(connection: Connection, identity: str) -> list[ProblemRecord]:
    """The problems that the study of that identity had, the present one last; StudyGone if there is none."""
    columns = problems.c.number, problems.c.since, problems.c.problem
    had = counted.rows(connection, select(*columns).join(studies).where(studies.c.identity == identity))
    found = sorted(cells.read("a problem that a study had", columns, row, {"since": cells.MOMENT}) for row in had)
    return [ProblemRecord(*row) for _, *row in found] or [ProblemRecord(0.0, of_identity(connection, identity).problem)]


def settings_of(connection: Connection, identity: str) -> str:
    """The settings of the study of that identity, as JSON text; StudyGone if there is none."""
    of_identity(connection, identity)
    if not inspect(connection).has_table(settings.name):
        return "{}"
    found = connection.execute(select(settings.c.settings).where(settings.c.identity == identity)).first()
    return "{}" if found is None else cells.read("how a study is asked", [settings.c.settings], found)[0]


def keep_settings(connection: Connection, identity: str, text: str) -> None:
    """Keep the settings of the study of that identity; StudyGone if there is none."""
    # the lock first: two who find no settings would both insert some
    if connection.scalar(select(studies.c.id).where(studies.c.identity == identity).with_for_update()) is None:
        raise gone()
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
    """The study of that name; a StorageError if there is none, or where it may be one whose name is damaged."""
    kept = find(connection, name)
    if kept is None:
        for row in counted.rows(connection, select(*_COLUMNS)):
            if not isinstance(row[0], str):
                _record(row)
        raise StorageError(unknown_study(name, names(connection)))
    return kept
