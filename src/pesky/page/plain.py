"""A study as JSON has it, for the page: every text is bounded, and is text to the page, whoever wrote it."""

import importlib.metadata
import math
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache

from pesky.data.formatting import is_feasible, reason_of, shown_state
from pesky.errors import PeskyError
from pesky.page.reading import MOST, Snapshot
from pesky.page.source import Source
from pesky.problem import Problem
from pesky.problem.parameters import to_plain
from pesky.run.best import BestMeasured, is_exact, name_of_best
from pesky.store import Evaluation, State
from pesky.text import one_line

TEXT = 300
"""Characters of a text that are shown."""


def bounded(texts: Mapping[str, str | Sequence[str]], most: int = TEXT) -> dict[str, list[str]]:
    """Facts as they are shown: what each is called, and its lines; those that say nothing are left out."""
    lines = {name: [said] if isinstance(said, str) else list(said) for name, said in texts.items()}
    return {one_line(name, TEXT): [one_line(each, most) for each in said] for name, said in lines.items() if any(said)}


def problem_in(problem: Problem) -> dict[str, object]:
    """The problem in words, and what forms ask for. Names are whole: they are sent back."""
    parameters = [{"name": name, **to_plain(each)} for name, each in problem.parameters.items()]
    known = problem.known
    return {
        "words": bounded(problem.in_words()),
        "parameters": parameters,
        "outcomes": [{"name": name, "yes_no": name in problem.yes_no} for name in problem.outcomes],
        "tasks": {name: [each for each in task.outcomes if each not in known] for name, task in problem.tasks.items()},
        "objective": problem.objective,
    }


def row_of(e: Evaluation, problem: Problem) -> dict[str, object]:
    """An evaluation as a row of the table."""
    feasible = None
    if e.outcomes or e.error:
        with suppress(PeskyError):  # where a known function is missing
            feasible = is_feasible(e, problem)
    return {
        "id": e.id,
        "task": e.task,
        "state": shown_state(e),
        "params": [_value(e.params[name]) for name in problem.parameters],
        "outcomes": [_value(e.outcomes.get(name)) for name in problem.outcomes],
        "feasible": feasible,
        "gain": _value(e.gain),
        "seconds": _value(e.seconds),
        "worker": one_line(e.worker or "", TEXT),
        "asked": e.asked,
        "ended": e.ended,
        "reason": one_line(reason_of(e), TEXT),
        "is_open": e.is_open,
        "is_chosen": bool(e.why and e.why.get("values")),
    }


@lru_cache(maxsize=MOST)
def summary_of(snapshot: Snapshot) -> dict[str, object]:
    """What a line says of a study: how many evaluations are in which state, and the best as measured."""
    evaluations = snapshot.evaluations.values()
    states = Counter(e.state.value for e in evaluations)
    counts = {state.value: states[state.value] for state in State if states[state.value]}
    steps = best_steps(snapshot.problem, evaluations)
    best = steps[-1][1] if steps else None
    return {
        "counts": counts,
        "best": best,
        "best_name": name_of_best(exact=is_exact(snapshot.problem)),
        "steps": steps,
        "last": max((_when(e) for e in evaluations), default=None),
    }


def best_steps(problem: Problem, evaluations: Iterable[Evaluation]) -> list[tuple[int, float]]:
    """After how many ended evaluations the best value as measured became which."""
    best, steps, count = BestMeasured(problem), [], 0
    with suppress(PeskyError):  # where a known function is missing
        ended = (e for e in evaluations if e.outcomes or e.state is State.FAILED)
        for e in sorted(ended, key=lambda e: (_when(e), e.id)):
            count += 1
            best.add(e)
            if (value := best.value) is not None:
                steps.append((count, value))
    return steps


def versions_of(snapshot: Snapshot, source: Source) -> dict[str, list[str]]:
    """What the study is, where it is kept, and what computes here."""
    libraries = ("pesky", "torch", "botorch", "gpytorch", "numpy", "plotly")
    said = [f"{name} {importlib.metadata.version(name)}" for name in libraries]
    record, file = snapshot.record, source.file
    rule = file.run.rule if file is not None and record.name == file.name else None
    return bounded(
        {
            "study": f"{record.name} ({record.identity[:6]}) in {source.shown}",
            "seed": str(record.seed),
            "rule": "" if rule is None else str(rule),
            "versions": ", ".join([*said, f"Python {platform.python_version()}"]),
        }
    )


def _value(given: object) -> object:
    """A value that JSON has, and no longer than is shown; what is neither a number nor a text is one."""
    if given is None or isinstance(given, bool | int):
        return given
    if isinstance(given, float):
        return given if math.isfinite(given) else repr(given)
    return one_line(str(given), TEXT)


def _when(e: Evaluation) -> float:
    return e.asked if e.ended is None else e.ended
