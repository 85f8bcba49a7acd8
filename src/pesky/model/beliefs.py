"""From observations to a belief: which kernel, and where the hyperparameters come from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from pesky.data import Observations
from pesky.model import fit
from pesky.model import slice as slice_sampling
from pesky.model.gp import GaussianProcess
from pesky.model.hyper import Hyperparameters, noise_variance
from pesky.model.kernel import Kernel

FIRST_SWEEPS, LATER_SWEEPS = 50, 10


@dataclass(frozen=True)
class Known:
    """Known hyperparameters of one outcome: lengthscales in the unit cube, the rest in its own units."""

    lengthscale: float | tuple[float, ...]
    amplitude: float
    """Prior variance."""
    noise: float
    """Variance of the measurement noise."""
    mean: float = 0.0


@dataclass(frozen=True)
class GP:
    """A Gaussian process per outcome; hyperparameters by maximum, by slice sampling, or known per outcome."""

    kernel: Kernel = "matern52"
    hyperparameters: Literal["maximum", "slice"] | Mapping[str, Known] = "maximum"
    samples: int = 10
    """Hyperparameter samples, for "slice"."""

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
