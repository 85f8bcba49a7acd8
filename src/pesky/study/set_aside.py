"""A study that makes room for a new one of its name, and is kept."""

from datetime import UTC, datetime

from pesky.store import Store
from pesky.text import NAME

MARK = " (set aside "


def set_aside(store: Store, name: str) -> str:
    """The name under which the study of this name is kept from now on.

    Whoever works on it is told so; results that are on their way to it find it all the same.
    """
    kept, names = store.load(name), store.names()
    when = datetime.now(UTC).isoformat(timespec="minutes").removesuffix("+00:00")
    number, taken = 1, name
    while taken in names:
        number += 1
        mark = f"{MARK}{when})" if number == 2 else f"{MARK}{when}, {number - 1})"
        taken = f"{name[: NAME - len(mark)]}{mark}"
    store.rename(kept.identity, taken)
    return taken


def those_of(name: str, names: list[str]) -> list[str]:
    """The studies among these that were set aside from the one of this name."""
    begun = [(each, each.partition(MARK)[0]) for each in names if MARK in each]
    return [each for each, whose in begun if whose == name or (len(each) == NAME and name.startswith(whose))]
