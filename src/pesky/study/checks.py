"""What a study is given, checked before anything is asked."""

import numbers
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import torch

from pesky.acquire.base import Rule
from pesky.acquire.pesc.rule_ep import EntropySearchByEP
from pesky.acquire.registry import SEPARATE, rule_of
from pesky.errors import ProblemError, unknown_name
from pesky.inference.inference import FitBotorch
from pesky.model.surrogate import GP
from pesky.problem import Problem
from pesky.problem.fields import finite, whole
from pesky.space import Space
from pesky.store import Limit
from pesky.strategy import Strategy


def share(what: str, given: object) -> float | None:
    """The number between 0 and 1 that was given, if one was."""
    if given is None:
        return None
    value = finite(what, given)
    if not 0 < value < 1:
        raise ProblemError(f"{what} was {given!r}: expected a number between 0 and 1.")
    return value


def partial_share(what: str, given: object) -> float:
    """The number from 0 to below 1 that was given."""
    value = finite(what, given)
    if not 0 <= value < 1:
        raise ProblemError(f"{what} was {given!r}: expected a number from 0 to below 1, and 0 for none.")
    return value


def positive(what: str, given: object) -> float | None:
    """The number above 0 that was given, if one was."""
    value = None if given is None else finite(what, given)
    if value is not None and value <= 0:
        raise ProblemError(f"{what} was {given!r}: expected a number above 0.")
    return value


def checked_model(given: object, problem: Problem, space: Space, rule: Rule | None) -> GP | FitBotorch:
    """The model that was given, or else ours, if it can be asked about this problem; the paper's takes data as is."""
    if given is None:
        is_papers = rule == EntropySearchByEP.paper()
        return GP(warp=not is_papers, outliers=not is_papers)
    if isinstance(given, GP):
        given.check(problem.outcomes, space.dim)
        return given
    from botorch.models.model import Model  # takes half a second, and whoever gives no model of their own needs none

    if isinstance(given, Model) or not callable(given):
        raise ProblemError(
            f"model was {type(given).__name__}: expected GP(...), or a function that fits a BoTorch model to "
            "(X, Y) pairs, since a study fits anew as data come in."
        )
    if any(condition.is_yes_no for condition in problem.conditions):
        raise ProblemError(
            "a BoTorch model of your own cannot be asked about a yes or no: leave `model` out, or state the "
            'constraint on a number and failures="record".'
        )
    if any(task.parameters is not None for task in problem.tasks.values()):
        raise ProblemError(
            "a BoTorch model of your own does not know which parameters a task depends on: leave `model` out, or the "
            "`parameters` of the tasks."
        )
    return given  # pyright: ignore[reportReturnType]


def check_asked(tasks: object, n: object, limit: object, gain_per_cost: object, worker: object) -> None:
    """Nothing, or a ProblemError if a question was asked for in terms that are none, or contradict each other."""
    if n is not None and isinstance(tasks, numbers.Real):
        raise ProblemError(f"ask: tasks was {tasks!r}, a number of questions, and n was {n!r}: give one of them.")
    if not isinstance(limit, Limit):
        raise ProblemError(f"ask: limit was {limit!r}: expected Limit(evaluations=..., cost=...), of the study in all.")
    if gain_per_cost is not None and finite("ask: gain_per_cost", gain_per_cost) < 0:
        raise ProblemError(f"ask: gain_per_cost was {gain_per_cost!r}: expected a number, 0 or above.")
    if worker is not None and not isinstance(worker, str):
        raise ProblemError(f"ask: worker was {worker!r}: expected a name, as a text.")


def checked_tasks(given: str | Collection[str] | None, problem: Problem) -> tuple[str, ...]:
    """The tasks of these names; all of them if none was given."""
    if given is None:
        return tuple(problem.tasks)
    if not isinstance(given, Iterable):
        known = ", ".join(map(repr, problem.tasks))
        raise ProblemError(f"tasks was {given!r}: expected the name of a task, or a list of them: {known}.")
    names = (given,) if isinstance(given, str) else tuple(given)
    for name in names:
        if name not in problem.tasks:
            raise ProblemError(unknown_name("task", name, problem.tasks))
    if not names:
        raise ProblemError("no task was given to ask of: name at least one, or leave `tasks` out.")
    return names


def checked_changes(
    problem: Problem, space: Space, rule: object, initial: object, confirming_share: object, deciding_share: object
) -> Callable[[Strategy], Strategy]:
    """What the short cuts change of a strategy; a ProblemError if one of them is of the wrong kind."""
    own = None if rule is None else checked_rule(rule, problem, space)  # pyright: ignore[reportArgumentType]
    points = None if initial is None else whole("initial", initial, 0)
    part = None if confirming_share is None else partial_share("confirming_share", confirming_share)
    deciding = positive("deciding_share", deciding_share)
    return lambda strategy: strategy.changed(own, points, part, deciding)


def checked_rule(given: str | Mapping[str, Any] | Rule, problem: Problem, space: Space) -> Rule:
    """The rule, or a ProblemError that says why it does not suit the problem."""
    rule = rule_of(given)
    rule.check(space.dim, len(problem.conditions))
    if rule.measures == "together":
        _check_together(rule, problem)
    return rule


def _check_together(rule: Rule, problem: Problem) -> None:
    for name, task in problem.tasks.items():
        if missing := [outcome for outcome in problem.outcomes if outcome not in task.outcomes]:
            raise ProblemError(
                f"the rule {rule.name!r} asks for all outcomes at a point, because it values none of them by itself, "
                f"and the task {name!r} does not measure {', '.join(map(repr, missing))}: let every task measure all "
                f"outcomes, or use a rule for outcomes that are measured separately: {SEPARATE}."
            )


def check_counts(rule: Rule, gain_per_cost: float | None) -> None:
    """Nothing, or a ProblemError if nats are asked of a rule that does not count in them."""
    if gain_per_cost is not None and not rule.in_nats:
        raise ProblemError(
            f"gain_per_cost was {gain_per_cost!r} nats, and the rule {rule.name!r} does not count in nats: "
            "limit evaluations, cost or seconds instead, or use the rule 'pesc'."
        )


def checked_device(given: object) -> torch.device:
    """The device, or a ProblemError if this machine has none such."""
    try:
        found = torch.device(given)  # pyright: ignore[reportArgumentType]
        torch.zeros(1, device=found)
    except (TypeError, RuntimeError, AssertionError, NotImplementedError) as error:
        raise ProblemError(
            f"device was {given!r}, which does not compute here ({str(error).splitlines()[0]}): expected 'cpu', or "
            "'cuda' where torch finds a GPU."
        ) from None
    return found
