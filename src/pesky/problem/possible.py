"""Whether constraints can hold, or always do, by the bounds of parameters and the ranges of outcomes.

On parameters this is interval arithmetic: what it says is certain.
"""

import math
from collections import deque
from collections.abc import Callable, Collection, Mapping
from itertools import product

from pesky.errors import ProblemError
from pesky.problem.constraint import Constraint
from pesky.problem.expression import Expression
from pesky.problem.outcome import Outcome
from pesky.problem.parameters import Choice, Integer, Parameter

Interval = tuple[float, float]
Box = Mapping[str, Interval]
Stated = Mapping[Constraint, Expression]
"""Constraints on parameters, and what they are on."""

BOXES = 100
"""Parts of the space that are looked at before it counts as possible that all constraints hold somewhere."""
_REMEDY = "Widen the bounds of the parameters, or leave the constraints more room."
ANYTHING = (-math.inf, math.inf)


def check_possible(stated: Stated, parameters: Mapping[str, Parameter]) -> None:
    """Nothing, or a ProblemError if no point of the space satisfies the constraints, be it one or all of them."""
    for constraint, expression in stated.items():
        low, high = ends = range_of(expression, whole({constraint: expression}, parameters))
        if _fails(constraint, ends):
            raise ProblemError(
                f"no point of the space satisfies '{constraint}': {expression} is from {low:.6g} to {high:.6g}. "
                f"{_REMEDY}"
            )
    if hold_nowhere(stated, parameters):
        texts = " and ".join(f"'{constraint}'" for constraint in stated)
        raise ProblemError(f"no point of the space satisfies {texts}. {_REMEDY}")


def check_ranges(constraints: Collection[Constraint], ranges: Mapping[str, Outcome]) -> None:
    """Nothing, or a ProblemError if no value in the declared range of an outcome satisfies a constraint on it."""
    for constraint in constraints:
        declared = ranges.get(constraint.outcome)
        if declared is not None and _fails(constraint, declared.ends):
            raise ProblemError(
                f"no value satisfies '{constraint}': {constraint.outcome} is {declared}, as the problem declares. "
                "Write both in one unit (a percentage is no fraction), or declare a wider range."
            )


def holds_within(constraint: Constraint, ranges: Mapping[str, Outcome]) -> bool:
    """Whether a constraint holds at every value in the declared range of its outcome."""
    declared = ranges.get(constraint.outcome)
    return declared is not None and _holds(constraint, declared.ends)


def holds_everywhere(constraint: Constraint, expression: Expression, parameters: Mapping[str, Parameter]) -> bool:
    """Whether a constraint holds at every point; False as well where that was not found out."""
    return _holds(constraint, range_of(expression, whole({constraint: expression}, parameters)))


def hold_nowhere(stated: Stated, parameters: Mapping[str, Parameter]) -> bool:
    """Whether no point satisfies all constraints; False as well where that was not found out."""
    space = whole(stated, parameters)
    boxes = deque([space])
    for _ in range(BOXES):
        if not boxes:
            return True
        box = boxes.popleft()
        if any(_fails(c, range_of(expression, box)) for c, expression in stated.items()):
            continue
        halves = {name: _halves(parameters[name], *ends) for name, ends in box.items()}
        middle = {name: (low_half[1], low_half[1]) for name, (low_half, _) in halves.items()}
        if all(_holds(c, range_of(expression, middle)) for c, expression in stated.items()):
            return False
        widths = {name: (high - low) / ((space[name][1] - space[name][0]) or 1.0) for name, (low, high) in box.items()}
        widest = max(widths, key=lambda name: widths[name], default=None)
        if widest is None or not widths[widest]:
            return False  # a single point, which arithmetic leaves open
        boxes += [{**box, widest: half} for half in halves[widest]]
    return False


def whole(stated: Stated, parameters: Mapping[str, Parameter]) -> Box:
    """The bounds of all parameters that constraints are on."""
    names = sorted({name for expression in stated.values() for name in expression.names})
    own = {name: parameters[name] for name in names}
    return {name: (p.low, p.high) for name, p in own.items() if not isinstance(p, Choice)}


def range_of(expression: Expression, box: Box) -> Interval:
    """An interval that the values of an expression do not leave in a box."""
    stack: list[Interval] = []
    for step in expression.steps:
        if isinstance(step, tuple):
            stack.append(box[step[0]])
        elif not isinstance(step, str):
            stack.append((step, step))
        elif step == "negate":
            low, high = stack.pop()
            stack.append((-high, -low))
        else:
            last = stack.pop()
            stack.append(_OPERATIONS[step](stack.pop(), last))
    return stack.pop()


def _holds(constraint: Constraint, values: Interval) -> bool:
    return all(map(constraint.holds, values))


def _fails(constraint: Constraint, values: Interval) -> bool:
    return not any(map(constraint.holds, values))


def _halves(parameter: Parameter, low: float, high: float) -> tuple[Interval, Interval]:
    """Two parts of a parameter's range, without what is between its values."""
    if not isinstance(parameter, Integer):
        middle = low + (high - low) / 2
        return (low, middle), (middle, high)
    middle = low + (high - low) // (2 * parameter.step) * parameter.step
    return (low, middle), (min(middle + parameter.step, high), high)


def _corners(operation: Callable[[float, float], float]) -> Callable[[Interval, Interval], Interval]:
    """The range of what is monotonic in either of two values, from the corners."""

    def bounds(a: Interval, b: Interval) -> Interval:
        try:
            values = [operation(*each) for each in product(a, b)]
        except OverflowError:
            return ANYTHING
        return ANYTHING if any(map(math.isnan, values)) else (min(values), max(values))

    return bounds


def _divided(a: Interval, b: Interval) -> Interval:
    return ANYTHING if b[0] <= 0 <= b[1] else _corners(lambda x, y: x / y)(a, b)


def _power(a: Interval, b: Interval) -> Interval:
    power, exponent = _corners(lambda x, y: x**y), b[0]
    if a[0] > 0 or (a[0] == 0 and exponent > 0):
        return power(a, b)
    if b[1] != exponent or not exponent.is_integer() or exponent < 0:
        return ANYTHING
    low, high = power(a, b)
    return (0.0, high) if exponent and not exponent % 2 and a[0] <= 0 <= a[1] else (low, high)


_OPERATIONS: Mapping[str, Callable[[Interval, Interval], Interval]] = {
    "+": _corners(lambda x, y: x + y),
    "-": _corners(lambda x, y: x - y),
    "*": _corners(lambda x, y: x * y),
    "/": _divided,
    "**": _power,
}
