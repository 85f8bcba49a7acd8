"""A study on a line or two, or as a table in a notebook, for whoever types its name."""

from collections.abc import Collection

from pesky.answer.recommendation import Recommendation
from pesky.markup import facts, sparkline
from pesky.problem import Problem
from pesky.run.best import BestMeasured, best_measured, is_exact, name_of_best
from pesky.store import Evaluation, MemoryStore, State, Store
from pesky.wording import counted

AT_HAND = 200
"""Up to so many evaluations an answer takes about a second, and is shown with the study."""


def described(name: str, problem: Problem, evaluations: Collection[Evaluation], store: Store) -> str:
    """What the study asks, where it is kept, how far it is, and the best that was measured."""
    goal = "maximize" if problem.minimize is None else "minimize"
    limits = "".join(f"{', ' if i else ' subject to '}{each}" for i, each in enumerate(problem.constraints))
    counts = _counts(evaluations)
    place = "in memory" if isinstance(store, MemoryStore) else f"in {store!r}"
    best = best_measured(problem, evaluations)
    found = "" if best is None else f"; {name_of_best(exact=is_exact(problem))} {problem.objective} {best:.6g}"
    return f"<Study {name!r} {place}: {goal} {problem.objective}{limits}; {', '.join(counts)}{found}>"


def shown(name: str, problem: Problem, evaluations: Collection[Evaluation], answer: Recommendation | None) -> str:
    """The same as HTML: what is asked, how far it is, the best values as measured, in their order, and the answer."""
    goal = "maximize" if problem.minimize is None else "minimize"
    best, values = BestMeasured(problem), []
    for e in sorted(evaluations, key=lambda e: (e.asked if e.ended is None else e.ended, e.id)):
        best.add(e)
        values.append(best.value)
    said = {
        "study": name,
        goal: problem.objective,
        "subject to": [str(each) for each in problem.constraints],
        "evaluations": ", ".join(_counts(evaluations)),
        name_of_best(exact=is_exact(problem)): "" if best.value is None else f"{problem.objective} = {best.value:.6g}",
    }
    return facts(said) + sparkline(values) + ("" if answer is None else answer._repr_html_())


def _counts(evaluations: Collection[Evaluation]) -> list[str]:
    states = [e.state for e in evaluations]
    others = [state for state in State if state in states and state is not State.DONE]
    return [f"{counted(states.count(State.DONE))} done", *(f"{states.count(each)} {each.value}" for each in others)]
