"""A study as its storage has it, read once however many look at it."""

import hashlib
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from pesky.page.source import Source
from pesky.problem import Problem
from pesky.store import Evaluation, Store, StudyRecord
from pesky.study.stored import all_problems, check_fits

FRESH = 0.3
"""Seconds for which what was read is answered again: with many tabs the storage is asked three times a second."""
MOST = 100
"""Studies of which the evaluations are kept in memory."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A study at one moment; each is equal to itself alone."""

    record: StudyRecord
    problem: Problem
    evaluations: Mapping[int, Evaluation]
    revision: int
    state: str
    """Differs where a picture would: what was told, failed, excluded or asked; not where a lease was renewed."""


def state_of(record: StudyRecord, evaluations: Iterable[Evaluation]) -> str:
    """A short text that differs where pictures of the study would."""
    told = [(e.id, e.state.value, sorted(e.outcomes.items()), e.is_excluded, e.error, e.attempts) for e in evaluations]
    return hashlib.sha256(repr((record.name, record.problem, told)).encode(errors="replace")).hexdigest()[:16]


class Reader:
    """One study, of which only what has changed is read; any thread may ask."""

    def __init__(self, source: Source, store: Store, study: str) -> None:
        self._source, self._store, self._study = source, store, study
        self._lock = threading.Lock()
        self._kept: Snapshot | None = None
        self._when = -FRESH

    def read(self, *, at_once: bool = False) -> Snapshot:
        """The study as it is, or as it was a moment ago; `at_once`, as it is."""
        with self._lock:
            if self._kept is None or at_once or time.monotonic() - self._when >= FRESH:
                self._kept = self._read(self._kept)
                self._when = time.monotonic()
            return self._kept

    def _read(self, before: Snapshot | None) -> Snapshot:
        revision, changed = self._store.changes(self._study, 0 if before is None else before.revision)
        if before is not None and revision == before.revision and not changed:
            return before
        record = self._store.record(self._study)
        known: Mapping[int, Evaluation] = {}
        if before is None:
            problem = self._source.problem(record)
        elif record.problem == before.record.problem:
            problem, known = before.problem, before.evaluations
        else:
            problem = self._source.problem(record)
            revision, changed = self._store.changes(self._study, 0)
        for e in changed:
            check_fits(problem, e, partial(all_problems, self._store, self._study))
        evaluations = dict(sorted({**known, **{e.id: e for e in changed}}.items()))
        return Snapshot(record, problem, evaluations, revision, state_of(record, evaluations.values()))


class Readers:
    """Those of the studies of a storage, the ones that were looked at last."""

    def __init__(self, source: Source, store: Store) -> None:
        self.source, self.store = source, store
        self._lock = threading.Lock()
        self._readers: dict[str, Reader] = {}

    def of(self, study: str) -> Reader:
        """The one of the study of this identity; a StudyGone if there is none."""
        with self._lock:
            reader = self._readers.pop(study, None)
        if reader is None:
            self.store.record(study)  # which must be there
            reader = Reader(self.source, self.store, study)
        with self._lock:
            self._readers[study] = reader
            while len(self._readers) > MOST:
                del self._readers[next(iter(self._readers))]
            return reader

    def first(self) -> str | None:
        """The identity of the study to show where none is named: the file's, or the only one."""
        names = self.store.names()
        name = self.source.file.name if self.source.file is not None else None
        if name not in names:
            name = names[0] if len(names) == 1 else None
        return None if name is None else self.store.load(name).identity
