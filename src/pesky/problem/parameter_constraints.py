"""Constraints on parameters, like "x + z <= 1": known, since they follow from the text alone."""

import re
from collections.abc import Collection, Mapping

from pesky.errors import ProblemError
from pesky.problem.constraint import Constraint
from pesky.problem.expression import Expression, parsed
from pesky.problem.parameters import Choice, Parameter

_SIGNS = re.compile(r"<=|>=|[<>=≤≥]")
_SURELY_ARITHMETIC = re.compile(r"[+*(]|\s[-/]\s")
"""What no name of an outcome has; f1-score and train/loss are names."""


def constraint_of(text: str, parameters: Mapping[str, Parameter]) -> Constraint | None:
    """The constraint on parameters that a text states; None if it is none, and may be one on an outcome.

    What is on the right of the sign may have parameters too: "x <= 2 * z" is "x - 2 * z <= 0".
    """
    sides, signs = [side.strip() for side in _SIGNS.split(text)], _SIGNS.findall(text)
    if len(signs) != 1 or signs[0] not in ("<=", ">=") or not all(sides):
        return None
    left, right = (_of_parameters(side, parameters) for side in sides)
    if left is None or right is None or not left.names | right.names:
        return None
    sense = ">=" if signs[0] == ">=" else "<="
    if not right.names:
        return Constraint(left.text, sense, float(right({})))
    if not left.names:  # "1 <= x + z"
        return Constraint(right.text, "<=" if sense == ">=" else ">=", float(left({})))
    is_sum = re.search(r"[-+]", right.text)
    return Constraint(f"{left.text} - ({right.text})" if is_sum else f"{left.text} - {right.text}", sense, 0.0)


def expressions_of(
    constraints: Collection[Constraint], parameters: Mapping[str, Parameter], stated: Collection[str]
) -> dict[str, Expression]:
    """The expressions that constraints are on; `stated` are outcomes for sure, whatever they look like.

    A ProblemError for what looks like arithmetic and is none of parameters alone.
    """
    found = {}
    for constraint in constraints:
        if constraint.outcome in stated or constraint.is_yes_no:
            continue
        expression = parsed(constraint.outcome, parameters)
        if expression is None or not expression.names:
            _check_name(constraint, parameters)
        elif expression.names <= parameters.keys():
            found[constraint.outcome] = _checked(expression, parameters)
        elif _SURELY_ARITHMETIC.search(constraint.outcome):
            other = sorted(expression.names - parameters.keys())
            raise ProblemError(
                f"the constraint '{constraint}' is neither on an outcome nor on parameters alone: "
                f"{', '.join(map(repr, other))} {'is no parameter' if len(other) == 1 else 'are no parameters'}. "
                "Let the measurement give it as an outcome with a name of its own; or, if it follows from the "
                f"parameters, let a function do so: known={{'name': ...}}, and write 'name {constraint.sense} ...'."
            )
    return found


def check_names(outcomes: Collection[str], parameters: Collection[str]) -> None:
    """Nothing, or a ProblemError if an outcome has the name of a parameter."""
    for outcome in outcomes:
        if outcome in parameters:
            raise ProblemError(
                f"{outcome!r} is a parameter and cannot be an outcome as well: rename one of them. What follows from "
                f"parameters needs no measuring: known={{'its name': lambda params: params[{outcome!r}]}}."
            )


def _of_parameters(side: str, parameters: Mapping[str, Parameter]) -> Expression | None:
    expression = parsed(side, parameters)
    return expression if expression is not None and expression.names <= parameters.keys() else None


def _checked(expression: Expression, parameters: Mapping[str, Parameter]) -> Expression:
    for name in sorted(expression.names):
        if isinstance(parameters[name], Choice):
            raise ProblemError(
                f"{expression.text!r}: {name!r} is a choice, with which there is no arithmetic: make it Real or "
                "Integer, or write a function, known={'name': ...}, and constrain that."
            )
    return expression


def _check_name(constraint: Constraint, parameters: Mapping[str, Parameter]) -> None:
    """Nothing, or a ProblemError for a call like "sqrt(x)", and for a power like "x^2"."""
    words = set(re.findall(r"[^\W\d]\w*", constraint.outcome))
    if words & parameters.keys() and re.search(r"\w\(|\^", constraint.outcome):
        raise ProblemError(
            f"the constraint '{constraint}' is neither on an outcome nor on arithmetic of parameters, which has "
            "+, -, *, /, ** and parentheses. Write anything else as a function, known={'name': ...}, and constrain "
            f"that: 'name {constraint.sense} ...'."
        )
