"""What those who run functions need of a study: they are its clients, and it need not know them."""

from collections.abc import Collection, Mapping
from typing import Protocol

from pesky.problem import Problem
from pesky.store import Evaluation, Limit, Store


class AskTell(Protocol):
    """A study to ask, and the storage that is told; `pesky.study.Study` is one."""

    @property
    def problem(self) -> Problem:
        """What is measured."""
        ...

    @property
    def store(self) -> Store:
        """Where it is kept."""
        ...

    @property
    def identity(self) -> str:
        """What the storage knows the study by."""
        ...

    @property
    def evaluations(self) -> Mapping[int, Evaluation]:
        """Every evaluation by its id, as the storage has it now."""
        ...

    @property
    def confirms(self) -> bool:
        """Whether a run keeps a part of its budget for the answer."""
        ...

    def ask(
        self,
        tasks: Collection[str],
        *,
        worker: str,
        lease: float,
        losses: int | None,
        limit: Limit,
        gain_per_cost: float | None,
        confirm: bool,
    ) -> Evaluation:
        """The next evaluation of these tasks; `Exhausted` if there is none within the limit, or none worth it.

        To `confirm`, it is at the point that would be recommended, if that was not measured yet.
        """
        ...
