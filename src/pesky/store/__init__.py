"""Where studies are kept: the contract, and who fulfils it."""

from pesky.errors import StorageError
from pesky.store.contract import Kept, Limit, Question, Refusal, Store
from pesky.store.evaluation import Attempt, Cause, Evaluation, State
from pesky.store.memory import MemoryStore

__all__ = [
    "Attempt",
    "Cause",
    "Evaluation",
    "Kept",
    "Limit",
    "MemoryStore",
    "Question",
    "Refusal",
    "State",
    "Store",
    "open_store",
]


def open_store(url: str | None = None, *, create: bool = True, read_only: bool = False) -> Store:
    """The store behind a URL like "sqlite:///study.db" or "postgresql://user@host/database"; None is this process.

    Without `create`, a storage that holds nothing of pesky yet is a StorageError instead of the beginning of one. One
    that is opened `read_only` is not written to in any way, and what would change it is a StorageError.
    """
    if url is None:
        return MemoryStore()
    try:
        from pesky.store.sql import SqlStore  # a machine without SQLAlchemy can do all that needs no storage
    except ImportError as error:
        raise StorageError("a storage needs SQLAlchemy, which is not installed: pip install sqlalchemy.") from error
    return SqlStore(url, create=create, read_only=read_only)
