"""What every store refuses, in the same words."""

from pesky.errors import StorageError, StudyGone, unknown_name
from pesky.text import NAME, harmless


def check_name(name: str) -> None:
    """A StorageError if no study can have this name."""
    if not isinstance(name, str) or not name.strip() or harmless(name, NAME) != name or "\n" in name:
        raise StorageError(
            f"the study's name was {name!r}: expected one line of text that is not blank, of at most {NAME} characters "
            "that can be printed."
        )


def unknown_study(name: str, names: list[str]) -> str:
    """The message for a study that the storage does not have."""
    return unknown_name("study", name, names) if names else f"unknown study {name!r}: the storage has none yet."


def gone() -> StudyGone:
    """The error for a study that was opened and is not there any more."""
    return StudyGone(
        "the study that was opened here is gone: it was deleted, or started anew under the same name, and what was "
        "asked before has no place in the new one. Open the study again to work on that one."
    )


def name_taken(name: str) -> StorageError:
    """The error for a name that another study has."""
    return StorageError(f"another study of the storage is called {name!r}: give a name that none has.")


def unknown_id(id: int, count: int) -> str:
    """The message for an evaluation that the study does not have."""
    there = f"expected one of 0 to {count - 1}" if count else "nothing was asked yet"
    return f"the study has no evaluation {id!r}: {there}."


def check_since(since: int, revision: int) -> None:
    """A StorageError if the asker knows a revision that the study has not reached: it is an older copy."""
    if since > revision:
        raise StorageError(
            f"the study is at revision {revision}, and revision {since} of it was known: an older copy was put in its "
            "place. Load it again."
        )
