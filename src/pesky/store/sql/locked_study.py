"""A study's rows inside a writing transaction, while nobody else can change them."""

from dataclasses import replace

from sqlalchemy import ColumnElement, Connection, Double, FromClause, case, func, insert, literal, or_, select, update
from sqlalchemy.exc import IntegrityError

from pesky.errors import DataError
from pesky.store import transitions
from pesky.store.checks import check_since, gone, name_taken, unknown_id
from pesky.store.evaluation import Evaluation, State
from pesky.store.sql import cells, counted
from pesky.store.sql.evaluation_rows import COLUMNS, from_row, to_row
from pesky.store.sql.schema import check, evaluations, problems, schema, studies

_COUNTS = (evaluations.c.attempts > 0) & or_(
    evaluations.c.state != State.ABANDONED.value, evaluations.c.outcomes != "{}"
)  # as `transitions.counts`


def is_lease_stale(rows: FromClause, now: ColumnElement[float]) -> ColumnElement[bool]:
    """Whether a lease has run out, or ends later than it can: as `transitions.expired` finds."""
    return or_(rows.c.expires <= now, rows.c.expires > now + rows.c.lease + transitions.SET_BACK)


class LockedStudy:
    """A study of which every evaluation whose lease had run out is marked as lost; of a revision not before `known`."""

    def __init__(self, connection: Connection, identity: str, clock: ColumnElement[float], known: int):
        self._connection = connection
        self._identity = identity
        # the lock first, and the clock in a statement of its own: one may wait for the lock
        columns = studies.c.id, studies.c.revision, select(schema.c.version).scalar_subquery()
        statement = select(*columns).where(studies.c.identity == identity).with_for_update(of=studies)
        found = connection.execute(statement).one_or_none()
        if found is None:
            raise gone()
        check(connection.engine.url, found[2])  # whoever upgraded it meanwhile keeps other things
        self._key, self._revision = cells.read("the study", columns[:2], found[:2])
        check_since(known, self._revision)
        self._is_changed = False
        self.now = float(connection.scalar(select(clock)) or 0.0)
        for each in self.where(is_lease_stale(evaluations, literal(self.now, Double))):
            self.update(each, transitions.expired(each, self.now))

    def where(self, *conditions: ColumnElement[bool]) -> list[Evaluation]:
        """The evaluations that meet all conditions, by their ids."""
        statement = select(*COLUMNS).where(evaluations.c.study == self._key, *conditions)
        found = (from_row(self._identity, row) for row in counted.rows(self._connection, statement))
        return sorted(found, key=lambda each: each.id)

    def get(self, id: int) -> Evaluation:
        """The evaluation of that number."""
        found = self.where(evaluations.c.id == id) if isinstance(id, int) and abs(id) < 2**31 else []
        if not found:
            raise DataError(unknown_id(id, self.totals()[0]))
        return found[0]

    def totals(self) -> tuple[int, int, float]:
        """How many evaluations there are, how many of them a limit counts, and what these cost."""
        counted = func.coalesce(func.sum(case((_COUNTS, 1), else_=0)), 0)
        cost = func.coalesce(func.sum(case((_COUNTS, evaluations.c.price), else_=0.0)), 0.0)
        statement = select(func.count(), counted, cost).where(evaluations.c.study == self._key)
        count, counted, cost = self._connection.execute(statement).one()
        return int(count), int(counted), float(cost)

    def next_id(self) -> int:
        """The number of the next evaluation, also where a damaged one was deleted."""
        last = select(func.max(evaluations.c.id)).where(evaluations.c.study == self._key)
        return int(self._connection.scalar(select(func.coalesce(last.scalar_subquery() + 1, 0))) or 0)

    def insert(self, evaluation: Evaluation) -> Evaluation:
        """The new evaluation as kept, at the next revision."""
        kept = replace(evaluation, revision=self._next(), study=self._identity)
        self._connection.execute(insert(evaluations).values(study=self._key, **to_row(kept)))
        return kept

    def update(self, before: Evaluation, after: Evaluation) -> Evaluation:
        """The evaluation as kept, at the next revision if it changed."""
        if after is before:
            return before
        kept = replace(after, revision=self._next())
        which = (evaluations.c.study == self._key) & (evaluations.c.id == kept.id)
        self._connection.execute(update(evaluations).where(which).values(to_row(kept)))
        return kept

    def replace_problem(self, problem: str) -> None:
        """Keep this problem in place of the present one."""
        self._next()
        self._connection.execute(update(studies).where(studies.c.id == self._key).values(problem=problem))
        last = (problems.c.study == self._key) & (problems.c.number == self._problems() - 1)
        self._connection.execute(update(problems).where(last).values(problem=problem))

    def change_problem(self, problem: str) -> None:
        """Keep this problem with the study from now on, and the earlier ones in its history."""
        self._next()
        self._connection.execute(update(studies).where(studies.c.id == self._key).values(problem=problem))
        row = {"study": self._key, "number": self._problems(), "since": self.now, "problem": problem}
        self._connection.execute(insert(problems).values(row))

    def rename(self, name: str) -> None:
        """Keep the study under another name."""
        try:
            with self._connection.begin_nested():
                self._connection.execute(update(studies).where(studies.c.id == self._key).values(name=name))
        except IntegrityError as error:
            raise name_taken(name) from error
        self._next()

    def _problems(self) -> int:
        """How many problems the study had."""
        count = select(func.coalesce(func.max(problems.c.number) + 1, 0)).where(problems.c.study == self._key)
        return int(self._connection.scalar(count) or 0)

    def finish(self) -> int:
        """Keep the revision that the study has come to, and say which."""
        if self._is_changed:
            values = update(studies).where(studies.c.id == self._key).values(revision=self._revision)
            self._connection.execute(values)
        return self._revision

    def _next(self) -> int:
        self._is_changed = True
        self._revision += 1
        return self._revision
