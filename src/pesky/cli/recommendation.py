"""A recommendation, printed or as plain data."""

from typing import TYPE_CHECKING

from pesky.cli import exit_codes
from pesky.cli.format import exact
from pesky.errors import DataError
from pesky.problem import Problem

if TYPE_CHECKING:
    from rich.console import Console

    from pesky.study import Recommendation, Study


def try_recommend(study: "Study") -> "Recommendation | None":
    """The recommendation; None while there are no values to go by."""
    try:
        return study.recommend()
    except DataError:
        return None


def try_best(study: "Study") -> "Recommendation | None":
    """The best measured point; None while no point was measured wholly."""
    try:
        return study.best()
    except DataError:
        return None


def exit_code_of(recommendation: "Recommendation | None") -> int:
    """The exit code that says how sure it is."""
    return exit_codes.DONE if recommendation is not None and recommendation.is_confident else exit_codes.NOT_YET


def to_plain(recommendation: "Recommendation | None") -> dict[str, object] | None:
    """The recommendation as plain data."""
    return None if recommendation is None else recommendation.to_dict()


def print_recommendation(
    console: "Console", recommendation: "Recommendation | None", best: "Recommendation | None", problem: Problem
) -> None:
    """Print the recommendation with what it rests on, and the best measured point where that is another one."""
    from rich.text import Text

    if recommendation is None:
        objective = problem.objective
        what = (
            "nothing was measured"
            if objective in problem.known
            else f"no value of the objective {objective!r} is known"
        )
        console.print(f"No recommendation yet: {what}.")
        return
    if recommendation.is_confident:
        console.print(Text("Recommended", style="bold green"))
    else:
        console.print(Text("Most probably feasible so far", style="bold yellow"), end="")
        console.print(": no point is known to hold every constraint with its confidence yet")
    _print_point(console, recommendation, problem)
    if recommendation.advice:
        console.print(Text(recommendation.advice, style="" if recommendation.is_measured else "yellow"))
    if best is not None and best.params != recommendation.params:
        console.print(Text("Best measured" if best.is_confident else "Measured, most probably feasible", style="bold"))
        _print_point(console, best, problem)


def _print_point(console: "Console", found: "Recommendation", problem: Problem) -> None:
    from rich.text import Text

    width = max(map(len, found.params))
    for name, value in found.params.items():
        console.print(f"  {name:<{width}} = {exact(value)}")
    spread = found.value.spread_in_words(exact)
    console.print(f"Expected: {found.objective} = {exact(found.expected)}{spread}")
    for (text, probability), confidence in zip(found.probabilities.items(), problem.confidences, strict=True):
        style = "" if probability >= confidence else "yellow"
        console.print(Text(f"Holds with probability {probability:.3f}: {text} (asked: {confidence:g})", style=style))
    where = found.where()
    console.print(where[:1].upper() + where[1:])
