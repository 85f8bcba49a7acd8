"""One ask of a pesky study, with the CPU seconds of its parts."""

from collections.abc import Callable

from benchmarks.case import Measured

PARTS = ("hyperparameters", "draws", "EP", "maximizing")


def prepare_pesc(measured: Measured, seed: int, samples: int) -> Callable[[], dict[str, float]]:
    """An ask that returns the CPU seconds of each of `PARTS`."""
    raise NotImplementedError
