"""The constraints of a study file."""

from collections.abc import Iterator

from pesky.errors import ProblemError
from pesky.problem import Constraint, Problem, Real
from pesky.study_file.key_lines import Key
from pesky.study_file.mistakes import Findings
from pesky.study_file.tables import ConstraintTable
from pesky.study_file.validate import validated


def constraints_of(given: list[object], objective: str | None, findings: Findings) -> list[Constraint]:
    """The constraints that can be understood and that fit those before them; the others go to the findings."""
    kept: list[Constraint] = []
    for key, constraint in _each(given, findings):
        try:
            # with the problem's own eyes: twice the same, contradictions, a yes or no as the objective
            Problem(
                {"x": Real(0, 1)}, minimize=objective or f"not {constraint.outcome}", constraints=[*kept, constraint]
            )
        except ProblemError as error:
            findings.note(key, str(error))
        else:
            kept.append(constraint)
    return kept


def _each(given: list[object], findings: Findings) -> Iterator[tuple[Key, Constraint]]:
    for i, each in enumerate(given):
        key = ("constraints", i)
        try:
            if isinstance(each, str):
                yield key, Constraint.parse(each)
            elif not isinstance(each, dict):
                findings.note(key, f"was {each!r}: expected a text, like 'latency_ms <= 2'.")
            elif table := validated(ConstraintTable, each, key, findings):
                yield key, Constraint(**table.model_dump())
        except ProblemError as error:
            findings.note(key, str(error))
