"""A study file, read and checked: what is asked, where it is kept, what to call, when to stop."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

from pesky.problem import Problem
from pesky.store.sql.url import hidden
from pesky.study_file.calls import Call, calls_of, check_callable
from pesky.study_file.key_lines import key_lines
from pesky.study_file.known_outcomes import check_known, known_of
from pesky.study_file.mistakes import Findings, StudyFileError
from pesky.study_file.problem import problem_of, task_tables
from pesky.study_file.rule import check_strategy
from pesky.study_file.storage import storage_url, stored_text
from pesky.study_file.tables import BudgetTable, RunTable, StudyTable
from pesky.study_file.toml import read_toml
from pesky.study_file.validate import validated


@dataclass(frozen=True, repr=False)
class StudyFile:
    """What a study file says, with every default filled in."""

    path: Path
    name: str
    storage: str
    """The URL of the storage, with an absolute path."""
    problem: Problem
    calls: Mapping[str, Call]
    """What to call for each task; tasks without are measured by hand."""
    budget: BudgetTable
    run: RunTable
    strategy: object = None
    """The name of a strategy, or its steps as plain data; None where the file says nothing of it."""

    def __repr__(self) -> str:
        shown = {field.name: getattr(self, field.name) for field in fields(self)} | {"storage": hidden(self.storage)}
        return f"StudyFile({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    @classmethod
    def read(
        cls,
        path: str | Path,
        *,
        importing: bool = True,
        running: bool | Collection[str] = False,
        evaluations: int | None = None,
        strategy: str | None = None,
    ) -> "StudyFile":
        """The study file; a StudyFileError with all its mistakes if there are any.

        Args:
            path: Where it is.
            importing: Whether functions must be importable and programs there.
            running: Whether it must say all that a run needs: a budget, and calls for all tasks, or for those named.
            evaluations: A limit instead of the budget's own.
            strategy: One instead of the file's own.
        """
        path = Path(path).resolve()
        if strategy is not None:
            from pesky.strategy import Strategy  # imports torch, which takes seconds

            Strategy.of(strategy)
        text, given = _read(path)
        findings = Findings(key_lines(text))
        given = stored_text(given, findings)
        table = validated(StudyTable, given, (), findings) or StudyTable()
        asked_by = table.strategy if strategy is None else strategy
        tasks = task_tables(table.tasks, findings)
        known = known_of(table.known, path.parent, importing, findings)
        problem = problem_of(table, tasks, known, findings)
        calls = calls_of(table, tasks, problem, path.parent, importing, findings)
        budget = validated(BudgetTable, table.budget, ("budget",), findings)
        if budget is not None and evaluations is not None:
            budget = budget.model_copy(update={"evaluations": evaluations})
        run = validated(RunTable, table.run, ("run",), findings)
        if run is not None and problem is not None and importing:
            check_strategy(asked_by, run, problem, budget.gain_per_cost if budget is not None else None, findings)
            check_known(problem, findings)
        storage = storage_url(table.storage, path, findings)
        if running:
            _check_runs(table, problem, calls, budget, running, findings)
        if findings.mistakes or problem is None or budget is None or run is None:
            raise StudyFileError(path, findings.sorted())
        return cls(path, table.name or path.stem, storage, problem, calls, budget, run, asked_by)


def _read(path: Path) -> tuple[str, dict[str, object]]:
    """The file's text and what it says; a line that is no TOML is shown without its password."""
    try:
        return read_toml(path)
    except StudyFileError as error:
        mistakes = tuple(replace(mistake, message=hidden(mistake.message)) for mistake in error.mistakes)
        raise StudyFileError(path, mistakes) from None


def _check_runs(
    table: StudyTable,
    problem: Problem | None,
    calls: Mapping[str, Call],
    budget: BudgetTable | None,
    running: bool | Collection[str],
    findings: Findings,
) -> None:
    if budget is not None and not budget.is_limited and not findings.concern(("budget",)):
        findings.note(("budget",), "is missing: expected when to stop, like evaluations = 40 below [budget].")
    if problem is not None and not findings.concern(("tasks",), ("function",), ("command",)):
        tasks = problem.tasks if isinstance(running, bool) else dict.fromkeys(running)
        check_callable(calls, tasks, table.tasks is None, findings)
