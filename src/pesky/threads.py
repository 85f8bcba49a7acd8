"""How many threads torch may use while a study decides."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

FEW = 500
"""Measurements up to which one thread is faster: an ask is thousands of operations on matrices of tens of rows."""


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
