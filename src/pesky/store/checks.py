"""What every store refuses, in the same words."""

from pesky.errors import StorageError, unknown_name
from pesky.store.transitions import readable


def check_name(name: str) -> None:
    """A StorageError if no study can have this name."""
    if not isinstance(name, str) or not name.strip() or readable(name) != name:
        raise StorageError(f"the study's name was {name!r}: expected a text that is not blank.")


def unknown_study(name: str, names: list[str]) -> str:
    """The message for a study that the storage does not have."""
    return unknown_name("study", name, names) if names else f"unknown study {name!r}: the storage has none yet."


def unknown_id(name: str, id: int, count: int) -> str:
    """The message for an evaluation that the study does not have."""
    there = f"expected one of 0 to {count - 1}" if count else "nothing was asked yet"
    return f"the study {name!r} has no evaluation {id!r}: {there}."


def check_since(name: str, since: int, revision: int) -> None:
    """A StorageError if the asker knows a revision that the study has not reached: it is not the same study."""
    if since > revision:
        raise StorageError(
            f"the study {name!r} is at revision {revision}, and revision {since} of it was known: "
            "it was deleted and created anew, or an older copy put in its place. Load it again."
        )
