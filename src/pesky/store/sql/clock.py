"""The storage's clock: seconds since 1970, the same for all who use a storage."""

from collections.abc import Callable

from sqlalchemy import ColumnElement, Connection, Double, cast, extract, func, insert, select

from pesky import host
from pesky.store.sql import cells
from pesky.store.sql.database import Database
from pesky.store.sql.schema import clocks


def clock_of(dialect: str) -> ColumnElement[float]:
    """The time at which a statement of this dialect began, as an SQL expression."""
    if dialect == "postgresql":
        # not now(), which is when the transaction began and may have waited for others since; nor clock_timestamp(),
        # which goes on during a statement and so cannot be looked up in an index
        return cast(extract("epoch", func.statement_timestamp()), Double)
    # a day's fraction in a float64 is good for 0.04 ms, and unixepoch('subsec') needs SQLite 3.42
    return cast((func.julianday("now") - 2440587.5) * 86400.0, Double)


def steady_clock(database: Database) -> Callable[[], float] | None:
    """A clock that does not jump when the machine's is set; None where the database's own is the only common one.

    SQLite is used by the processes of one machine. They share a clock that nobody can set, counted from when the
    machine was started; what time it was then is kept in the database by whoever is first after a start.
    """
    boot = host.boot()
    if not database.is_sqlite or boot is None:
        return None

    def offset(connection: Connection) -> float:
        kept = connection.execute(select(clocks.c.offset).where(clocks.c.boot == boot)).first()
        if kept is not None:
            return cells.read("the clock", [clocks.c.offset], kept, {"offset": cells.MOMENT})[0]
        new = float(connection.scalar(select(clock_of("sqlite"))) or 0.0) - host.steady()
        if database.access != "read":
            connection.execute(insert(clocks).values(boot=boot, offset=new))
        return new

    since = database.read(offset) if database.access == "read" else database.write(offset, is_repeatable=True)
    return lambda: since + host.steady()
