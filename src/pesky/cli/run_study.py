"""One run of a study on the command line: what is said before, meanwhile and after."""

from contextlib import ExitStack
from typing import TYPE_CHECKING

from pesky.cli import exit_codes
from pesky.cli.consoles import console, pass_on, say_error, say_json
from pesky.cli.live_view import LiveView
from pesky.cli.log_view import LogView
from pesky.cli.recommendation import exit_code_of, print_recommendation, to_plain, try_best, try_recommend
from pesky.cli.stored_study import open_study, storage_shown
from pesky.study_file import StudyFile
from pesky.study_file.output import Output
from pesky.wording import counted

if TYPE_CHECKING:
    from rich.console import Console

    from pesky.study import Ending, Study


def run_study(
    command: str,
    file: StudyFile,
    workers: int,
    tasks: tuple[str, ...],
    *,
    as_json: bool,
    quiet: bool,
    keep_going: bool = False,
) -> int:
    """The exit code of a run, by `pesky run` or `pesky work`, that ends when the budget is spent or on Ctrl-C."""
    screen = console(stderr=as_json)
    study = open_study(file)
    before = {id_: evaluation.state for id_, evaluation in study.evaluations.items()}
    if not quiet:
        screen.print(_beginning(command, file, study), soft_wrap=True)
    try:
        ending = _run(file, study, workers, tasks, screen, quiet, keep_going)
    except SystemExit:  # asked to end by a signal: there may be no time for a recommendation
        say_error(f"asked to end; all that was measured is kept. `pesky {command} {file.path.name}` goes on.")
        raise
    if ending.is_storage_away:
        say_error(f"{ending.reason}; the storage does not answer, so there is no recommendation.")
        return exit_codes.INTERRUPTED
    is_idle = before == {id_: evaluation.state for id_, evaluation in study.evaluations.items()}
    recommendation, best = try_recommend(study), try_best(study)
    screen.print(_end(command, file, ending, _how_to_go_on(file, study, tasks) if is_idle else None), soft_wrap=True)
    print_recommendation(screen, recommendation, best, study.problem)
    if as_json:
        say_json(
            {
                "study": study.name,
                "storage": storage_shown(file.storage),
                "kind": ending.kind,
                "reason": ending.reason,
                "evaluations": ending.evaluations,
                "failed": ending.failed,
                "spent": study.spent(),
                "recommendation": to_plain(recommendation),
                "best": to_plain(best),
            }
        )
    ended = {"interrupted": exit_codes.INTERRUPTED, "failures": exit_codes.FAILING}
    return ended.get(ending.kind) or exit_code_of(recommendation)


def _run(
    file: StudyFile,
    study: "Study",
    workers: int,
    tasks: tuple[str, ...],
    screen: "Console",
    quiet: bool,
    keep_going: bool,
) -> "Ending":
    from pesky.run.processes import Processes
    from pesky.study import Budget

    with ExitStack() as stack:
        watch, take = None, pass_on
        if not quiet and screen.is_terminal:
            watch = stack.enter_context(LiveView(screen, storage_shown(file.storage)))
            take = watch.print  # what measurements print scrolls by above the view, instead of through it
        elif not quiet:
            watch = LogView(screen, study)
        output = stack.enter_context(Output(take))
        executor = stack.enter_context(Processes(workers, output=output.fileno()))
        return study.run(
            {task: file.calls[task] for task in tasks},
            Budget(**file.budget.model_dump()),
            workers=workers,
            executor=executor,
            tasks=tasks,
            watch=watch,
            lease=file.run.lease,
            attempts=file.run.attempts,
            losses=file.run.losses,
            keep_going=keep_going,
            progress=False,
        )


def _beginning(command: str, file: StudyFile, study: "Study") -> str:
    kept = list(study.evaluations.values())
    if not kept:
        return f"New study {study.name!r}, kept in {storage_shown(file.storage)}."
    anew = " (--fresh starts anew)" if command == "run" else ""
    return f"Continuing {study.name!r} in {storage_shown(file.storage)}: {counted(len(kept))} there already{anew}."


def _end(command: str, file: StudyFile, ending: "Ending", more: str | None) -> str:
    """How it ended; `more` is what would have measured something, if nothing was."""
    if ending.kind == "interrupted":
        return f"Interrupted; all that was measured is kept. `pesky {command} {file.path.name}` goes on."
    said = f"{ending.reason[:1].upper()}{ending.reason[1:]}"
    counts = f"{counted(ending.evaluations)} done" + (f", {ending.failed} failed" if ending.failed else "")
    if ending.kind == "failures":
        return f"{said}."
    if more is None or ending.kind != "budget":
        return f"{said}: {counts}."
    return f"{said} already ({counts}), so nothing was measured; {more} goes on."


def _how_to_go_on(file: StudyFile, study: "Study", tasks: tuple[str, ...]) -> str:
    """What a study whose budget is spent goes on with: an option, if more evaluations are all that it needs."""
    from pesky.run.budget import Exhausted
    from pesky.run.spending import affordable
    from pesky.store import Limit
    from pesky.store.transitions import counts

    evaluations, larger = study.evaluations, "a larger [budget] in the file"
    asked = sum(map(counts, evaluations.values()))
    if file.budget.evaluations is None or asked < file.budget.evaluations:
        return larger
    try:
        affordable(tasks, evaluations, study.problem, Limit(cost=file.budget.cost))
    except Exhausted:
        return larger
    return f"`--evaluations {asked + max(asked // 2, 1)}`"
