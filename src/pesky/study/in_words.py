"""What became of an evaluation, for people to read: why it failed, what was changed of it, whether it was feasible.

And what was found out of the noise, as it is kept with questions: whoever reads that needs no model.
"""

from collections.abc import Collection, Mapping
from typing import Any

from pesky.problem import Problem
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
    is_learnt = task is not None and task.failures == "learn" and not evaluation.is_mistake
    if evaluation.state is State.FAILED and is_learnt:
        return False
    given = {**evaluation.outcomes, **values_at(problem.known, evaluation.params)}
    held = [each.holds(given[each.outcome]) for each in problem.constraints if each.outcome in given]
    if not all(held):
        return False
    return True if len(held) == len(problem.constraints) and evaluation.state is State.DONE else None


def noise_in_words(noise: Mapping[str, float]) -> str:
    """Each outcome with the deviation of its measurements."""
    return ", ".join(
        f"{one_line(name)} {each:.3g}" if each else f"{one_line(name)} none" for name, each in noise.items()
    )


def noises_in_words(problem: Problem, found: Mapping[str, float]) -> list[str]:
    """What is known of the noise of each outcome that is a number: what was declared, or what its values say by now."""
    return [
        f"{noise_in_words({name: declared if declared is not None else found[name]})}"
        + (", as its values say" if declared is None else "")
        if declared is not None or name in found
        else f"{one_line(name)} to be inferred"
        for name, declared in problem.noise.items()
        if name not in problem.yes_no
    ]


def noise_as_of_last_question(evaluations: Collection[Evaluation]) -> dict[str, float]:
    """What was kept with the last question that knew of it, of outcomes whose noise nobody declared."""
    asked = [e for e in evaluations if e.why is not None and "noise" in e.why]
    kept: Any = max(asked, key=lambda e: e.id).why if asked else None
    return {} if kept is None else dict(kept["noise"])
