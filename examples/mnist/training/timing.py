"""How long a network takes to predict, beside a reference network on the same machine at the same time.

Seconds mean something on one machine only, and on a busy one not even there. So predictions of the network and of the
reference take turns, and what counts is the mean of the fastest tenth of either: whatever else runs makes both slower,
and nothing makes them faster.
"""

from collections.abc import Callable
from time import perf_counter

import torch

from .network import PIXELS, Network, Settings

BATCH = 128
REFERENCE = (125, 125, 125)
"""Hidden units of the reference, which has rectifiers."""
TURN = 5
"""Predictions of one network before the other's turn: the first of them find its weights gone from the caches."""
FASTEST = 0.1
"""The share of all predictions whose mean counts."""


def prediction_times(network: Network, reference: Network, predictions: int) -> tuple[float, float]:
    """Seconds that a prediction of 128 images takes: of the network, and of the reference."""
    X = torch.rand(BATCH, PIXELS, device=network.weights[0].device, dtype=torch.float32)
    pair = [lambda each=each: each.logits(X) for each in (network, reference)]
    times: list[list[float]] = [[], []]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.no_grad():
            for predict in pair:  # warm-up: memory is allocated, kernels are chosen
                seconds_of(predict)
            while len(times[0]) < predictions:
                for predict, kept in zip(pair, times, strict=True):
                    kept.extend(seconds_of(predict) for _ in range(TURN))
    finally:
        torch.set_num_threads(threads)
    ours, theirs = (mean_of_fastest(each) for each in times)
    return ours, theirs


def mean_of_fastest(times: list[float]) -> float:
    """The mean of the fastest tenth."""
    fastest = sorted(times)[: max(1, round(FASTEST * len(times)))]
    return sum(fastest) / len(fastest)


def seconds_of(call: Callable[[], object]) -> float:
    """How long the call takes, what it started on an accelerator included."""
    synchronize()
    began = perf_counter()
    call()
    synchronize()
    return perf_counter() - began


def synchronize() -> None:
    """Waits for the accelerator, if there is one that works by itself."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def reference(rng: torch.Generator) -> Network:
    """The network whose time is 1."""
    units = dict(zip(("units1", "units2", "units3"), REFERENCE, strict=True))
    return Network(Settings(0.1, 0.0, 0.5, 0.9, 0.0, 0.0, 0.0, 10.0, activation="relu", **units), rng)
