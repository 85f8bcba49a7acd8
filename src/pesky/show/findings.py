"""What pictures of a study have in common: each is found out once, when the first picture needs it."""

from collections.abc import Mapping
from functools import cached_property

from pesky.answer.recommend import best_from, recommendation_from
from pesky.answer.what_if import tradeoffs
from pesky.errors import DataError
from pesky.inference.inferred import Inferred
from pesky.problem import Problem
from pesky.show.indices import Indices, indices_of
from pesky.show.points import Point, points_of
from pesky.show.replay import MOMENTS, Moment, ended, replay
from pesky.show.solution import Solution, solution_of
from pesky.store import Evaluation
from pesky.store.evaluation import short
from pesky.study import Recommendation, Study, Tradeoff
from pesky.text import one_line


class Findings:
    """A study as it is now, for several pictures of it: `pesky.show.belief(findings)`.

    Args:
        study: What is looked at.
        moments: At how many moments of the past what was known then is looked at, too.
    """

    def __init__(self, study: Study, *, moments: int = MOMENTS) -> None:
        self.study, self._moments = study, moments
        self.evaluations: Mapping[int, Evaluation] = dict(study.evaluations)

    @classmethod
    def of(cls, given: "Study | Findings") -> "Findings":
        """Those that were given, or those of a study."""
        return given if isinstance(given, Findings) else cls(given)

    @property
    def problem(self) -> Problem:
        """What the study asks."""
        return self.study.problem

    @cached_property
    def ended(self) -> list[Evaluation]:
        """The evaluations that told something or failed, in the order in which they ended."""
        return ended(self.evaluations.values())

    @cached_property
    def points(self) -> list[Point]:
        """The measured points."""
        return points_of(self.problem, self.evaluations.values())

    @cached_property
    def inferred(self) -> Inferred:
        """All that was told and is believed; a DataError while an answer could rest on nothing."""
        return self.study.inferred()

    def answer_in_words(self) -> dict[str, str | list[str]]:
        """The answer by what is said of it; and the best measured point, where that is another."""
        said = self.answer.in_words()
        if not self.answer.is_measured and (best := self.best) is not None:
            at = [f"{one_line(name)} = {short(value)}" for name, value in best.params.items()]
            said["best measured point"] = [*at, best.where()]
        return said

    @property
    def missing(self) -> str:
        """Why nothing is believed yet; nothing where something is."""
        try:
            _ = self.inferred
        except DataError as error:
            return str(error)
        return ""

    @cached_property
    def answer(self) -> Recommendation:
        """What is recommended."""
        return recommendation_from(self.inferred)

    @cached_property
    def best(self) -> Recommendation | None:
        """The best measured point; None while none was measured completely."""
        return None if self.missing else best_from(self.inferred)

    @cached_property
    def solution(self) -> Solution:
        """Where the solution may be."""
        return solution_of(self.inferred)

    @cached_property
    def indices(self) -> dict[str, Indices]:
        """How much each parameter matters to each outcome."""
        return indices_of(self.inferred)

    @cached_property
    def tradeoffs(self) -> tuple[Tradeoff, ...]:
        """What is expected of the answer under other thresholds."""
        return tradeoffs(self.inferred)

    @cached_property
    def moments(self) -> list[Moment]:
        """What was known and believed at some moments, of which the last one is now."""
        return replay(self.study, self.ended, self.inferred, self._moments) if not self.missing else []
