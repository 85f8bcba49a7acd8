"""What users want called after each result; whatever goes wrong there is said, and ends nothing."""

import logging
from collections.abc import Callable, Iterable
from typing import Any

from pesky.errors import ProblemError
from pesky.run.call import describe
from pesky.run.client import AskTell
from pesky.store import Evaluation, State

log = logging.getLogger("pesky")

Callback = Callable[[Any, Evaluation], object]
"""A function of the study and of an evaluation that is done or has failed."""


class Callbacks:
    """Functions that are called one after the other."""

    def __init__(self, given: Iterable[Callback] | None, study: AskTell) -> None:
        if given is not None and (callable(given) or not isinstance(given, Iterable)):
            raise ProblemError(f"callbacks was {given!r}: expected a list of functions, like [{given!r}].")
        self._functions, self._study = tuple(given or ()), study
        for each in self._functions:
            if not callable(each):
                raise ProblemError(f"callbacks: {each!r} is no function: expected one of a study and an evaluation.")

    def call(self, evaluation: Evaluation) -> None:
        """Tell everyone of an evaluation that was told, or failed; one that is lost is asked again, and told later."""
        if evaluation.state not in (State.DONE, State.FAILED):
            return
        for each in self._functions:
            try:
                each(self._study, evaluation)
            except Exception as error:
                log.warning(
                    "the callback %r failed on evaluation %d, and the study goes on: %s",
                    getattr(each, "__name__", type(each).__name__),
                    evaluation.id,
                    describe(error),
                )
