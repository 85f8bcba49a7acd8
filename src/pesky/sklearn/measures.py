"""What a fitted model takes, measured as scikit-learn's scorers are: functions of the model and held-out data."""

import pickle
import time
from dataclasses import dataclass
from statistics import median
from typing import Any

from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

CALLS = 5
"""How often a prediction is timed: the median is of a call that nothing interrupted."""


class Measure:
    """What all have in common that scikit-learn asks of scorers: weights of samples are taken, and change nothing."""

    def _accept_sample_weight(self) -> bool:
        return True


@dataclass(frozen=True)
class PredictTime(Measure):
    """The seconds that one call of `predict` takes, with so many rows of the held-out data; None for all of them."""

    rows: int | None

    def __call__(self, estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        batch = X if self.rows is None else _safe_indexing(X, [each % _num_samples(X) for each in range(self.rows)])
        seconds = []
        for _ in range(CALLS):
            began = time.perf_counter()
            estimator.predict(batch)
            seconds.append(time.perf_counter() - began)
        return median(seconds)


@dataclass(frozen=True)
class ModelSize(Measure):
    """The bytes that a model has as a pickle, which is never held in memory."""

    def __call__(self, estimator: Any, X: Any = None, y: Any = None, sample_weight: Any = None) -> float:
        written = _Written()
        pickle.dump(estimator, written)
        return float(written.bytes)


class _Written:
    """Counts what is written to it."""

    bytes = 0

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        self.bytes += size
        return size
