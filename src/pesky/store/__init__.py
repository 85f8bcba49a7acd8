"""Where studies are kept: the contract of a store, one in memory, and the one that is opened by a URL."""

from pesky.store.contract import Datum, Limit, ProblemRecord, Question, Refusal, Store, StudyRecord
from pesky.store.evaluation import Attempt, Cause, Change, Correction, Evaluation, State
from pesky.store.memory import MemoryStore

__all__ = [
    "Attempt",
    "Cause",
    "Change",
    "Correction",
    "Datum",
    "Evaluation",
    "Limit",
    "MemoryStore",
    "ProblemRecord",
    "Question",
    "Refusal",
    "State",
    "Store",
    "StudyRecord",
    "open_store",
]


def open_store(url: str | None = None, *, create: bool = True, read_only: bool = False) -> Store:
    """The store behind a URL like "sqlite:///study.db" or "postgresql://user@host/database"; None is this process.

    Without `create`, a storage that holds nothing of pesky yet is a StorageError instead of the beginning of one. One
    that is opened `read_only` is not written to in any way, and what would change it is a StorageError.
    """
    if url is None:
        return MemoryStore()
    from pesky.store.sql.store import SqlStore  # not needed by those who only read a problem or measure

    return SqlStore(url, create=create, read_only=read_only)
