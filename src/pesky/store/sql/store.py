"""A store in an SQL database, SQLite or PostgreSQL, for any number of processes.

Each method loads rows, lets `transitions` say what becomes of them, and writes rows. Writing transactions of a study
are ordered by SQLite's one write lock or by a lock on the study's row in PostgreSQL.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Double, and_, delete, insert, literal, or_, select
from sqlalchemy.exc import IntegrityError

from pesky.problem import Option
from pesky.store import transitions
from pesky.store.checks import check_name, check_since, gone
from pesky.store.contract import NOTHING, Datum, Limit, ProblemRecord, Question, Refusal, StudyRecord
from pesky.store.evaluation import Evaluation, State
from pesky.store.sql import cells, counted, study_rows
from pesky.store.sql.clock import clock_of, steady_clock
from pesky.store.sql.database import Database
from pesky.store.sql.evaluation_rows import COLUMNS, from_row
from pesky.store.sql.locked_study import LockedStudy, is_lease_stale
from pesky.store.sql.schema import evaluations, prepare, problems, studies
from pesky.store.sql.url import path_of, rendered, shown

R = TypeVar("R")


class SqlStore:
    """Studies in the database behind a URL, by the database's clock unless another `clock` is given.

    SQLite's clock is the machine's, and it is read so that nobody can set it while a lease runs: see `steady_clock`.

    Workers on several machines need PostgreSQL: SQLite's locks do not reach across network file systems.
    """

    def __init__(
        self, url: str, clock: Callable[[], float] | None = None, *, create: bool = True, read_only: bool = False
    ):
        self._database = Database(url, "read" if read_only else "create" if create else "write")
        prepare(self._database)
        self._given_clock = clock
        self._clock = clock or steady_clock(self._database)
        self._reached: dict[str, int] = {}
        """The latest revision that is known of each study: an older one is of a copy that took its place."""

    def __repr__(self) -> str:
        return f"SqlStore({shown(self._database.url)!r})"

    def __reduce__(self) -> tuple["partial[SqlStore]", tuple[str, Callable[[], float] | None]]:
        # what is there already is not to be created elsewhere
        opened = partial(SqlStore, create=False, read_only=self.is_read_only)
        return opened, (rendered(self._database.url), self._given_clock)

    @property
    def is_read_only(self) -> bool:
        """Whether it was opened for reading: what would change something is a StorageError."""
        return self._database.access == "read"

    @property
    def file(self) -> Path | None:
        """The file that it is kept in, if it is one."""
        path = path_of(rendered(self._database.url))
        return None if path is None else Path(path)

    def open(self, name: str, problem: str, seed: int, identity: str) -> StudyRecord:
        """The study of that name as it is kept; it is created with these if there is none."""
        check_name(name)
        if self.is_read_only:
            return self.load(name)

        def find_or_create(connection: Connection) -> StudyRecord:
            kept = study_rows.find(connection, name)
            if kept is not None:
                return kept
            row = {"name": name, "problem": problem, "seed": seed, "identity": identity}
            try:
                with connection.begin_nested():
                    now = float(connection.scalar(select(self._now())) or 0.0)
                    connection.execute(insert(studies).values(**row, revision=0, created=now))
                    key = connection.scalar(select(studies.c.id).where(studies.c.identity == identity))
                    first = {"study": key, "number": 0, "since": now, "problem": problem}
                    connection.execute(insert(problems).values(first))
            except IntegrityError:  # someone else was faster
                return study_rows.get(connection, name)
            return StudyRecord(**row)

        return self._database.write(find_or_create, is_repeatable=True)

    def load(self, name: str) -> StudyRecord:
        """The study of that name; a StorageError that lists the names there are if there is none."""
        check_name(name)
        return self._database.read(lambda connection: study_rows.get(connection, name))

    def names(self) -> list[str]:
        """The names of all studies, in the order of their creation."""
        return self._database.read(study_rows.names)

    def record(self, study: str) -> StudyRecord:
        """The study as it is kept now."""
        return self._database.read(lambda connection: study_rows.of_identity(connection, study))

    def replace_problem(self, study: str, problem: str) -> None:
        """Keep this problem in place of the present one."""
        self._change(study, lambda locked: locked.replace_problem(problem), is_repeatable=True)

    def change_problem(self, study: str, problem: str) -> None:
        """Keep this problem with the study from now on, and the earlier ones in its history."""
        self._change(study, lambda locked: locked.change_problem(problem))

    def problems(self, study: str) -> list[ProblemRecord]:
        """The problems that the study had, the present one last."""
        return self._database.read(lambda connection: study_rows.problems_of(connection, study))

    def settings(self, study: str) -> str:
        """How the study is asked, as the JSON text that was kept last."""
        return self._database.read(lambda connection: study_rows.settings_of(connection, study))

    def keep_settings(self, study: str, settings: str) -> None:
        """Keep this JSON text of how the study is asked."""
        self._database.write(lambda connection: study_rows.keep_settings(connection, study, settings), True)

    def rename(self, study: str, name: str) -> None:
        """Keep the study under another name."""
        check_name(name)
        self._change(study, lambda locked: locked.rename(name), is_repeatable=True)

    def delete(self, study: str) -> None:
        """Forget a study and all its evaluations; nothing if it is gone already."""

        def forget(connection: Connection) -> None:
            key = connection.scalar(select(studies.c.id).where(studies.c.identity == study).with_for_update())
            connection.execute(delete(evaluations).where(evaluations.c.study == key))
            connection.execute(delete(problems).where(problems.c.study == key))
            connection.execute(delete(studies).where(studies.c.id == key))
            study_rows.forget(connection, study)

        self._database.write(forget, is_repeatable=True)

    def changes(self, study: str, since: int) -> tuple[int, list[Evaluation]]:
        """The study's revision, and the evaluations that changed after revision `since`, by their ids."""

        def look(connection: Connection) -> list[tuple[Any, ...]]:
            return _changed(connection, study, since, self._now(), with_late=self.is_read_only)

        least = max(since, self._reached.get(study, 0))
        rows = self._database.read(look)
        is_late = bool(rows) and bool(rows[0][1])
        if is_late and not self.is_read_only:
            self._change(study, lambda _: None, is_repeatable=True)  # marks what has expired
            rows = self._database.read(look)
        if not rows:
            raise gone()
        (revision,) = cells.read("the study", [studies.c.revision], rows[0][:1])
        check_since(least, revision)
        self._reached[study] = max(revision, self._reached.get(study, 0))
        found = sorted((from_row(study, row[2:]) for row in rows if row[2] is not None), key=lambda each: each.id)
        if is_late and self.is_read_only:
            now = self._database.read(lambda connection: float(connection.scalar(select(self._now())) or 0.0))
            found = [transitions.expired(each, now) for each in found]
        return revision, found

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
        """The question as a new evaluation, unless others have asked since or the limit is reached."""

        def ask(locked: LockedStudy) -> Evaluation | Refusal:
            count, counted, cost = locked.totals()
            is_beyond = transitions.is_beyond(limit, counted, cost, question.price)
            is_outdated = known is not None and count > known
            if is_outdated or is_beyond:
                return Refusal(is_outdated, is_beyond)
            return locked.insert(transitions.asked(locked.next_id(), question, locked.now, worker, lease))

        return self._change(study, ask)

    def add(self, study: str, task: str, params: Mapping[str, Option], outcomes: Mapping[str, float]) -> Evaluation:
        """Data of the user's own, as an evaluation that is done."""
        return self.add_all(study, [Datum(task, params, outcomes)])[0]

    def add_all(self, study: str, data: Sequence[Datum]) -> list[Evaluation]:
        """The same for many, or for none of them if one is refused."""

        def insert_all(locked: LockedStudy) -> list[Evaluation]:
            return [locked.insert(transitions.added(locked.next_id(), each, locked.now)) for each in data]

        return self._change(study, insert_all)

    def enqueue(self, study: str, questions: Sequence[Question]) -> list[Evaluation]:
        """The questions as evaluations that are queued."""

        def insert_all(locked: LockedStudy) -> list[Evaluation]:
            return [locked.insert(transitions.queued(locked.next_id(), each, locked.now)) for each in questions]

        return self._change(study, insert_all)

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
        """The first queued evaluation of these tasks, or else the first lost one; None if there is none."""

        def hand_out(locked: LockedStudy) -> Evaluation | None:
            is_free = evaluations.c.state.in_((State.QUEUED.value, State.LOST.value))
            free = locked.where(is_free, evaluations.c.task.in_(tuple(tasks)))
            _, counted, cost = locked.totals() if free else (0, 0, 0.0)
            for each in sorted(free, key=lambda each: each.state is not State.QUEUED):
                if each.state is State.QUEUED and transitions.is_beyond(limit, counted, cost, each.price):
                    continue
                kept = locked.update(each, transitions.claimed(each, locked.now, losses, worker, lease))
                if kept.attempts > each.attempts:
                    return kept
            return None

        return self._change(study, hand_out)

    def renew(self, study: str, attempts: Mapping[int, int], lease: float) -> set[int]:
        """Extend the leases of the evaluations whose present attempt is the one given, and say which they are."""

        def extend(locked: LockedStudy) -> set[int]:
            held = locked.where(evaluations.c.id.in_(tuple(attempts)))
            return {
                each.id
                for each in held
                if locked.update(each, transitions.renewed(each, locked.now, attempts[each.id], lease)) is not each
            }

        return self._change(study, extend, is_repeatable=True)

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
        """Keep these outcomes; the evaluation is done once it has all that are `expected` of its task."""

        def end(each: Evaluation, now: float) -> Evaluation:
            return transitions.told(each, now, outcomes, expected, seconds, attempt, attributes)

        return self._change_one(study, id, end)

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
        """The evaluation as failed, with what it measured nevertheless."""

        def end(each: Evaluation, now: float) -> Evaluation:
            return transitions.failed(each, now, error, attempt, seconds, outcomes, attributes)

        return self._change_one(study, id, end, is_repeatable=attempt is not None)

    def crash(self, study: str, id: int, error: str, *, attempt: int, attempts: int) -> Evaluation:
        """The evaluation as lost, since the process that ran it died; failed if that happened `attempts` times."""

        def lose(each: Evaluation, now: float) -> Evaluation:
            return transitions.crashed(each, now, error, attempt, attempts)

        return self._change_one(study, id, lose)

    def release(self, study: str, id: int, error: str, *, attempt: int | None) -> Evaluation:
        """The evaluation as lost, for someone else to claim."""

        def lose(each: Evaluation, now: float) -> Evaluation:
            return transitions.released(each, now, error, attempt)

        return self._change_one(study, id, lose, is_repeatable=attempt is not None)

    def abandon(self, study: str, id: int) -> Evaluation:
        """The evaluation as abandoned."""
        return self._change_one(study, id, transitions.abandoned)

    def correct(self, study: str, id: int, outcomes: Mapping[str, float], reason: str) -> Evaluation:
        """The evaluation with these values in place of those told, which its corrections keep."""
        return self._change_one(study, id, lambda each, now: transitions.corrected(each, now, outcomes, reason))

    def exclude(self, study: str, id: int, reason: str) -> Evaluation:
        """The evaluation as excluded, with the reason among its corrections."""
        return self._change_one(study, id, lambda each, now: transitions.excluded(each, now, reason))

    def include(self, study: str, id: int, reason: str) -> Evaluation:
        """The evaluation as not excluded."""
        return self._change_one(study, id, lambda each, now: transitions.included(each, now, reason))

    def close(self) -> None:
        """Let go of connections; the store may be used again afterwards."""
        self._database.close()
        self._reached.clear()

    def _change_one(
        self, study: str, id: int, transition: Callable[[Evaluation, float], Evaluation], is_repeatable: bool = True
    ) -> Evaluation:
        """The evaluation as kept after the transition."""

        def apply(locked: LockedStudy) -> Evaluation:
            before = locked.get(id)
            return locked.update(before, transition(before, locked.now))

        return self._change(study, apply, is_repeatable)

    def _change(self, study: str, work: Callable[[LockedStudy], R], is_repeatable: bool = False) -> R:
        """What `work` returns, in one transaction on the study."""

        def transact(connection: Connection) -> tuple[R, int]:
            locked = LockedStudy(connection, study, self._now(), self._reached.get(study, 0))
            return work(locked), locked.finish()

        result, revision = self._database.write(transact, is_repeatable)
        self._reached[study] = max(revision, self._reached.get(study, 0))
        return result

    def _now(self) -> ColumnElement[float]:
        """The present time, once a lock is there: as a number where the machine has the clock, else the database's."""
        if self._clock is not None:
            return literal(self._clock(), Double)
        return clock_of(self._database.url.get_backend_name())


def _changed(
    connection: Connection, study: str, since: int, now: ColumnElement[float], with_late: bool
) -> list[tuple[Any, ...]]:
    """The study's revision, whether a lease is to be looked at, and an evaluation's columns, for each that changed.

    All in one statement, which sees one moment and takes no lock. Without changes, one row whose columns are None.
    Evaluations `with_late` leases are among them where nobody marks these.
    """
    leased = evaluations.alias()
    # it names nothing of the outer statement, and so is answered once, not once a row
    key = select(studies.c.id).where(studies.c.identity == study).correlate(None).scalar_subquery()
    late = select(leased.c.id).where(leased.c.study == key, is_lease_stale(leased, now)).correlate(None).exists()
    is_new = evaluations.c.revision > since
    is_changed = and_(
        evaluations.c.study == studies.c.id, or_(is_new, is_lease_stale(evaluations, now)) if with_late else is_new
    )
    statement = (
        select(studies.c.revision, late, *COLUMNS)
        .select_from(studies.outerjoin(evaluations, is_changed))
        .where(studies.c.identity == study)
    )
    return counted.rows(connection, statement)
