"""What a step proposes: which task, where, and why."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pesky.problem import Option
from pesky.store import Question


@dataclass(frozen=True)
class Reason:
    """Why a query was chosen: the kind of its step, and the facts that it went by.

    It is stored with the query for whoever asks why, and nothing decides by it.
    """

    kind: str
    """One of `explain.KINDS`, or the name of a step of your own."""
    facts: Mapping[str, object] = field(default_factory=dict)
    """As JSON has them."""

    def to_plain(self) -> dict[str, object]:
        """As it is stored."""
        return {"kind": self.kind, **self.facts}


@dataclass(frozen=True)
class Query:
    """One task at one point, and the reason."""

    task: str
    params: Mapping[str, Option]
    price: float
    """What it is expected to cost."""
    reason: Reason
    gain: float | None = None
    """Expected information about the solution, in nats, if the rule counts in them."""

    def knowing(self, facts: Mapping[str, object]) -> "Query":
        """The same with more facts in its reason."""
        return replace(self, reason=replace(self.reason, facts={**self.reason.facts, **facts})) if facts else self

    def question(self) -> Question:
        """As a storage has it."""
        return Question(self.task, self.params, self.gain, self.price, self.reason.to_plain())
