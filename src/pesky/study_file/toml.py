"""The text and the content of a TOML file, or where it is no TOML."""

import re
import tomllib
from pathlib import Path

from pesky.errors import unknown_name
from pesky.study_file.mistakes import Mistake, StudyFileError
from pesky.text import one_line

SQLITE = b"SQLite format 3\0"
"""How a database begins."""
DATABASES = (".db", ".sqlite", ".sqlite3")
"""How the names of databases end."""
LARGEST = 1_000_000
"""Bytes of a study file."""
OF_STORAGES = (
    "this command reads a file with the problem of the study, its `name`, and its storage, like "
    '`storage = "sqlite:///study.db"`; those that only look, like `pesky status` and `pesky page`, take a storage, too.'
)


def is_database(path: Path) -> bool:
    """Whether a file is a database and no study file: its name says so, or how it begins."""
    if path.suffix in (".toml", *DATABASES):
        return path.suffix != ".toml"
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def read_toml(path: Path) -> tuple[str, dict[str, object]]:
    """The file's text and what it says; a StudyFileError with line and column if it cannot be read."""
    text = _text(path)
    try:
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyFileError(path, (_mistake(str(error), text),)) from error
    except (ValueError, RecursionError) as error:  # Python reads no number of thousands of digits
        what = "is nested too deeply" if isinstance(error, RecursionError) else "has a number of thousands of digits"
        raise StudyFileError(path, (Mistake("", None, f"this is no study file: it {what}."),)) from None


def _text(path: Path) -> str:
    if any(part.endswith(":") and part.startswith(("sqlite", "postgresql")) for part in path.parts):
        raise StudyFileError(path, (Mistake("", None, f"is a storage, not a study file: {OF_STORAGES}"),))
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if path.suffix in DATABASES or content.startswith(SQLITE):
            raise StudyFileError(path, (Mistake("", None, f"is a database, not a study file: {OF_STORAGES}"),))
        if len(content) > LARGEST:
            raise StudyFileError(path, (Mistake("", None, f"has more than {LARGEST:,} bytes: is it a study file?"),))
        return content.decode()
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise StudyFileError(path, (Mistake("", line, "is not UTF-8: save the file as UTF-8."),)) from error
    except FileNotFoundError as error:
        there = sorted(each.name for each in path.parent.glob("*.toml")) if path.parent.is_dir() else []
        message = unknown_name("file", path.name, there) if there else "there is no such file."
        more = f"T{OF_STORAGES[1:]}" if path.suffix in DATABASES else f"`pesky init {path.name}` writes one."
        raise StudyFileError(path, (Mistake("", None, f"{message} {more}"),)) from error
    except OSError as error:
        raise StudyFileError(path, (Mistake("", None, f"cannot be read ({error.strerror})."),)) from error


def _mistake(error: str, text: str) -> Mistake:
    message, _, _ = error.partition(" (at ")
    lines = text.splitlines()
    found = re.search(r"\(at line (\d+), column (\d+)\)", error)
    line, column = (int(found[1]), int(found[2])) if found else (len(lines), None)  # otherwise it says: at the end
    wrong = f": {one_line(lines[line - 1])}" if 0 < line <= len(lines) else ""
    return Mistake("", line, f"this is no TOML: {message}{_hint(message)}{wrong}", column)


def _hint(message: str) -> str:
    if message.startswith("Invalid value"):
        return " (texts are in quotes, numbers are like 0.5, and true and false in small letters)"
    if "overwrite" in message or "twice" in message:
        return " (each key and each [table] stands once)"
    if message.startswith("Expected '='") or "after a statement" in message:
        return " (expected lines like name = value)"
    return ""
