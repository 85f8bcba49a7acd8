"""From observations to a belief: which kernel, and where the hyperparameters come from."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from pesky.data import Observations
from pesky.errors import ProblemError, unknown_name
from pesky.model import fit
from pesky.model import slice as slice_sampling
from pesky.model.gp import GaussianProcess
from pesky.model.hyper import Hyperparameters, noise_variance
from pesky.model.kernel import Kernel

FIRST_SWEEPS, LATER_SWEEPS = 50, 10


@dataclass(frozen=True)
class Known:
    """Known hyperparameters of one outcome: lengthscales in the unit cube, the rest in its own units."""

    lengthscale: float | Sequence[float]
    amplitude: float
    """Prior variance."""
    noise: float
    """Variance of the measurement noise."""
    mean: float = 0.0

    def __post_init__(self) -> None:
        lengthscales = (self.lengthscale,)
        if isinstance(self.lengthscale, Sequence):
            lengthscales = tuple(self.lengthscale)
            object.__setattr__(self, "lengthscale", lengthscales)
        checks = {"lengthscale": (lengthscales, 0), "amplitude": ((self.amplitude,), 0), "noise": ((self.noise,), -1)}
        for what, (values, least) in checks.items():
            if not all(math.isfinite(value) and value > least and value >= 0 for value in values):
                expected = "a positive number" if least == 0 else "a variance, zero or more"
                raise ProblemError(f"Known: {what} was {getattr(self, what)!r}: expected {expected}.")
        if not math.isfinite(self.mean):
            raise ProblemError(f"Known: mean was {self.mean!r}: expected a finite number.")


@dataclass(frozen=True)
class GP:
    """A Gaussian process per outcome; hyperparameters by maximum, by slice sampling, or known per outcome."""

    kernel: Kernel = "matern52"
    hyperparameters: Literal["maximum", "slice"] | Mapping[str, Known] = "maximum"
    samples: int = 10
    """Hyperparameter samples, for "slice"."""

    def __post_init__(self) -> None:
        if self.kernel not in get_args(Kernel):
            raise ProblemError(f"GP: {unknown_name('kernel', self.kernel, get_args(Kernel))}")
        if isinstance(self.hyperparameters, str) and self.hyperparameters not in ("maximum", "slice"):
            raise ProblemError(
                f"GP: {unknown_name('source of hyperparameters', self.hyperparameters, ('maximum', 'slice'))}"
            )
        if self.samples < 1:
            raise ProblemError(f"GP: samples was {self.samples}: expected at least 1 hyperparameter sample.")

    def check(self, outcomes: tuple[str, ...], dim: int) -> None:
        """Nothing, or a ProblemError that says what is wrong with the known hyperparameters for this problem."""
        if isinstance(self.hyperparameters, str):
            return
        for name in self.hyperparameters:
            if name not in outcomes:
                raise ProblemError(f"GP: {unknown_name('outcome', name, outcomes)}")
        for name in outcomes:
            known = self.hyperparameters.get(name)
            if not isinstance(known, Known):
                raise ProblemError(
                    f"GP: the hyperparameters of {name!r} were {known!r}: expected Known(lengthscale=..., "
                    "amplitude=..., noise=...) for every outcome of the problem."
                )
            if isinstance(known.lengthscale, Sequence) and len(known.lengthscale) != dim:
                raise ProblemError(
                    f"GP: {name!r} has {len(known.lengthscale)} lengthscales: expected one number, or {dim}: one per "
                    "real or integer parameter and one per option of each choice."
                )

    def believe(
        self,
        observations: Observations,
        rows: tuple[str, ...],
        snap: Callable[[Tensor], Tensor] | None,
        previous: Hyperparameters | None,
        generator: torch.Generator,
    ) -> GaussianProcess:
        """The belief that the observations support; `previous` hyperparameters are where the search starts."""
        o = observations
        data = (self.kernel, o.X, o.y, o.mask, o.noise)
        if self.hyperparameters == "maximum":
            h = fit.maximize(*data, previous=previous)
        elif self.hyperparameters == "slice":
            sweeps = LATER_SWEEPS
            if previous is None:
                best = fit.maximize(*data)
                previous, sweeps = Hyperparameters(*(p.expand(self.samples, *p.shape) for p in best)), FIRST_SWEEPS
            h = slice_sampling.sample(*data, previous, sweeps, generator)
        else:
            h = scaled(self.hyperparameters, o, rows)
        return GaussianProcess(self.kernel, o.X, o.y, o.mask, h, snap)


def scaled(known: Mapping[str, Known], o: Observations, rows: tuple[str, ...]) -> Hyperparameters:
    """Known hyperparameters in the scaled units of each row."""
    d = o.X.shape[-1]

    def vector(values: list[float]) -> Tensor:
        return torch.tensor(values, dtype=o.y.dtype)

    lengthscale = torch.stack([torch.as_tensor(known[name].lengthscale, dtype=o.y.dtype).expand(d) for name in rows])
    amplitude = vector([known[name].amplitude for name in rows]) / o.scale.square()
    noise = vector([known[name].noise for name in rows]) / o.scale.square()
    mean = torch.stack([o.from_user(j, vector([known[name].mean])[0]) for j, name in enumerate(rows)])
    return Hyperparameters(lengthscale, amplitude, noise_variance(noise.log(), amplitude, noise), mean)
