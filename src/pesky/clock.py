"""How long a stage takes."""

import time

import torch
from torch import Tensor


def now(like: Tensor) -> float:
    """Seconds of this process's CPU time; where an accelerator computes, of its time, once it is done."""
    if not like.is_cuda:
        return time.process_time()
    torch.cuda.synchronize(like.device)
    return time.perf_counter()
