"""What every likelihood says of its measurements, given a normal belief of the latent value."""

from abc import ABC, abstractmethod
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from pesky.infer.latent import Tilted


def z_score(
    mean: Float[Tensor, "*#b"], variance: Float[Tensor, "*#b"], answer_noise: Float[Tensor, "*#b"] | float
) -> Float[Tensor, "*#b"]:
    """Deviations by which z + e is above zero in the mean: Phi of it is the probability that the constraint holds."""
    return mean / (variance + answer_noise).sqrt()


class Likelihood(ABC):
    """How a measurement y of a row comes from the latent function z of that row.

    A row is feasible at latent values of zero and above. Every method is elementwise: moments of any shape, of rows
    that all have this likelihood.
    """

    kind: ClassVar[str]
    """Its name in `LIKELIHOODS`."""
    answer_noise: ClassVar[float]
    """The constraint holds where z + e >= 0, e normal of this variance: 0 where it is asked of z itself."""
    is_settled_by_repeating: ClassVar[bool]
    """Whether measuring at one point again and again leaves no doubt of z there."""

    @abstractmethod
    def entropy(
        self, mean: Float[Tensor, "*#b"], variance: Float[Tensor, "*#b"], noise: Float[Tensor, "*#b"]
    ) -> Float[Tensor, "*#b"]:
        """Entropy in nats of a measurement, up to a constant of the likelihood, where z has these moments."""


class LatentLikelihood(Likelihood):
    """One that is not Gaussian: z is approximated by expectation propagation, from a site for each measurement."""

    fixed_noise: ClassVar[float]
    """Noise variance of the Gaussian measurement of z that a pending one is taken for."""

    @abstractmethod
    def tilt(self, y: Float[Tensor, "*b n"], mean: Float[Tensor, "*b n"], variance: Float[Tensor, "*b n"]) -> Tilted:
        """The sites of measurements y of latent values whose cavities have these moments: see `Tilted`."""
