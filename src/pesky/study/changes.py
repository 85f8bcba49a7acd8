"""What may change of the problem of a stored study, and what would make its data meaningless."""

import logging
import uuid
from collections.abc import Iterable

from pesky.errors import ProblemChanged, ProblemError
from pesky.problem import Parameter, Problem
from pesky.problem.problem import change
from pesky.store import Evaluation, Store, StudyRecord
from pesky.study.stored import stored_problem

log = logging.getLogger("pesky")


class StoredOtherwise(ProblemError):
    """What is stored under a study's name says nothing of its problem."""


def opened(store: Store, name: str, problem: Problem, seed: int) -> StudyRecord:
    """The study of that name, begun if it is not there, and continued with this problem if it is."""
    kept = store.open(name, problem.to_json(), seed, uuid.uuid4().hex)
    continued(store, kept, problem)
    return kept


def continued(store: Store, kept: StudyRecord, problem: Problem) -> None:
    """Keep the problem with the study, and say what changed; a ProblemError if its data are not about that problem.

    A storage that was opened for reading stays as it is: its data are looked at with the other problem.
    """
    if kept.problem == problem.to_json():
        return
    before, is_read_only = stored_problem(kept), getattr(store, "is_read_only", False)
    changed = [*before.difference(problem), *_costs(before, problem)]
    if before.difference(problem):
        _check(kept.name, before, problem, store.changes(kept.identity, 0)[1])
    if changed:
        how = "is looked at with" if is_read_only else "goes on, with its data and"
        log.warning("the study %r %s a changed problem:\n%s", kept.name, how, _indented(changed))
    if is_read_only:
        return
    keep = store.change_problem if changed else store.replace_problem
    keep(kept.identity, problem.to_json())


def check_current(store: Store, study: str, problem: Problem) -> None:
    """Nothing, or `ProblemChanged` if the study has been continued with another problem since it was opened."""
    kept = store.record(study)
    if kept.problem != problem.to_json() and (changed := problem.difference(stored_problem(kept))):
        raise ProblemChanged(
            f"the study {kept.name!r} was continued with another problem since it was opened here:\n"
            f"{_indented(changed)}\nAll that was measured is kept. Open it again with that problem to go on."
        )


def _check(name: str, before: Problem, after: Problem, evaluations: Iterable[Evaluation]) -> None:
    """Nothing, or a ProblemError that names what the data are not about."""
    evaluations, wrong = list(evaluations), []
    for key in dict.fromkeys((*before.parameters, *after.parameters)):
        was, now = (_kind(each.parameters.get(key)) for each in (before, after))
        if was != now:
            wrong.append(change("parameter", key, was, now))
    for outcome in after.yes_no:
        values = {e.outcomes[outcome] for e in evaluations if outcome in e.outcomes}
        if values - {0.0, 1.0}:
            wrong.append(f"outcome {outcome}: numbers like {min(values - {0.0, 1.0}):g} became a yes or no")
    wrong += [
        f"outcome {outcome}: a yes or no became a number: write '{outcome} is true', or '.. is false'"
        for outcome in (before.yes_no - after.yes_no).intersection(after.outcomes)
        if any(outcome in e.outcomes for e in evaluations)
    ]
    if wrong:
        raise StoredOtherwise(
            f"the study {name!r} is stored with another problem, of which the data say nothing about this one:\n"
            f"{_indented(wrong)}\nRestore that, or give the new study another name; "
            "`study.adopt(other)` or `pesky copy` then takes over what can be kept."
        )


def _kind(parameter: Parameter | None) -> str | None:
    return None if parameter is None else type(parameter).__name__.lower()


def _costs(before: Problem, after: Problem) -> list[str]:
    return [
        f"task {key}: {before.tasks[key].cost_in_words} became {task.cost_in_words}"
        for key, task in after.tasks.items()
        if key in before.tasks and before.tasks[key].cost != task.cost
    ]


def _indented(lines: Iterable[str]) -> str:
    return "\n".join(f"  {line}" for line in lines)
