"""A number with Gaussian noise."""

from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.likelihood.base import Likelihood


class GaussianLikelihood(Likelihood):
    """y = z + noise; the constraint is asked of z, without the noise."""

    kind: ClassVar[str] = "gaussian"
    answer_noise: ClassVar[float] = 0.0
    is_settled_by_repeating: ClassVar[bool] = True

    def entropy(
        self, mean: Float[Tensor, "*#b"], variance: Float[Tensor, "*#b"], noise: Float[Tensor, "*#b"]
    ) -> Float[Tensor, "*#b"]:
        """Entropy less that of a standard normal; the mean, which shifts y, does not matter."""
        return 0.5 * torch.log(variance + noise)
