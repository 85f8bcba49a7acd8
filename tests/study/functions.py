"""What the small problem of `quick` measures: without a library, so that processes that call it start at once."""

import math
from typing import Any


def measure(params: Any) -> dict[str, float]:
    x, y = params["x"], params["y"]
    return {"f": (x - 0.4) ** 2 + 0.3 * y, "c": y + 1 + 0.2 * math.sin(5 * x)}


def score(params: Any) -> float:
    return measure(params)["f"]


def check(params: Any) -> float:
    return measure(params)["c"]
