"""Values, counts and times, formatted for people.

What a storage holds may be anybody's: of its texts only what a terminal does not obey is printed.
"""

from collections.abc import Mapping

from pesky.data.formatting import answers_in_words
from pesky.problem import Option, Problem
from pesky.store.evaluation import Evaluation, short
from pesky.text import one_line


def values(given: Mapping[str, Option]) -> str:
    """Parameters or outcomes on one line."""
    return ", ".join(f"{one_line(name)}={short(value)}" for name, value in given.items())


def measured(evaluation: Evaluation, problem: Problem) -> str:
    """The outcomes of an evaluation on one line, a yes or no in words."""
    return values(answers_in_words(evaluation.outcomes, problem.yes_no))


def claim_of(evaluation: Evaluation) -> str:
    """The number of an evaluation and the beginning of its study's identity, which `pesky tell` checks."""
    return f"{evaluation.id}@{evaluation.study[:6]}"


def exact(value: Option) -> str:
    """One value to be copied."""
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    return text if text.isprintable() else repr(text)
