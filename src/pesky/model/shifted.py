"""What is believed of the same functions under other thresholds: their zeros are moved."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from pesky.likelihood import Likelihoods
from pesky.model.belief import Marginals


@dataclass(frozen=True)
class Shifted:
    """What is believed of each row less a number, at each point by itself; see `Marginals`."""

    belief: Marginals
    shift: Float[Tensor, "*#b j"]

    @property
    def amplitude(self) -> Float[Tensor, "*b j"]:
        return self.belief.amplitude

    @property
    def likelihoods(self) -> Likelihoods:
        return self.belief.likelihoods

    @property
    def points(self) -> Float[Tensor, "*w n d"]:
        return self.belief.points

    def mean(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x"]:
        return self.belief.mean(X) - self.shift[..., None]

    def variance(self, X: Float[Tensor, "*b x d"]) -> Float[Tensor, "*b j x"]:
        return self.belief.variance(X)
