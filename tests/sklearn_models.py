"""Models whose score, size and times are known."""

import time
from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin


class Sized(ClassifierMixin, BaseEstimator):
    """Scores its size, which is nearly that of its pickle; and fails where it is told to."""

    def __init__(self, size: int = 100, *, fails_above: int = 10**9, other: Any = None) -> None:
        self.size, self.fails_above, self.other = size, fails_above, other

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Sized":
        if self.size > self.fails_above:
            raise RuntimeError("out of memory")
        self.classes_, self.weights_ = [0, 1], bytes(self.size)
        return self

    def predict(self, X: Any) -> Any:
        return [0] * len(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        return self.size / 1000


class Slow(Sized):
    """Takes so many seconds to fit, or to predict, and remembers with how many rows."""

    rows: list[int] = []  # noqa: RUF012 - of all of them

    def __init__(self, size: int = 100, *, fitting: float = 0.0, predicting: float = 0.0) -> None:
        super().__init__(size)
        self.fitting, self.predicting = fitting, predicting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Slow":
        time.sleep(self.fitting)
        return super().fit(X, y)  # pyright: ignore[reportReturnType]

    def predict(self, X: Any) -> Any:
        Slow.rows.append(len(X))
        time.sleep(self.predicting)
        return super().predict(X)
