"""The contract of a store: what is kept of studies, and which promises hold whoever calls.

A store holds studies by name. A study has a problem (as JSON text), a seed, a revision that grows with every change,
and evaluations numbered 0, 1, 2, ... in the order in which they were asked. The promises:

- Every method is one transaction: it happens wholly or not at all, and what it returned survives the death of the
  process. None waits for anything but other transactions, which last milliseconds: nobody computes inside one.
- Every method may be called from any thread, and from any process that has opened the same storage.
- Changes of one study happen one after another, each with the next revision (a renewed lease is a change, and so is
  another problem): who knows a study at revision r and reads `changes(name, r)` knows its evaluations wholly.
- The storage's clock decides on leases, not the workers' clocks. A running evaluation whose lease has run out counts
  as lost from then on: every method that reads or changes evaluations first marks those.
- A result is a fact. It is accepted in every state, also late; the same result twice changes nothing; a different
  value for an outcome that was told is refused, and then nothing of that call is kept. An evaluation is done when
  every outcome of its task was told.
- A failure or a release is an opinion of an attempt: on an evaluation that is done or abandoned, or that was since
  handed to someone else, it changes nothing. What changes nothing makes no revision.

Nothing in a store is executable: values are numbers, texts and JSON.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pesky.problem import Option
from pesky.store.evaluation import Evaluation


@dataclass(frozen=True)
class Question:
    """What an asker wants measured, before it has a number."""

    task: str
    params: Mapping[str, Option]
    gain: float | None = None
    price: float = 1.0


@dataclass(frozen=True)
class Limit:
    """How much of a study may be asked in all: evaluations, and the sum of their prices; None is unlimited.

    Abandoned evaluations without an outcome count for nothing, and nor do the user's own data. A lost one counts,
    since it is to be asked again.
    """

    evaluations: int | None = None
    cost: float | None = None


@dataclass(frozen=True)
class Kept:
    """A study as the store has it."""

    name: str
    problem: str
    """The problem as JSON text."""
    seed: int


@dataclass(frozen=True)
class Refusal:
    """Why a question was not appended; both may be true."""

    is_outdated: bool
    """Others have asked since the revision that the asker knew."""
    is_beyond_limit: bool


@runtime_checkable
class Store(Protocol):
    """Where studies are kept; the module's text is the contract, `pesky.testing.StoreContract` its test."""

    def open(self, name: str, problem: str, seed: int) -> Kept:
        """The study of that name as it is kept; it is created with this problem and seed if there is none."""
        ...

    def load(self, name: str) -> Kept:
        """The study of that name; a StorageError that lists the names there are if there is none."""
        ...

    def names(self) -> list[str]:
        """The names of all studies, in the order of their creation."""
        ...

    def replace_problem(self, name: str, problem: str) -> None:
        """Keep this problem with the study from now on."""
        ...

    def delete(self, name: str) -> None:
        """Forget a study and all its evaluations; nothing if there is none of that name."""
        ...

    def changes(self, name: str, since: int) -> tuple[int, list[Evaluation]]:
        """The study's revision, and the evaluations that changed after revision `since`, by their ids.

        A StorageError if the study has not reached that revision: it was deleted and created anew meanwhile.
        """
        ...

    def append(
        self,
        name: str,
        question: Question,
        *,
        known: int | None,
        limit: Limit,
        worker: str | None,
        lease: float | None,
    ) -> Evaluation | Refusal:
        """The question as a new evaluation: running with a lease of so many seconds, pending without.

        Refused if it would exceed the limit, or if `known` is given and more evaluations exist than so many: whoever
        asked them must be taken into account first.
        """
        ...

    def add(self, name: str, task: str, params: Mapping[str, Option], outcomes: Mapping[str, float]) -> Evaluation:
        """Data of the user's own, as an evaluation that is done, with price 0 and no attempts."""
        ...

    def claim(
        self,
        name: str,
        tasks: Collection[str],
        *,
        attempts: int,
        worker: str | None,
        lease: float | None,
    ) -> Evaluation | None:
        """The first lost evaluation of these tasks, handed out again; None if there is none.

        One that was handed out `attempts` times already has failed instead: something about it ends its workers.
        """
        ...

    def renew(self, name: str, ids: Collection[int], worker: str, lease: float) -> set[int]:
        """Extend the leases of those running evaluations that are still this worker's, and say which they are."""
        ...

    def tell(
        self, name: str, id: int, outcomes: Mapping[str, float], expected: Collection[str], seconds: float | None
    ) -> Evaluation:
        """Keep these outcomes; the evaluation is done once it has all that are `expected` of its task.

        A DataError for a value that differs from what was told before, or for an id that does not exist.
        """
        ...

    def fail(
        self,
        name: str,
        id: int,
        error: str,
        *,
        attempt: int | None,
        seconds: float | None,
        outcomes: Mapping[str, float],
    ) -> Evaluation:
        """The evaluation as failed, with what it measured nevertheless; a DataError as from `tell`.

        Unchanged if it is done or abandoned, or if `attempt` is not its present one (None is whichever it is).
        """
        ...

    def release(self, name: str, id: int, error: str, *, attempt: int | None) -> Evaluation:
        """The evaluation as lost, for someone else to claim; only an open one changes, and only its present attempt."""
        ...

    def abandon(self, name: str, id: int) -> Evaluation:
        """The evaluation as abandoned; only one that is open, lost or failed changes."""
        ...

    def close(self) -> None:
        """Let go of connections; the store may be used again afterwards."""
        ...
