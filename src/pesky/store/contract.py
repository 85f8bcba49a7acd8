"""The contract of a store: what is kept of studies, and which promises hold whoever calls.

A store holds studies by name. A study has a problem (as JSON text), a seed, an identity that no other study ever has,
and evaluations numbered 0, 1, 2, ... in the order in which they were asked. The promises:

- Every method is one transaction: it happens wholly or not at all, and what it returned survives the death of the
  process. None waits for anything but other transactions, which last milliseconds: nobody computes inside one.
- Every method may be called from any thread, and from any process that has opened the same storage.
- Names are for finding a study; all that is done with it goes by its identity. Whoever opened a study that was deleted
  since, be it that another one has its name now, is told so (StudyGone), and can neither read nor change the new one.
- A study's revision is a number that grows by one with every change of an evaluation, of its problem or its name; a
  renewed or expired lease is a change. Whoever knows the evaluations as of revision r and reads `changes(study, r)`
  knows them wholly.
- The storage's clock decides on leases, not the workers' clocks. A running evaluation whose lease has run out counts
  as lost from then on: every method that changes evaluations first marks those, and so does `changes`, unless the store
  was opened for reading; it then shows them as lost all the same. A lease that ends later than it can, because that
  clock was set back, is counted anew.
- An evaluation, the study that it is of and the number of the attempt are the claim of whoever it was handed to. The
  claim is checked at every call: a renewal, a failure, a crash or a release of an attempt that is not the present one
  changes nothing, and a result of an attempt that there never was is refused.
- A worker that renews a lease after it ran out has it again, unless someone else took over.
- A result is a fact. It is accepted in every state, also late; the same result twice changes nothing; a different
  value for an outcome that was told is refused, and then nothing of that call is kept. An evaluation is done when
  every outcome of its task was told.
- Only its user changes a fact: corrected or excluded, with the old value, the time and the reason kept. Who tells the
  old value again changes nothing.
- A failure, a crash or a release is an opinion of an attempt: on an evaluation that is done or abandoned, it changes
  nothing. What changes nothing makes no revision.
- Released, lost and crashed are three things: a worker let go; a worker fell silent; the process that ran the function
  died. Each frees the evaluation for others and is remembered. Only crashes are counted towards a failure, and losses
  where the caller says so.
- A queued evaluation is a question that nobody was handed yet: it counts in no limit before it is.
- A study keeps every problem that it had, and the settings that it is asked with.

Nothing in a store is executable, and nothing that comes from it is imported or called: values are numbers, texts and
JSON.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from pesky.problem import Option
from pesky.problem.fields import FrozenDict
from pesky.store.evaluation import Evaluation

NOTHING: Mapping[str, object] = FrozenDict({})


@dataclass(frozen=True)
class Question:
    """What an asker wants measured, before it has a number."""

    task: str
    params: Mapping[str, Option]
    gain: float | None = None
    price: float = 1.0
    why: Mapping[str, object] | None = None
    """How it was chosen, as a small JSON object, to be kept with it."""


@dataclass(frozen=True)
class Datum:
    """Data of the user's own: what was measured at one point, in whatever way."""

    task: str
    params: Mapping[str, Option]
    outcomes: Mapping[str, float]
    attributes: Mapping[str, object] = field(default_factory=dict)
    error: str | None = None
    """Why measuring failed, if it did."""


@dataclass(frozen=True)
class Limit:
    """How much of a study may be asked in all: evaluations, and the sum of their prices; None is unlimited.

    Abandoned evaluations without an outcome count for nothing, and nor do the user's own data. A lost one counts,
    since it is to be asked again.
    """

    evaluations: int | None = None
    cost: float | None = None


@dataclass(frozen=True)
class StudyRecord:
    """A study as the store has it."""

    name: str
    problem: str
    """The problem as JSON text."""
    seed: int
    identity: str
    """A text that no other study has, also none of the same name before or after it."""


@dataclass(frozen=True)
class ProblemRecord:
    """A problem that a study has, or had."""

    since: float
    """Since when, by the clock of the storage, in seconds since 1970."""
    problem: str
    """The problem as JSON text."""


@dataclass(frozen=True)
class Refusal:
    """Why a question was not appended; both may be true."""

    is_outdated: bool
    """Others have asked since: the study has more evaluations than the asker knew."""
    is_beyond_limit: bool


@runtime_checkable
class Store(Protocol):
    """Where studies are kept; the module's text is the contract, `pesky.testing.StoreContract` its test."""

    def open(self, name: str, problem: str, seed: int, identity: str) -> StudyRecord:
        """The study of that name as it is kept; it is created with these if there is none."""
        ...

    def load(self, name: str) -> StudyRecord:
        """The study of that name; a StorageError that lists the names there are if there is none."""
        ...

    def names(self) -> list[str]:
        """The names of all studies, in the order of their creation."""
        ...

    # `study` is the identity of a study from here on; each method raises StudyGone if there is none.

    def record(self, study: str) -> StudyRecord:
        """The study as it is kept now: it may have another name or problem than when it was opened."""
        ...

    def replace_problem(self, study: str, problem: str) -> None:
        """Keep this problem in place of the present one, which it says in other words."""
        ...

    def change_problem(self, study: str, problem: str) -> None:
        """Keep this problem with the study from now on, and the earlier ones in its history."""
        ...

    def problems(self, study: str) -> list[ProblemRecord]:
        """The problems that the study had, the present one last."""
        ...

    def settings(self, study: str) -> str:
        """How the study is asked, as the JSON text that was kept last; "{}" if none was."""
        ...

    def keep_settings(self, study: str, settings: str) -> None:
        """Keep this JSON text of how the study is asked. It changes no evaluation and makes no revision."""
        ...

    def rename(self, study: str, name: str) -> None:
        """Keep the study under another name; a StorageError if that is another study's."""
        ...

    def delete(self, study: str) -> None:
        """Forget a study and all its evaluations; nothing if it is gone already."""
        ...

    def changes(self, study: str, since: int) -> tuple[int, list[Evaluation]]:
        """The study's revision, and the evaluations that changed after revision `since`, by their ids.

        A StorageError if the study has not reached that revision: an older copy was put in its place.
        """
        ...

    def append(
        self,
        study: str,
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

    def enqueue(self, study: str, questions: Sequence[Question]) -> list[Evaluation]:
        """The questions as evaluations that are queued: `claim` hands them out before all that is lost."""
        ...

    def add(self, study: str, task: str, params: Mapping[str, Option], outcomes: Mapping[str, float]) -> Evaluation:
        """Data of the user's own, as an evaluation that is done (or has failed), with price 0 and no attempts."""
        ...

    def add_all(self, study: str, data: Sequence[Datum]) -> list[Evaluation]:
        """The same for many, or for none of them if one is refused."""
        ...

    def claim(
        self,
        study: str,
        tasks: Collection[str],
        *,
        losses: int | None,
        worker: str | None,
        lease: float | None,
        limit: Limit = Limit(),  # noqa: B008
    ) -> Evaluation | None:
        """The first queued evaluation of these tasks, or else the first lost one; None if there is none.

        A queued one that would exceed the limit is left where it is. A lost one counts already; one whose workers fell
        silent `losses` times has failed instead; None tries for ever.
        """
        ...

    def renew(self, study: str, attempts: Mapping[int, int], lease: float) -> set[int]:
        """Extend the leases of the evaluations of these ids whose present attempt is the one given, and say which.

        Those that were lost because the lease ran out are running again.
        """
        ...

    def tell(
        self,
        study: str,
        id: int,
        outcomes: Mapping[str, float],
        expected: Collection[str],
        seconds: float | None,
        *,
        attempt: int | None = None,
        attributes: Mapping[str, object] = NOTHING,
    ) -> Evaluation:
        """Keep these outcomes; the evaluation is done once it has all that are `expected` of its task.

        Attributes are kept beside them as far as JSON can hold them; the latest of a name counts.
        A DataError for a value that differs from what was told before, for an id that does not exist, or for an attempt
        that never was (None is any).
        """
        ...

    def fail(
        self,
        study: str,
        id: int,
        error: str,
        *,
        attempt: int | None,
        seconds: float | None,
        outcomes: Mapping[str, float],
        attributes: Mapping[str, object] = NOTHING,
    ) -> Evaluation:
        """The evaluation as failed, with what it measured nevertheless; a DataError as from `tell`.

        Unchanged if it is done or abandoned, or if `attempt` is not its present one (None is whichever it is).
        """
        ...

    def crash(self, study: str, id: int, error: str, *, attempt: int, attempts: int) -> Evaluation:
        """The evaluation as lost, since the process that ran it died; failed if that happened `attempts` times."""
        ...

    def release(self, study: str, id: int, error: str, *, attempt: int | None) -> Evaluation:
        """The evaluation as lost, for someone else to claim; only an open one changes, and only its present attempt."""
        ...

    def abandon(self, study: str, id: int) -> Evaluation:
        """The evaluation as abandoned; only one that is open, lost or failed changes."""
        ...

    def correct(self, study: str, id: int, outcomes: Mapping[str, float], reason: str) -> Evaluation:
        """The evaluation with these values in place of those told, which its corrections keep.

        A DataError for an outcome that was not told.
        """
        ...

    def exclude(self, study: str, id: int, reason: str) -> Evaluation:
        """The evaluation as excluded, with the reason among its corrections."""
        ...

    def include(self, study: str, id: int, reason: str) -> Evaluation:
        """The evaluation as not excluded."""
        ...

    def close(self) -> None:
        """Let go of connections; the store may be used again afterwards."""
        ...
