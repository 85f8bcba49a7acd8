"""How finely PESC is computed: the paper's way, and ours."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from pesky.acquire.base import FINEST
from pesky.errors import ProblemError
from pesky.problem.fields import finite, whole

OF_EP = ("samples", "local_reach", "fine_from")
"""Options of expectation propagation alone."""
FEW, OF_FEW = 3, 2 / 3
"""Up to so many questions for each parameter this part of the draws and cells is enough."""
SHARED = 3
"""Several hyperparameter samples share the cells, down to this part of them each .."""
LEAST_DRAWS = 96
""".. and the draws, down to so many each."""


@dataclass(frozen=True)
class PescOptions:
    """Of what, and how much of it, the gains are computed."""

    samples: int
    """M: x* samples that EP conditions on."""
    draws: int | None
    """Functions drawn; the samples are weighted medoids of their minimizers. None: plain draws, one per sample."""
    local_reach: float | None
    """Extra points that may not be better than x*: one either side along each axis, this many lengthscales away."""
    fine_from: int = 0
    """Questions, for each parameter beyond the second, before which draws are plain and x* has no extra points."""
    polish_steps: int = 6
    candidates: int = 512
    """Points at which each draw is evaluated before it is polished, besides the measured ones."""
    coarse: float | None = None
    """Some questions are valued as if measurements had a noise of at least this share of the prior variance .."""
    coarse_every: int | None = None
    """.. each so-many-th. None: the 4th, the 9th, the 16th and so on, ever fewer but always another."""
    cells: int | None = None
    """Where x* may be, the minimizers of as many draws: joint samples of all rows there say what each would tell
    (METHOD 9). Fewer in fewer than five dimensions, and at first. None: expectation propagation says it."""
    samples_per_cell: int = 20
    """Joint samples, for each of the cells."""
    indifference: float | None = None
    """Where x* is does not matter to samples that gain less than this share of what is gained on average, once they are
    most: these count as one. None: it always matters. Of joint samples alone."""

    def __post_init__(self) -> None:
        self.check(vars(self))

    @classmethod
    def check(cls, options: Mapping[str, Any]) -> None:
        """Nothing, or a ProblemError if one of these is of the wrong kind."""
        least = {"samples": 1, "draws": 1, "fine_from": 0, "polish_steps": 0, "candidates": 1, "coarse_every": 1}
        least |= {"cells": 2, "samples_per_cell": 2}
        for name, given in options.items():
            if given is None and name in ("draws", "coarse_every", "local_reach", "coarse", "cells", "indifference"):
                continue
            if name in least:
                whole(f"{name} of PESC's options", given, least[name])
            elif finite(f"{name} of PESC's options", given) <= 0:
                raise ProblemError(f"{name} of PESC's options was {given!r}: expected a number above 0.")

    @classmethod
    def names(cls) -> list[str]:
        """What each option is called."""
        return [each.name for each in fields(cls)]

    def changed(self, options: Mapping[str, Any]) -> "PescOptions":
        """These with some changed; who says how expectation propagation is done, and nothing of cells, wants it."""
        wants_ep = "cells" not in options and any(name in options for name in OF_EP)
        base = self if not wants_ep else EP if self == DEFAULT else replace(self, cells=None)
        return replace(base, **options)

    def at(self, asked: int, parameters: int) -> "PescOptions":
        """The options of the question after so many others.

        While there are few data for each parameter x* may be nearly anywhere, and no number of cells says where. With
        EP extra points make the gain a peak around each x* sample. In many dimensions the samples are too few for their
        peaks to meet, and the highest is one sample's, not the most informative place: METHOD 21, F7.
        """
        if self.cells is not None:
            few = {"cells": max(2, round(OF_FEW * self.cells)), "draws": self.draws and round(OF_FEW * self.draws)}
            return replace(self, **few) if asked < FEW * parameters else self
        is_early = asked < self.fine_from * (parameters - 2)
        return replace(self, draws=None, local_reach=None) if is_early else self

    def resolution(self, asked: int) -> float:
        """The noise, as a share of the prior variance, that the question after so many others is valued with.

        Without noise the place of x* can be known ever more finely, and each digit is worth as many nats as the one
        before: where a local solution looks like the only one, all questions go there. A coarse look has no use for
        the digits, and goes where another solution may be (METHOD 21, F6); where it sees none, the model is doubted
        instead (`strategy.CheckModel`).
        """
        question, every = asked + 1, self.coarse_every
        is_due = question > 1 and (math.isqrt(question) ** 2 == question if every is None else question % every == 0)
        return self.coarse if is_due and self.coarse is not None else FINEST

    def cells_in(self, parameters: int, hyperparameter_samples: int) -> int:
        """Cells for each hyperparameter sample: what covers x* grows with the dimensions, to all of them in five."""
        assert self.cells is not None
        enough = self.cells * min(1.0, (parameters + 1) / 6)
        return math.ceil(enough if hyperparameter_samples == 1 else enough / min(hyperparameter_samples, SHARED))

    def steps_in(self, parameters: int) -> int:
        """Steps that the minimizer of a draw takes: half of them in two dimensions, where candidates are close."""
        return math.ceil(self.polish_steps / 2) if parameters <= 2 else self.polish_steps

    def per_hyperparameter_sample(self, count: int) -> tuple[int, int | None]:
        """Samples and draws for each of `count` hyperparameter samples: about the same in all (METHOD 4.5)."""
        if count == 1:
            return self.samples, self.draws
        samples = max(math.ceil(self.samples / count), min(self.samples, 8))
        if self.draws is None:
            return samples, None
        least = 4 * samples if self.cells is None else min(self.draws, LEAST_DRAWS)
        return samples, max(self.draws // count, least)


PAPER = PescOptions(samples=50, draws=None, local_reach=None)
"""The acquisition of the ICML 2015 paper, its formulas corrected: equally weighted draws of x*, conditioned on the
measured points alone. The draws are thinned evenly from four times as many, which lowers their noise."""

EP = PescOptions(samples=50, draws=512, local_reach=0.175, fine_from=5, coarse=1e-3)
"""The paper's way, more accurate (METHOD 18): less Monte Carlo noise from many draws, and EP knows of the neighborhood
of x*. Against brute force, reaches from 0.15 to 0.2 do alike; 0.3 underestimates the gains, 0.05 and below are worse.
Coarse looks bring runs back from local solutions where nothing is noisy. Fine from the first question on, it is slower
at first in eight dimensions (docs/pesc_options.md)."""

DEFAULT = replace(EP, draws=384, cells=300, polish_steps=5, indifference=0.3)
"""Nothing is approximated but by the number of samples, also where outcomes are measured apart and in four dimensions,
where EP mistakes what constraints tell (METHOD 18). Another solution is sought before all digits of one are known."""

OPTIONS = {"default": DEFAULT, "ep": EP, "paper": PAPER}
