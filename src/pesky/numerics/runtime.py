"""How long a stage of the computation takes, and with how many threads."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

FEW = 500
"""Measurements up to which one thread is faster: an ask is thousands of operations on matrices of tens of rows."""


def now(like: Tensor) -> float:
    """Seconds of this process's CPU time; where an accelerator computes, of its time, once it is done."""
    if not like.is_cuda:
        return time.process_time()
    torch.cuda.synchronize(like.device)
    return time.perf_counter()


class Timings:
    """Seconds of each stage of a computation, by name, in the order in which they first ended."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def timed(self, stage: str, like: Tensor) -> Iterator[None]:
        """Adds what happens within it to the seconds of the stage; `like` says which device computes."""
        began = now(like)
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + now(like) - began


@contextmanager
def threads_for(measurements: int) -> Iterator[None]:
    """One thread while the matrices are small, as many as torch had before for larger ones; restored afterwards."""
    before = torch.get_num_threads()
    if measurements <= FEW:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
