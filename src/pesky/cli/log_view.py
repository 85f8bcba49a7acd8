"""A run as lines of a log, one for each evaluation that ended: for logs, pipes and CI."""

from typing import TYPE_CHECKING

from pesky.cli.format import measured, values
from pesky.data.formatting import first_line, is_feasible
from pesky.store import Evaluation, State
from pesky.text import one_line
from pesky.wording import duration

if TYPE_CHECKING:
    from rich.console import Console

    from pesky.study import Progress, Study

_SIGNS = {True: "feasible", False: "infeasible", None: ""}


class LogView:
    """Watches a run and prints what ended since it last looked."""

    def __init__(self, console: "Console", study: "Study"):
        self._console = console
        self._seen = dict(study.evaluations)
        self._is_stopping = False

    def __call__(self, progress: "Progress") -> None:
        """Print what is new."""
        evaluations = progress.study.evaluations
        for id_, evaluation in evaluations.items():
            before = self._seen.get(id_)
            if before is None or before.revision != evaluation.revision:
                self._seen[id_] = evaluation
                if not evaluation.is_open:
                    self._console.print(self._line(evaluation, progress), soft_wrap=True)
        if progress.state == "stopping" and not self._is_stopping and progress.running:
            self._is_stopping = True
            self._console.print(stopping(len(progress.running)), soft_wrap=True)

    def _line(self, e: Evaluation, progress: "Progress") -> str:
        limit = progress.budget.evaluations
        ended = sum(each.state in (State.DONE, State.FAILED) and not each.is_yours for each in self._seen.values())
        count = f"[{ended}{'' if limit is None else f'/{limit}'}]"
        asked = f"{count} #{e.id} {one_line(e.task)} at {values(e.params)}"
        took = "" if e.seconds is None else f" in {duration(e.seconds)}"
        if e.state is not State.DONE:
            reason = first_line(e.error)
            return f"{asked}: {e.state.value}{took}{f': {reason}' if reason else ''}"
        problem = progress.study.problem
        sign = _SIGNS[is_feasible(e, problem)] if problem.constraints else ""
        return f"{asked}: {measured(e, problem)}{took}{f' ({sign})' if sign else ''}"


def stopping(running: int) -> str:
    """What a run says that asks no more."""
    what = "one measurement" if running == 1 else f"{running} measurements"
    return f"Asking no more; waiting for {what} to end (Ctrl-C lets go of {'it' if running == 1 else 'them'})."
