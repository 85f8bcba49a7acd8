"""The constraints of a study file."""

from collections.abc import Collection, Iterator, Mapping

from pesky.errors import ProblemError, brief
from pesky.problem import Constraint, Parameter, Problem, Task
from pesky.problem.parameter_constraints import constraint_of, expressions_of
from pesky.study_file.key_lines import Key
from pesky.study_file.mistakes import Findings
from pesky.study_file.tables import ConstraintTable
from pesky.study_file.validate import validated


def constraints_of(
    given: list[object],
    objective: str | None,
    parameters: Mapping[str, Parameter],
    stated: Collection[str],
    findings: Findings,
) -> list[Constraint]:
    """The constraints that can be understood and that fit those before them; the others go to the findings.

    `stated` are outcomes for sure, since the file calls them so elsewhere.
    """
    kept: list[Constraint] = []
    for key, constraint in _each(given, parameters, findings):
        try:
            # with the problem's own eyes: twice the same, contradictions, a yes or no as the objective
            minimized, tried = objective or f"not {constraint.outcome}", [*kept, constraint]
            measured = measured_of(minimized, tried, parameters, stated)
            Problem(parameters, minimize=minimized, constraints=tried, tasks={"all": Task(measured)})
        except ProblemError as error:
            findings.note(key, str(error))
        else:
            kept.append(constraint)
    return kept


def measured_of(
    objective: str, constraints: Collection[Constraint], parameters: Mapping[str, Parameter], stated: Collection[str]
) -> list[str]:
    """The outcomes that are not arithmetic of parameters; a ProblemError for what is neither."""
    expressions = expressions_of(constraints, parameters, {objective, *stated})
    named = dict.fromkeys([objective, *(constraint.outcome for constraint in constraints)])
    return [outcome for outcome in named if outcome not in expressions]


def _each(
    given: list[object], parameters: Mapping[str, Parameter], findings: Findings
) -> Iterator[tuple[Key, Constraint]]:
    for i, each in enumerate(given):
        key = ("constraints", i)
        try:
            if isinstance(each, str):
                yield key, constraint_of(each, parameters) or Constraint.parse(each)
            elif not isinstance(each, dict):
                findings.note(key, f"was {brief(each)}: expected a text, like 'latency_ms <= 2'.")
            elif table := validated(ConstraintTable, each, key, findings):
                yield key, Constraint(**table.model_dump())
        except ProblemError as error:
            findings.note(key, str(error))
