"""The database's own clock, as an SQL expression: seconds since 1970."""

from sqlalchemy import ColumnElement, Double, cast, extract, func


def clock_of(dialect: str) -> ColumnElement[float]:
    """The time at which a statement of this dialect began."""
    if dialect == "postgresql":
        # not now(), which is when the transaction began and may have waited for others since; nor clock_timestamp(),
        # which goes on during a statement and so cannot be looked up in an index
        return cast(extract("epoch", func.statement_timestamp()), Double)
    # a day's fraction in a float64 is good for 0.04 ms, and unixepoch('subsec') needs SQLite 3.42
    return cast((func.julianday("now") - 2440587.5) * 86400.0, Double)
