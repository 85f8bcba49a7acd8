"""Results that are awaited: points being measured, and what will be known of them."""

from typing import NamedTuple

from jaxtyping import Bool, Float
from torch import Tensor


class Pending(NamedTuple):
    """Points being measured, and which rows are measured at each."""

    X: Float[Tensor, "p d"]
    rows: Bool[Tensor, "p j"]
