"""Databases that older versions wrote, kept as the SQL text that SQLite dumps, and made again of either kind."""

import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import text

from pesky.store.sql.database import Database
from pesky.study.export import TIMES, iso


def in_iso(then: Any) -> Any:
    """What was printed then, with times as they are printed now."""
    if isinstance(then, dict):
        return {key: iso(each) if key in TIMES else in_iso(each) for key, each in then.items()}
    return [in_iso(each) for each in then] if isinstance(then, list) else then


def restore(dump: Path, url: str) -> None:
    """Make the database of a dump at an URL where there is none."""
    script = dump.read_text(encoding="utf-8")
    if url.startswith("sqlite"):
        connection = sqlite3.connect(url.removeprefix("sqlite:///"))
        connection.executescript(script)
        connection.close()
        return
    statements = [part.strip() for part in script.replace("DOUBLE", "DOUBLE PRECISION").split(";\n")]
    wanted = [part for part in statements if part.startswith(("CREATE", "INSERT"))]
    wanted.sort(key=lambda part: "pesky_studies" not in part.split("(")[0])  # what others refer to comes first

    def write(connection) -> None:
        for statement in wanted:
            connection.execute(text(statement.replace(":", r"\:")))

    Database(url).write(write)
