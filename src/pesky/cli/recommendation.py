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


def exit_code_of(recommendation: "Recommendation | None") -> int:
    """The exit code that says how sure it is."""
    return exit_codes.DONE if recommendation is not None and recommendation.is_confident else exit_codes.NOT_YET


def to_plain(recommendation: "Recommendation | None") -> dict[str, object] | None:
    """The recommendation as plain data."""
    if recommendation is None:
        return None
    return {
        "params": dict(recommendation.params),
        "objective": recommendation.objective,
        "expected": recommendation.expected,
        "probabilities": dict(recommendation.probabilities),
        "is_confident": recommendation.is_confident,
    }


def print_recommendation(console: "Console", recommendation: "Recommendation | None", problem: Problem) -> None:
    """Print the recommendation, and for each constraint how probably it holds."""
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
    width = max(map(len, recommendation.params))
    for name, value in recommendation.params.items():
        console.print(f"  {name:<{width}} = {exact(value)}")
    console.print(f"Expected: {recommendation.objective} = {exact(recommendation.expected)}")
    for (text, probability), confidence in zip(recommendation.probabilities.items(), problem.confidences, strict=True):
        style = "" if probability >= confidence else "yellow"
        console.print(Text(f"Holds with probability {probability:.3f}: {text} (asked: {confidence:g})", style=style))
