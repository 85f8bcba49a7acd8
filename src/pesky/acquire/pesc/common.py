"""What both kinds of PESC share: kinds of options, and coarse looks that see whether there is another solution."""

import math
from dataclasses import field
from typing import Any

from pesky.acquire.base import FINEST


def optional(default: float | None, kind: type) -> Any:
    """A field of this kind, above 0, that may be None."""
    return field(default=default, metadata={"optional": True, "kind": kind})


def at_least(least: int, default: int) -> Any:
    """A field that is a whole number, and no less."""
    return field(default=default, metadata={"least": least})


def resolution(asked: int, coarse: float | None, every: int | None) -> float:
    """The noise, as a share of the prior variance, that the query after so many others is valued with.

    Without noise the place of x* can be known ever more finely, and each digit is worth as many nats as the one
    before: where a local solution looks like the only one, all queries go there. A coarse look has no use for the
    digits, and goes where another solution may be (METHOD 21, F6); where it sees none, the model is doubted instead
    (`strategy.CheckModel`).
    """
    query = asked + 1
    is_due = query > 1 and (math.isqrt(query) ** 2 == query if every is None else query % every == 0)
    return coarse if is_due and coarse is not None else FINEST
