"""The known outcomes of a study file: functions beside it, which give what needs no measuring."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pesky.errors import ProblemError, brief
from pesky.problem import Problem
from pesky.problem.known import Imported, KnownFunction
from pesky.study_file.function import CallError, Function
from pesky.study_file.mistakes import Findings


@dataclass(frozen=True)
class ImportedFromFolder(Imported):
    """The function at an import path whose module is looked for in `folder` first."""

    folder: str

    def __str__(self) -> str:
        return self.path

    @cached_property
    def function(self) -> KnownFunction:
        """The function itself; a CallError that says what is wrong if it cannot be had."""
        return Function.parse(self.path, self.folder).load()


def known_of(given: Mapping[str, object], folder: Path, importing: bool, findings: Findings) -> dict[str, Imported]:
    """The function of each known outcome; what cannot be called goes to the findings.

    Without `importing`, functions are not looked for: to look at a study takes none.
    """
    known = {}
    for outcome, text in given.items():
        key = ("known", outcome)
        known[outcome] = ImportedFromFolder(
            str(text), str(folder)
        )  # whatever is wrong with it, the outcome is meant to be known
        if not isinstance(text, str):
            findings.note(key, f"was {brief(text)}: expected a module and a function in it, like 'prices:total'.")
            continue
        try:
            function = Function.parse(text, str(folder))
            known[outcome] = ImportedFromFolder(str(function), str(folder))
            if importing:
                function.check()
        except CallError as error:
            findings.note(key, str(error))
    return known


def check_known(problem: Problem, findings: Findings) -> None:
    """Note which known outcomes have functions that do not give a number everywhere."""
    if not problem.known or findings.concern(("known",)):
        return
    # these import torch, which takes seconds
    from pesky.space import Space
    from pesky.space.exact import exact_outcomes

    for name, outcome in exact_outcomes(problem, Space.of(problem)).items():
        try:
            _ = outcome.spread
        except ProblemError as error:
            findings.note(("known", name), f"{error}")
