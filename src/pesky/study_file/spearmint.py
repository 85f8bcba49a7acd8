"""An old `main(job_id, params)` of Spearmint, as a function that pesky calls."""

import secrets
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pesky.errors import brief
from pesky.problem import Option
from pesky.study_file.function import CallError

__all__ = ["adapt"]


def parts(variable: str, size: int) -> list[str]:
    """The parameters that a variable of that size becomes: itself, or one for each of its elements."""
    return [variable] if size == 1 else [f"{variable}_{i}" for i in range(1, size + 1)]


def adapt(
    main: Callable[[int, dict[str, np.ndarray]], object], sizes: Mapping[str, int], outcomes: Sequence[str]
) -> Callable[[Mapping[str, Option]], dict[str, float]]:
    """A function of pesky's parameters that calls `main(job_id, params)`, with an array for each variable.

    Args:
        main: The old function; it returns a number, or a mapping with one for each task.
        sizes: How many elements each variable has.
        outcomes: The tasks whose values are wanted.
    """

    def measure(params: Mapping[str, Option]) -> dict[str, float]:
        arrays = {name: np.array([params[part] for part in parts(name, size)]) for name, size in sizes.items()}
        # a number of its own, and small enough for what old programs do with it: seed a generator, name a file
        returned = main(secrets.randbelow(2**31), arrays)
        if not isinstance(returned, Mapping):
            if len(outcomes) > 1:
                raise CallError(
                    f"main returned {brief(returned)}: expected a mapping with {', '.join(map(repr, outcomes))}."
                )
            returned = {outcomes[0]: returned}
        missing = [name for name in outcomes if name not in returned]
        if missing:
            raise CallError(f"main returned {sorted(map(str, returned))}, without {', '.join(map(repr, missing))}.")
        return {name: float(np.asarray(returned[name]).item()) for name in outcomes}

    return measure
