"""Options that were never tried: asked for once, before the model may write them off.

What nothing was told of is believed to be about average. Where the others are good by then no rule asks for it, and
data of the user's own may have left it out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from pesky.problem import Choice, Option, Problem
from pesky.run.spending import typical_price
from pesky.space import Space
from pesky.space.region import Region
from pesky.store import Evaluation, Question, State
from pesky.study.measured import holds_all, measured_points

UNTRIED = "untried"
"""What such a question says of itself."""
FEW_OPTIONS = 6
"""Options of a choice up to which each is tried."""
PATIENCE = 4
"""Values of the objective for each option of the choice that a rule has to ask for it by itself."""


def untried_question(
    problem: Problem,
    space: Space,
    region: Region | None,
    evaluations: Mapping[int, Evaluation],
    tasks: Sequence[str],
    is_allowed: Callable[[Mapping[str, Option]], bool],
) -> Question | None:
    """The objective with an option that it was never asked for with, at the best point that allows for it."""
    informing = next((task for task in tasks if problem.objective in problem.tasks[task].outcomes), None)
    if informing is None:
        return None
    for name, option in untried_options(problem, evaluations):
        for params in _best_first(problem, evaluations):
            other = {**params, name: option}
            is_inside = space.contains(other) and (region is None or bool(region.contains(space.encode(other)[None])))
            if is_inside and is_allowed(other):
                return Question(
                    informing, other, None, typical_price(informing, evaluations, problem), {"kind": UNTRIED}
                )
    return None


def untried_options(problem: Problem, evaluations: Mapping[int, Evaluation]) -> Iterator[tuple[str, Option]]:
    """Those that it was high time to ask for."""
    objective = problem.objective
    asked = [e.params for e in evaluations.values() if objective in e.outcomes or _is_tried(problem, e)]
    for name, option in options_without(problem, asked):
        choice = problem.parameters[name]
        if isinstance(choice, Choice) and len(choice.options) <= min(FEW_OPTIONS, len(asked) // PATIENCE):
            yield name, option


def options_without(problem: Problem, measured: Sequence[Mapping[str, Option]]) -> Iterator[tuple[str, Option]]:
    """The options that matter to the objective, and that none of these points has; none if the objective is known."""
    if problem.objective in problem.known:
        return
    for name in problem.depends_on(problem.objective):
        if isinstance(choice := problem.parameters[name], Choice):
            present = {params.get(name) for params in measured}
            yield from ((name, option) for option in choice.options if option not in present)


def _is_tried(problem: Problem, e: Evaluation) -> bool:
    """Whether the objective is awaited of an evaluation, or was in vain."""
    task = problem.tasks.get(e.task)
    is_asked = task is not None and problem.objective in task.outcomes
    return is_asked and not e.is_mistake and e.state is not State.DONE


def _best_first(problem: Problem, evaluations: Mapping[int, Evaluation]) -> list[Mapping[str, Option]]:
    """Measured points, those that held everything first, and of these the best objective."""
    objective = problem.objective
    told = [point for point in measured_points(problem, evaluations.values()) if objective in point.told]
    told.sort(key=lambda point: (not holds_all(problem, point.told), problem.sign * point.told[objective]))
    return [point.params for point in told]
