"""What a recommendation says of itself: whether to use it, what the other candidate is, and what speaks against it."""

import math
from collections.abc import Sequence

from pesky.answer.prediction import expect
from pesky.answer.recommendation import Recommendation
from pesky.data.formatting import first_line
from pesky.data.measured import holds_all, options_without
from pesky.inference.inferred import Inferred
from pesky.store import Evaluation
from pesky.store.evaluation import listed, short, trials_of
from pesky.text import one_line

NAMED = 4
"""Options that are named, if they are more."""
CONFIRM, ENQUEUE = "`study.ask(confirm=True)` or `pesky ask FILE --confirm`", "`study.enqueue` or `pesky enqueue FILE`"
BEST, WHAT_IF = "`study.best()`", " What another limit would allow is said by `study.what_if` or `pesky what-if FILE`."
"""What a study has for it, where another tool has words of its own."""


def alone(inferred: Inferred, found: Recommendation) -> str:
    """Whether to use a point, whatever others there are."""
    if not found.is_confident and _is_exhausted(inferred):
        return f"Do not rely on it: every point was measured, and none holds every constraint.{WHAT_IF}"
    if not found.is_confident and found.is_measured and holds_all(inferred.problem, found.told):
        return "Do not rely on it: it held every constraint as measured, but not with its confidence. Go on measuring."
    if not found.is_confident:
        return "Do not rely on it: go on measuring until a point holds every constraint."
    if found.is_measured and not holds_all(inferred.problem, found.told):
        return (
            "Use it: it was measured, and holds every constraint with its confidence. That not all of them held as "
            "measured is put down to noise."
        )
    if found.is_measured:
        return "Use it: it was measured, and holds every constraint with its confidence."
    return unmeasured(found)


def _is_exhausted(inferred: Inferred) -> bool:
    """Whether there is nothing left to be measured: no other point, and no noise that a second value would tell of."""
    problem, size = inferred.problem, inferred.space.size
    if size is None or any(problem.noise.get(name) != 0 for name in problem.outcomes):
        return False
    return sum(each.is_complete(problem) and inferred.space.contains(each.params) for each in inferred.points) >= size


def unmeasured(found: Recommendation) -> str:
    """What to do with a point that was not measured wholly."""
    if found.is_measured:
        return "It was measured."
    what = "Only partly measured" if found.evaluations else "Not measured"
    return f"{what} here: measure it before you use it, with {CONFIRM}."


def beside_measured(found: Recommendation, measured: Recommendation) -> str:
    """What the best measured point is, beside an answer that can be promised to be better."""
    ids = listed(measured.evaluations, measured.trials)
    return (
        f"It can be promised to have {_promised(found)}. The best measured point ({ids}) can be promised to have "
        f"{_promised(measured)} only: {BEST}."
    )


def beside_expected(inferred: Inferred, found: Recommendation, measured: Recommendation) -> str:
    """What is expected elsewhere, beside the best measured point; nothing where that is hardly better."""
    ahead = inferred.problem.sign * (measured.expected - found.expected)
    if ahead <= inferred.tolerance * inferred.objective_range:
        return ""
    expected = f"{one_line(found.objective)} = {found.expected:.6g} ± {found.deviation:.2g}"
    return (
        f"The model expects {expected} at a point that was not measured, and can promise {_promised(found)} there: no "
        "better than here."
    )


def _promised(found: Recommendation) -> str:
    return f"{one_line(found.objective)} = {found.promise:.6g}"


def failed_here(failures: Sequence[Evaluation]) -> str:
    """That a point was tried in vain, and why."""
    return f"{failures[-1].named} was measured here and {_why(failures)}."


def failed_elsewhere(model: Recommendation, failures: Sequence[Evaluation]) -> str:
    """That the best point by the model is one where measuring failed."""
    expected = f"{one_line(model.objective)} = {model.expected:.6g}"
    return (
        f"The model expects {expected} where {failures[-1].named} {_why(failures)}: if that was by chance, "
        f"{ENQUEUE} has it tried again."
    )


def _why(failures: Sequence[Evaluation]) -> str:
    error = failures[-1].error
    return f"failed ({first_line(error)})" if error else "failed"


def passed_over(inferred: Inferred, found: Recommendation) -> list[str]:
    """Of a point that measured better and held every constraint as measured, why it is not the answer; or nothing."""
    problem, objective = inferred.problem, inferred.problem.objective
    better = [
        point
        for point in inferred.points
        if objective in point.told
        and point.is_complete(problem)
        and problem.sign * (found.expected - point.told[objective]) > 0
        and holds_all(problem, point.told)
        and inferred.space.contains(point.params)
        and point.params != found.params
    ]
    if not better:
        return []
    point = min(better, key=lambda each: problem.sign * each.told[objective])
    u = inferred.space.encode(point.params)
    (believed,) = expect(inferred, u[None], [inferred.certain(point.told)])
    short = {
        text: p
        for (text, p), asked in zip(believed.probabilities.items(), problem.confidences, strict=True)
        if p < asked
    }
    if not short:
        return []
    text = min(short, key=lambda each: short[each])
    ids = ", ".join(e.named for e in point.evaluations)
    return [
        f"{ids} measured {one_line(objective)} = {point.told[objective]:.6g}, but holds {one_line(text)} with a "
        f"probability of {short[text]:.2f} only."
    ]


def contradicted(inferred: Inferred, found: Recommendation) -> list[str]:
    """Which outcomes that have no noise were told in different ways at one point: at this one, or else at another.

    All of the belief suffers from it.
    """
    here, said = inferred.at(inferred.space.encode(found.params)), {}
    exact = [name for name, noise in inferred.problem.noise.items() if noise == 0]
    several = [point for point in inferred.points if len(point.evaluations) > 1]
    for point in sorted(several, key=lambda point: point is not here):
        for name in (name for name in exact if name not in said):
            told = [e for e in point.evaluations if name in e.outcomes]
            values = [e.outcomes[name] for e in told]
            if values and not math.isclose(min(values), max(values), rel_tol=1e-6, abs_tol=1e-12):
                ids = listed((e.id for e in told), trials_of(told))
                where = "Here" if point is here else f"At one point ({ids})"
                each = " and ".join(f"{value:.6g}" for value in sorted(set(values)))
                said[name] = (
                    f"{where} {one_line(name)} was told as {each}, though it is said to have no noise, and their mean "
                    "is taken: exclude what is wrong, or leave its noise to be found out."
                )
    return [*said.values()]


def far_beyond(inferred: Inferred, found: Recommendation) -> list[str]:
    """Values that are decades beyond all others."""
    if not inferred.snapshot.far_beyond:
        return []
    named = "; ".join(each.in_words for each in inferred.snapshot.far_beyond[:NAMED])
    named += "; and more" if len(inferred.snapshot.far_beyond) > NAMED else ""
    return [f"{named}: correct or exclude what is wrong."]


def untried(inferred: Inferred, found: Recommendation) -> list[str]:
    """Which options have no value of the objective, where there is an answer: they may be better than it."""
    objective = inferred.problem.objective
    told = [point.params for point in inferred.points if objective in point.told]
    without = options_without(inferred.problem, told) if found.is_confident else ()
    missing = [f"{one_line(name)} = {short(option)}" for name, option in without]
    if not missing:
        return []
    named = ", ".join(missing[:NAMED]) + (f" and {len(missing) - NAMED} more" if len(missing) > NAMED else "")
    return [
        f"No value of {one_line(objective)} is known with {named}: what it would be is guessed from other options; "
        f"{ENQUEUE} has one tried."
    ]
