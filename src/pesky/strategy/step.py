"""A step of a strategy: it proposes a query, or leaves that to the next one."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, ClassVar

from pesky.problem.fields import figure

if TYPE_CHECKING:
    from pesky.strategy.query import Query
    from pesky.strategy.situation import Situation


KINDS = {"enqueued": "what was to be measured before anything else, by its user's wish"}
"""What kinds of queries there are, in words: those of all steps that were imported."""


class Step(ABC):
    """A frozen dataclass whose fields are all the figures that it goes by.

    It keeps nothing: what it proposes follows from the situation alone.
    """

    kinds: ClassVar[Mapping[str, str]] = {}
    """The kinds of its queries, with what is said of each."""

    def __init_subclass__(cls, **given: object) -> None:
        super().__init_subclass__(**given)
        for kind, words in cls.kinds.items():
            KINDS.setdefault(kind, words)

    def __post_init__(self) -> None:
        for each in fields(self):  # pyright: ignore[reportArgumentType]
            what = f"the step {type(self).__name__}: {each.name}"
            object.__setattr__(self, each.name, figure(what, getattr(self, each.name), each.default, each.metadata))

    @abstractmethod
    def propose(self, situation: "Situation") -> "Query | None":
        """The query of this step; None where it has none, and the next step is asked."""

    def to_plain(self) -> dict[str, object]:
        """Its name and its figures as plain data."""
        figures = {each.name: getattr(self, each.name) for each in fields(self)}  # pyright: ignore[reportArgumentType]
        return {"step": type(self).__name__, **figures}
