"""What became of an evaluation, for people to read: why it failed, what was changed of it, whether it was feasible.

And what was found out of the noise, as it is kept with questions: whoever reads that needs no model.
"""

from collections.abc import Collection, Mapping
from typing import Any

from pesky.problem import Option, Problem
from pesky.problem.known import values_at
from pesky.store.evaluation import Evaluation, State, short
from pesky.text import harmless, one_line


def first_line(text: str | None) -> str:
    """An error on one line: what it says, without the places in the code below it."""
    lines = [line.strip() for line in harmless(text or "").strip().splitlines() if not line.startswith("  ")]
    said = ": ".join(filter(None, lines))
    return said if len(said) <= 200 else f"{said[:197]}..."


def reason_of(evaluation: Evaluation) -> str:
    """Why an evaluation failed, and what was changed of it afterwards, on one line."""
    said = [first_line(evaluation.error)] if evaluation.error else []
    for each in evaluation.corrections:
        what = each.change.value
        if each.outcome is not None and each.old is not None:
            what = f"{one_line(each.outcome)} {what}, was {short(each.old)}"
        said.append(f"{what}: {first_line(each.reason)}" if each.reason else what)
    return "; ".join(said)


def shown_state(evaluation: Evaluation) -> str:
    """The state as tables have it: also that data are the user's own, or are not learnt from."""
    if evaluation.is_excluded:
        return "excluded"
    return "yours" if evaluation.is_yours and evaluation.state is State.DONE else evaluation.state.value


def is_feasible(evaluation: Evaluation, problem: Problem) -> bool | None:
    """Whether the measured and the known values hold every constraint; None while that is open."""
    task = problem.tasks.get(evaluation.task)  # None of one that the problem does not have any more
    is_learnt = task is not None and task.learns_success and not evaluation.is_mistake
    if evaluation.state is State.FAILED and is_learnt:
        return False
    given = {**evaluation.outcomes, **values_at(problem.known, evaluation.params)}
    held = [each.holds(given[each.outcome]) for each in problem.constraints if each.outcome in given]
    if not all(held):
        return False
    return True if len(held) == len(problem.constraints) and evaluation.state is State.DONE else None


def answers_in_words(outcomes: Mapping[str, float], yes_no: Collection[str]) -> dict[str, Option]:
    """Outcomes with a yes or a no in words; the mean of several that differ stays a number."""
    words = {0.0: "no", 1.0: "yes"}
    return {name: words.get(value, value) if name in yes_no else value for name, value in outcomes.items()}


def noise_in_words(noise: Mapping[str, float | None]) -> str:
    """Each outcome with the deviation of its measurements; None where too little was measured to tell."""
    return ", ".join(f"{one_line(name)} {_deviation(each)}" for name, each in noise.items())


def _deviation(noise: float | None) -> str:
    return "cannot be told yet" if noise is None else f"{noise:.3g}" if noise else "none"


def noises_in_words(problem: Problem, found: Mapping[str, float]) -> list[str]:
    """What is known of the noise of each outcome that is a number: what was declared, or what its values say by now."""
    said = []
    for name, declared in problem.noise.items():
        if declared is not None:
            said.append(noise_in_words({name: declared}))
        elif name not in problem.yes_no:
            said.append(
                f"{noise_in_words({name: found[name]})}, as its values say"
                if name in found
                else f"{one_line(name)} to be inferred"
            )
    return said


def noise_as_of_last_question(evaluations: Collection[Evaluation]) -> tuple[int, dict[str, float | None]] | None:
    """The last question that knew of it, and the noise that was kept with it, of outcomes where nobody declared it."""
    asked = [e for e in evaluations if e.why is not None and "noise" in e.why]
    last = max(asked, key=lambda e: e.id, default=None)
    kept: Any = None if last is None else last.why
    return None if last is None else (last.id, dict(kept["noise"]))
