"""A recommendation, printed or as plain data."""

from typing import TYPE_CHECKING

from pesky.cli import codes
from pesky.cli.words import exact
from pesky.errors import DataError
from pesky.problem import Problem

if TYPE_CHECKING:
    from rich.console import Console

    from pesky.study import Recommendation, Study


def advise(study: "Study") -> "Recommendation | None":
    """The recommendation; None while there are no values to go by."""
    try:
        return study.recommend()
    except DataError:
        return None


def code_of(advice: "Recommendation | None") -> int:
    """The exit code that says how sure it is."""
    return codes.DONE if advice is not None and advice.is_confident else codes.NOT_YET


def plain(advice: "Recommendation | None") -> dict[str, object] | None:
    """The recommendation as plain data."""
    if advice is None:
        return None
    return {
        "params": dict(advice.params),
        "objective": advice.objective,
        "expected": advice.expected,
        "probabilities": dict(advice.probabilities),
        "is_confident": advice.is_confident,
    }


def print_advice(console: "Console", advice: "Recommendation | None", problem: Problem) -> None:
    """Print the recommendation, and for each constraint how probably it holds."""
    from rich.text import Text

    if advice is None:
        objective = problem.objective
        what = (
            "nothing was measured"
            if objective in problem.known
            else f"no value of the objective {objective!r} is known"
        )
        console.print(f"No recommendation yet: {what}.")
        return
    if advice.is_confident:
        console.print(Text("Recommended", style="bold green"))
    else:
        console.print(Text("Most probably feasible so far", style="bold yellow"), end="")
        console.print(": no point is known to hold every constraint with its confidence yet")
    width = max(map(len, advice.params))
    for name, value in advice.params.items():
        console.print(f"  {name:<{width}} = {exact(value)}")
    console.print(f"Expected: {advice.objective} = {exact(advice.expected)}")
    for (text, probability), confidence in zip(advice.probabilities.items(), problem.confidences, strict=True):
        style = "" if probability >= confidence else "yellow"
        console.print(Text(f"Holds with probability {probability:.3f}: {text} (asked: {confidence:g})", style=style))
