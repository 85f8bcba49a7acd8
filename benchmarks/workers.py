"""Many runs side by side, in processes of one thread each."""

import multiprocessing
import os
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from typing import TypeVar

import torch

from benchmarks.runs import Plan, Run, optimize

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Failure:
    """A run that raised: what it said in a line, and the whole traceback."""

    plan: Plan
    message: str
    traceback: str

    @classmethod
    def of(cls, plan: Plan, error: Exception) -> "Failure":
        """The failure, with the place where the error was raised."""
        place = traceback.extract_tb(error.__traceback__)[-1]
        message = f"{type(error).__name__}: {error} ({place.filename.rpartition('/')[2]}:{place.lineno})"
        return cls(plan, message, "".join(traceback.format_exception(error)))


def attempt(plan: Plan) -> Run | Failure:
    """The run of a plan, or how it failed."""
    try:
        return optimize(plan)
    except Exception as error:  # whatever one run does, the others go on
        return Failure.of(plan, error)


def begin_worker() -> None:
    """Makes this process one of one thread, which ends when the benchmark does, even by a kill."""
    torch.set_num_threads(1)
    threading.Thread(target=end_with_parent, daemon=True).start()


def end_with_parent() -> None:
    """Waits for the parent process to end, and then ends this one: it would wait for work for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def run_all(plans: Sequence[Plan], workers: int) -> Iterator[Run | Failure]:
    """What became of every plan, as they finish."""
    return side_by_side(attempt, plans, workers)


def side_by_side(function: Callable[[T], R], given: Sequence[T], workers: int) -> Iterator[R]:
    """The function of each, as they finish; one worker is this very process."""
    if workers == 1:
        torch.set_num_threads(1)
        yield from map(function, given)
        return
    os.environ["OMP_NUM_THREADS"] = "1"  # read by the workers as they import torch
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, initializer=begin_worker) as pool:
        futures = [pool.submit(function, each) for each in given]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
