"""A study on a line or two, for whoever types its name."""

from collections.abc import Collection

from pesky.problem import Problem
from pesky.run.best import best_measured
from pesky.store import Evaluation, MemoryStore, State, Store
from pesky.wording import counted


def described(name: str, problem: Problem, evaluations: Collection[Evaluation], store: Store) -> str:
    """What the study asks, where it is kept, how far it is, and the best that was measured."""
    goal = "maximize" if problem.minimize is None else "minimize"
    limits = "".join(f"{', ' if i else ' subject to '}{each}" for i, each in enumerate(problem.constraints))
    states = [e.state for e in evaluations]
    counts = [f"{counted(states.count(State.DONE))} done"]
    counts += [f"{states.count(state)} {state.value}" for state in State if state in states and state is not State.DONE]
    place = "in memory" if isinstance(store, MemoryStore) else f"in {store!r}"
    best = best_measured(problem, evaluations)
    found = "" if best is None else f"; best measured {problem.objective} {best:.6g}"
    return f"<Study {name!r} {place}: {goal} {problem.objective}{limits}; {', '.join(counts)}{found}>"
