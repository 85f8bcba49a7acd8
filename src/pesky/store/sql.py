"""A store in an SQL database, SQLite or PostgreSQL, for any number of processes.

Each method loads rows, lets `transitions` say what becomes of them, and writes rows. Writing transactions of a study
are ordered by SQLite's one write lock or by a lock on the study's row in PostgreSQL.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Double, and_, delete, insert, literal, select
from sqlalchemy.exc import IntegrityError

from pesky.problem import Option
from pesky.store import named, transitions
from pesky.store.checks import check_name, check_since
from pesky.store.clock import clock_of
from pesky.store.contract import Kept, Limit, Question, Refusal
from pesky.store.database import Database
from pesky.store.evaluation import Evaluation, State
from pesky.store.locked import LockedStudy
from pesky.store.rows import COLUMNS, from_row
from pesky.store.schema import evaluations, prepare, studies
from pesky.store.url import shown

R = TypeVar("R")


class SqlStore:
    """Studies in the database behind a URL, by the database's clock unless another `clock` is given.

    Workers on several machines need PostgreSQL: SQLite's locks do not reach across network file systems.
    """

    def __init__(self, url: str, clock: Callable[[], float] | None = None, *, create: bool = True):
        self._database = Database(url, create)
        self._clock = clock
        prepare(self._database, create)

    def __repr__(self) -> str:
        return f"SqlStore({shown(self._database.url)!r})"

    def __reduce__(self) -> tuple[type["SqlStore"], tuple[str, Callable[[], float] | None]]:
        return SqlStore, (self._database.url.render_as_string(hide_password=False), self._clock)

    def open(self, name: str, problem: str, seed: int) -> Kept:
        """The study of that name as it is kept; it is created with this problem and seed if there is none."""
        check_name(name)

        def find_or_create(connection: Connection) -> Kept:
            kept = named.find(connection, name)
            if kept is not None:
                return kept
            row = {"name": name, "problem": problem, "seed": seed, "revision": 0, "created": self._now()}
            try:
                with connection.begin_nested():
                    connection.execute(insert(studies).values(row))
            except IntegrityError:  # someone else was faster
                return named.get(connection, name)
            return Kept(name, problem, seed)

        return self._database.write(find_or_create, is_repeatable=True)

    def load(self, name: str) -> Kept:
        """The study of that name; a StorageError that lists the names there are if there is none."""
        check_name(name)
        return self._database.read(lambda connection: named.get(connection, name))

    def names(self) -> list[str]:
        """The names of all studies, in the order of their creation."""
        return self._database.read(named.names)

    def replace_problem(self, name: str, problem: str) -> None:
        """Keep this problem with the study from now on."""
        self._change(name, lambda study: study.replace_problem(problem), is_repeatable=True)

    def delete(self, name: str) -> None:
        """Forget a study and all its evaluations; nothing if there is none of that name."""

        def forget(connection: Connection) -> None:
            key = connection.scalar(select(studies.c.id).where(studies.c.name == name).with_for_update())
            connection.execute(delete(evaluations).where(evaluations.c.study == key))
            connection.execute(delete(studies).where(studies.c.id == key))

        self._database.write(forget, is_repeatable=True)

    def changes(self, name: str, since: int) -> tuple[int, list[Evaluation]]:
        """The study's revision, and the evaluations that changed after revision `since`, by their ids."""
        rows = self._database.read(lambda connection: _changed(connection, name, since, self._now()))
        if rows and rows[0][1]:
            self._change(name, lambda study: None, is_repeatable=True)  # marks what has expired
            rows = self._database.read(lambda connection: _changed(connection, name, since, self._now()))
        if not rows:
            raise self._database.read(lambda connection: named.missing(connection, name))
        check_since(name, since, rows[0][0])
        return rows[0][0], [from_row(row[2:]) for row in rows if row[2] is not None]

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
        """The question as a new evaluation, unless others have asked since or the limit is reached."""

        def ask(study: LockedStudy) -> Evaluation | Refusal:
            count, counted, cost = study.totals()
            is_beyond = transitions.is_beyond(limit, counted, cost, question.price)
            is_outdated = known is not None and count > known
            if is_outdated or is_beyond:
                return Refusal(is_outdated, is_beyond)
            return study.insert(transitions.asked(count, question, study.now, worker, lease))

        return self._change(name, ask)

    def add(self, name: str, task: str, params: Mapping[str, Option], outcomes: Mapping[str, float]) -> Evaluation:
        """Data of the user's own, as an evaluation that is done."""
        return self._change(
            name, lambda study: study.insert(transitions.yours(study.totals()[0], task, params, outcomes, study.now))
        )

    def claim(
        self, name: str, tasks: Collection[str], *, attempts: int, worker: str | None, lease: float | None
    ) -> Evaluation | None:
        """The first lost evaluation of these tasks, handed out again; None if there is none."""

        def hand_out(study: LockedStudy) -> Evaluation | None:
            for each in study.where(evaluations.c.state == State.LOST.value, evaluations.c.task.in_(tuple(tasks))):
                kept = study.update(each, transitions.claimed(each, study.now, attempts, worker, lease))
                if kept.attempts > each.attempts:
                    return kept
            return None

        return self._change(name, hand_out)

    def renew(self, name: str, ids: Collection[int], worker: str, lease: float) -> set[int]:
        """Extend the leases of those running evaluations that are still this worker's, and say which they are."""

        def extend(study: LockedStudy) -> set[int]:
            mine = study.where(evaluations.c.state == State.RUNNING.value, evaluations.c.id.in_(tuple(ids)))
            return {
                each.id
                for each in mine
                if study.update(each, transitions.renewed(each, study.now, worker, lease)) is not each
            }

        return self._change(name, extend, is_repeatable=True)

    def tell(
        self, name: str, id: int, outcomes: Mapping[str, float], expected: Collection[str], seconds: float | None
    ) -> Evaluation:
        """Keep these outcomes; the evaluation is done once it has all that are `expected` of its task."""
        return self._change_one(name, id, lambda each, now: transitions.told(each, now, outcomes, expected, seconds))

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
        """The evaluation as failed, with what it measured nevertheless."""

        def end(each: Evaluation, now: float) -> Evaluation:
            return transitions.failed(each, now, error, attempt, seconds, outcomes)

        return self._change_one(name, id, end, is_repeatable=attempt is not None)

    def release(self, name: str, id: int, error: str, *, attempt: int | None) -> Evaluation:
        """The evaluation as lost, for someone else to claim."""

        def lose(each: Evaluation, now: float) -> Evaluation:
            return transitions.released(each, now, error, attempt)

        return self._change_one(name, id, lose, is_repeatable=attempt is not None)

    def abandon(self, name: str, id: int) -> Evaluation:
        """The evaluation as abandoned."""
        return self._change_one(name, id, transitions.abandoned)

    def close(self) -> None:
        """Let go of connections; the store may be used again afterwards."""
        self._database.close()

    def _change_one(
        self, name: str, id: int, transition: Callable[[Evaluation, float], Evaluation], is_repeatable: bool = True
    ) -> Evaluation:
        """The evaluation as kept after the transition."""

        def apply(study: LockedStudy) -> Evaluation:
            before = study.get(id)
            return study.update(before, transition(before, study.now))

        return self._change(name, apply, is_repeatable)

    def _change(self, name: str, work: Callable[[LockedStudy], R], is_repeatable: bool = False) -> R:
        """What `work` returns, in one transaction on the study."""

        def transact(connection: Connection) -> R:
            study = LockedStudy(connection, name, self._now())
            result = work(study)
            study.finish()
            return result

        return self._database.write(transact, is_repeatable)

    def _now(self) -> ColumnElement[float]:
        return (
            clock_of(self._database.url.get_backend_name()) if self._clock is None else literal(self._clock(), Double)
        )


def _changed(connection: Connection, name: str, since: int, now: ColumnElement[float]) -> list[tuple[Any, ...]]:
    """The study's revision, whether a lease has run out, and the columns of an evaluation, for each that changed.

    All in one statement, which sees one moment and takes no lock. Without changes, one row whose columns are None.
    """
    leased = evaluations.alias()
    # it names nothing of the outer statement, and so is answered once, not once a row
    key = select(studies.c.id).where(studies.c.name == name).correlate(None).scalar_subquery()
    is_late = select(leased.c.id).where(leased.c.study == key, leased.c.expires <= now).correlate(None).exists()
    is_changed = and_(evaluations.c.study == studies.c.id, evaluations.c.revision > since)
    statement = (
        select(studies.c.revision, is_late, *COLUMNS)
        .select_from(studies.outerjoin(evaluations, is_changed))
        .where(studies.c.name == name)
        .order_by(evaluations.c.id)
    )
    return [tuple(row) for row in connection.execute(statement)]
