"""The first evaluations of a task, all of which fail in the same way: a program that cannot work anywhere."""

from collections.abc import Iterable

from pesky.problem import Problem
from pesky.run.call import TRACEBACK
from pesky.store import Evaluation, State

FIRST = 3
"""How many say that the next one would fail as well."""
PROGRAM_ERRORS = ("NameError", "ImportError", "ModuleNotFoundError", "AttributeError", "SyntaxError", "TypeError")
"""Exceptions that no point leads to: also where failures are learnt, there is nothing to learn from them."""


class FirstFailures:
    """The failures of each task in one run, up to the first that differs."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._failed: dict[str, list[Evaluation]] = {}

    def note(self, evaluation: Evaluation) -> None:
        """One more evaluation that is over."""
        if evaluation.state is State.FAILED:
            self._failed.setdefault(evaluation.task, []).append(evaluation)

    def why_stop(self, evaluations: Iterable[Evaluation]) -> str | None:
        """What to tell the user, if there is no use in going on; `evaluations` are all of the study."""
        for task, failed in self._failed.items():
            if len(failed) < FIRST or len({_way(e) for e in failed}) > 1 or not self._is_program(failed[-1]):
                continue
            if not any(e.task == task and e.state is State.DONE and not e.is_yours for e in evaluations):
                return _words(task, failed, is_only=len(self._problem.tasks) == 1)
        return None

    def _is_program(self, failed: Evaluation) -> bool:
        """Whether a failure like this is the program's; where failures are learnt, most are the point's."""
        is_learnt = self._problem.tasks[failed.task].learns_success
        return not is_learnt or failed.is_mistake or _way(failed)[0] in PROGRAM_ERRORS


def _way(failed: Evaluation) -> tuple[str, str]:
    """The kind of a failure, an exception's type in most cases, and the last place in the user's code."""
    headline, *places = (failed.error or "").split("\n")
    return headline.partition(":")[0], next((line.partition(" in ")[0] for line in reversed(places)), "")


def _words(task: str, failed: list[Evaluation], *, is_only: bool) -> str:
    of = "" if is_only else f" of {task!r}"
    last = failed[-1]
    said = "\n".join(line for line in (last.error or "").split("\n") if line.strip())
    where = f"study.evaluations[{last.id}].attributes (`pesky show --json`) has the whole traceback; "
    return (
        f"the first {len(failed)} evaluations{of} all failed in the same way, so nothing more is asked: {said}\n"
        f"{where if TRACEBACK in last.attributes else ''}keep_going=True (--keep-going) goes on nevertheless"
    )
