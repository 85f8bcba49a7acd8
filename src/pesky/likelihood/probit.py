"""A yes or a no (METHOD 20.3)."""

import math
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from pesky.infer.gaussian import log_cdf, truncation
from pesky.infer.latent import Tilted
from pesky.likelihood.base import LatentLikelihood, z_score

YES_NO_NOISE = math.pi / 2
"""Variance of the Gaussian measurement of the latent value z that an answer amounts to.

The Fisher information of an answer of probability Phi(z) is phi(z)^2 / (Phi(z) Phi(-z)), at most 2 / pi, where z = 0.
Pending answers are conditioned on with this noise, in place of an expectation over yes and no. It is exact for small
variances of z; it counts 1.3 times the information of the answer at a variance of 1, and 1.7 times at 4: questions that
run at the same time keep apart rather than repeat each other.
"""


class ProbitLikelihood(LatentLikelihood):
    """Yes with probability Phi(z): where z + e >= 0, e standard normal; the constraint is that the answer is yes.

    With z of mean m and variance v, a yes has the probability Phi(m / sqrt(1 + v)).
    """

    kind: ClassVar[str] = "probit"
    answer_noise: ClassVar[float] = 1.0
    fixed_noise: ClassVar[float] = YES_NO_NOISE
    is_settled_by_repeating: ClassVar[bool] = False

    def entropy(
        self, mean: Float[Tensor, "*#b"], variance: Float[Tensor, "*#b"], noise: Float[Tensor, "*#b"]
    ) -> Float[Tensor, "*#b"]:
        """Entropy of the answer, of which the noise is a part already."""
        a = z_score(mean, variance, self.answer_noise)
        log_yes, log_no = log_cdf(a), log_cdf(-a)
        return -(log_yes.exp() * log_yes + log_no.exp() * log_no)

    def tilt(self, y: Float[Tensor, "*b n"], mean: Float[Tensor, "*b n"], variance: Float[Tensor, "*b n"]) -> Tilted:
        """The sites of answers y = +1 and -1, of probability Phi(y z): R&W 3.58, in `truncation`'s terms."""
        spread = (1 + variance).sqrt()
        a = y * mean / spread
        log_p = log_cdf(a)
        hazard, remaining = truncation(a, log_p)
        width = 1 + variance * remaining
        return Tilted((1 - remaining) / width, y * hazard * spread / width, log_p)
