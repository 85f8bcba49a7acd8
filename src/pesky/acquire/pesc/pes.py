"""Predictive entropy search: PESC where nothing is constrained."""

from dataclasses import dataclass
from typing import ClassVar

from pesky.acquire.pesc.rule import PredictiveEntropySearch
from pesky.errors import ProblemError


@dataclass(frozen=True)
class UnconstrainedEntropySearch(PredictiveEntropySearch):
    """PES (Hernandez-Lobato et al., 2014): the same where nothing is constrained."""

    name: ClassVar[str] = "pes"

    def check(self, dim: int, constraints: int) -> None:
        if constraints:
            raise ProblemError(
                f"the rule 'pes' is for problems without constraints, and this one has {constraints}: use 'pesc'."
            )
