"""`pesky check`: every mistake of a study file, or what it asks."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from pesky.cli import exit_codes
from pesky.cli.arguments import AsJson, StudyPath

if TYPE_CHECKING:
    from pesky.study_file import StudyFile


def check(study: StudyPath, json: AsJson = False) -> None:
    """Print every mistake of a study file with its line and key, or a summary of what it asks."""
    from pesky.cli.consoles import say, say_error, say_json
    from pesky.study_file import StudyFile, StudyFileError

    try:
        file = StudyFile.read(study)
    except StudyFileError as error:
        if json:
            found = [{"key": each.key, "line": each.line, "message": each.message} for each in error.mistakes]
            say_json({"mistakes": found})
        else:
            say_error(str(error))
        raise typer.Exit(exit_codes.MISTAKE) from error
    if json:
        say_json({"mistakes": [], "name": file.name, "problem": file.problem.to_dict()})
        return
    for line in summary(file):
        say(line)


def summary(file: "StudyFile") -> Iterator[str]:
    """What the file asks, a line each."""
    from pesky.cli.stored_study import storage_shown
    from pesky.problem.expression import Expression
    from pesky.problem.known import without_expressions
    from pesky.problem.parameters import in_words
    from pesky.problem.possible import holds_everywhere, holds_within

    problem = file.problem
    yield f"{file.name}: {'minimize' if problem.maximize is None else 'maximize'} {problem.objective}"
    for constraint in problem.constraints:
        expression = problem.known.get(constraint.outcome)
        is_exact = isinstance(expression, Expression)
        if holds_within(constraint, problem.ranges) or (
            is_exact and holds_everywhere(constraint, expression, problem.parameters)
        ):
            yield f"  subject to {constraint}, which holds everywhere: leave it out, unless it says too little"
        else:
            yield f"  subject to {constraint}" + ("" if is_exact else f", with confidence {constraint.confidence:g}")
    for name, parameter in problem.parameters.items():
        yield f"  over {name}: {in_words(parameter)}"
    for name, task in problem.tasks.items():
        call = file.calls.get(name)
        how = "by hand (`pesky ask`, `pesky tell`)" if call is None else f"by {call}"
        yield f"  {name} measures {', '.join(task.outcomes)} {how}, {task.cost_in_words}"
    for name, function in without_expressions(problem.known).items():
        yield f"  {name} is known, by {function}"
    for name, resource in problem.resources.items():
        yield f"  {name} runs {', '.join(resource.tasks)}, {resource.slots} at once"
    yield f"  asked by {_strategy_in_words(file)}"
    limits = [f"{limit:g} {what}" for what, limit in file.budget.model_dump(exclude_none=True).items()]
    yield f"  until {' or '.join(limits)}" if limits else "  without a [budget], which `pesky run` needs"
    yield f"  kept in {storage_shown(file.storage)}"
    yield "no mistakes found"


def _strategy_in_words(file: "StudyFile") -> str:
    """The strategy and the rule that the file names; a study that is stored keeps its own where it names none."""
    run = file.run
    named = "" if file.strategy is None else "steps of its own" if isinstance(file.strategy, list) else file.strategy
    rule = str(run.rule["name"]) if isinstance(run.rule, dict) else run.rule
    if rule is None and (run.setting in ("ep", "paper") or run.samples is not None):
        rule = "pesc-ep"
    said = [f"the strategy {named}" if named else "", f"the rule {rule}" if rule else ""]
    return " with ".join(filter(None, said)) or "the default strategy, unless the study is stored with another"
