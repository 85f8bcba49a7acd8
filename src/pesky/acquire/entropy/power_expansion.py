"""The expectation of h(u) = u + (1 - u) log(1 - u), where u is a product of what the rows measured at x tell.

A measurement y of independent rows z_j leaves the event "all z_j >= 0" the probability u(y) = prod_j P(z_j >= 0 | y_j).
E h(u) over y, which is what CMES needs (METHOD 20.5), has as many dimensions as there are rows. Three steps make it
sums of products over rows, without any quadrature that depends on x, at a cost linear in the number of rows:

1. h(u) = sum_s weight_s u^s, over a few fixed powers s. Rows are independent, so E u^s = prod_j E P(z_j >= 0 | y_j)^s.
2. Of a row measured with Gaussian noise P(z >= 0 | y) = Phi(t), where t is normal over y. Phi(t)^s - Phi(t) vanishes at
   both ends and is a sum of normal densities of one width; the mean of a normal density over a normal t is again one.
3. Of a row answered with yes or no, P(z >= 0 | answer) has two values.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from pesky.infer.gaussian import log_density
from pesky.infer.interval import log_interval
from pesky.likelihood.base import z_score
from pesky.likelihood.rows import PROBIT

POWERS = np.concatenate([[2.0, 3.0, 4.0], 6.0 * 2.3 ** np.arange(14)])
WIDTH, SPACING = 0.35, 0.25
"""Deviation and distance of the normal densities that stand for powers of Phi: what they add to h is right to 1e-6."""
CERTAIN = 40.0
"""Deviations at which an event is certain: its probability is 1, and the logarithm of the opposite still finite."""
LEGENDRE = 24
"""Nodes for Owen's T, and for what an end of an interval does."""
EDGE, FAR = 6.0, 1e4
"""Deviations within which an end of an interval matters, and beyond which it is as good as infinite."""


class PowerExpansion(NamedTuple):
    """h(u) as a sum of powers of u, and powers of Phi as sums of normal densities: see above."""

    power: Float[Tensor, " s"]
    weight: Float[Tensor, " s"]
    """h(u) = sum of weight u^power, to 4e-4 of itself where u < 1/2, to 4e-4 (1 - u) down to 1 - u = 1e-3, and to
    1.1e-3 (1 - u) down to 1e-4."""
    center: Float[Tensor, " q"]
    density_weight: Float[Tensor, "q s"]
    """Phi(t)^power - Phi(t) = sum of these times the densities N(t; center, WIDTH^2)."""
    node: Float[Tensor, " n"]
    node_weight: Float[Tensor, " n"]
    """Gauss-Legendre on 0 .. 1."""

    def to(self, like: Tensor) -> "PowerExpansion":
        return PowerExpansion(*(part.to(like) for part in self))

    def powers_of(self, log_u: Float[Tensor, "*b"]) -> Float[Tensor, "*b s"]:
        """u^s."""
        return (log_u[..., None] * self.power).exp()

    def jensen_gap(self, expected: Float[Tensor, "*b s"], log_mean: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        """E h(u) - h(E u), of the expected powers of u and the log of its mean."""
        return ((expected - self.powers_of(log_mean)) * self.weight).sum(-1)

    def given_number(
        self, a: Float[Tensor, "*b j #m x"], unexplained: Float[Tensor, "*b j 1 x"]
    ) -> Float[Tensor, "*b j #m x s"]:
        """E P(z >= 0 | y)^s, where z has mean a and deviation 1, and y leaves the share `unexplained` of its variance.

        P(z >= 0 | y) = Phi(t) with t normal of mean a / sqrt(unexplained) and variance (1 - unexplained) / unexplained,
        so that E Phi(t) = Phi(a), and E N(t; center, WIDTH^2) is the density of N(center, WIDTH^2 + Var t) at E t.
        """
        root = unexplained.sqrt()[..., None]
        inverse_deviation = ((1 - unexplained) + WIDTH**2 * unexplained).rsqrt()[..., None]
        distance = (a[..., None] - root * self.center) * inverse_deviation
        density = (-0.5 * distance.square()).exp() * (root * inverse_deviation / math.sqrt(2 * math.pi))
        return torch.special.ndtr(a)[..., None] + density @ self.density_weight

    def given_interval(
        self, low: Float[Tensor, "*b j m x"], high: Float[Tensor, "*b j m x"], unexplained: Float[Tensor, "*b j 1 x"]
    ) -> Float[Tensor, "*b j m x s"]:
        """E P(low <= t <= high | y)^s, where t is standard normal, and y leaves the share q, `unexplained`, of it.

        Given y, t is normal with that variance q around a mean that is normal itself, of variance 1 - q. By quadrature
        over that mean within `EDGE` sqrt(q) of either end; between these the event is certain, beyond them impossible.
        """
        q, e = unexplained.sqrt(), (1 - unexplained).clamp(min=1e-12).sqrt()
        middle, most = 0.5 * (low + high), EDGE * e
        inner = torch.minimum(low + EDGE * q, middle), torch.maximum(high - EDGE * q, middle)
        between = torch.special.ndtr(inner[1] / e) - torch.special.ndtr(inner[0] / e)
        total = between.clamp(min=0.0)[..., None].expand(*low.shape, len(self.power))
        for start, end in ((low - EDGE * q, inner[0]), (inner[1], high + EDGE * q)):
            start, end = (torch.minimum(torch.maximum(each, -most), most) for each in (start, end))
            width = (end - start).clamp(min=0.0)
            # One node after the other: all of them at once take too much memory.
            for node, weight in zip(self.node.tolist(), self.node_weight.tolist(), strict=True):
                mean = start + node * width
                density = weight * width / e * log_density(mean / e).exp()
                log_p = log_interval(((low - mean) / q).clamp(min=-FAR), ((high - mean) / q).clamp(max=FAR))
                total = total + density[..., None] * self.powers_of(log_p)
        return total

    def given_answer(
        self, mean: Float[Tensor, "*b r #m x"], variance: Float[Tensor, "*b r 1 x"]
    ) -> Float[Tensor, "*b r #m x s"]:
        """E P(z >= 0 | answer)^s, where the answer is yes with probability Phi(z)."""
        above = torch.special.ndtr((mean / variance.sqrt()).clamp(-CERTAIN, CERTAIN))
        yes, above_and_yes = self._yes(mean, variance, above)
        total = torch.zeros_like(above)[..., None]
        for answer, above_and_answer in ((yes, above_and_yes), (1 - yes, above - above_and_yes)):
            share = (above_and_answer / answer.clamp(min=1e-300)).clamp(1e-30, 1.0)
            total = total + answer[..., None] * self.powers_of(share.log())
        return total

    def _yes(
        self, mean: Float[Tensor, "*b r #m x"], variance: Float[Tensor, "*b r 1 x"], above: Float[Tensor, "*b r #m x"]
    ) -> tuple[Float[Tensor, "*b r #m x"], Float[Tensor, "*b r #m x"]]:
        """P(yes) = Phi(k), k = m / sqrt(1 + v), and P(z >= 0 and yes) = (P(z >= 0) + Phi(k)) / 2 - T(k, 1 / sqrt v).

        Owen's T(k, tan angle) is the integral of exp(-k^2 / (2 cos^2 q)) / (2 pi) over q in 0 .. angle.
        """
        k = z_score(mean, variance, PROBIT.answer_noise).clamp(-CERTAIN, CERTAIN)
        yes = torch.special.ndtr(k)
        angle = torch.atan(variance.rsqrt())
        exponent = -0.5 * (k[..., None] / (angle[..., None] * self.node).cos()).square()
        owen = angle / (2 * math.pi) * (exponent.exp() @ self.node_weight)
        return yes, 0.5 * (above + yes) - owen


@lru_cache(maxsize=1)
def power_expansion() -> PowerExpansion:
    """The expansion by least squares; it depends on nothing."""
    center, density_weight = _fit_powers_of_phi()
    node, node_weight = np.polynomial.legendre.leggauss(LEGENDRE)
    parts = (POWERS, _fit_h(), center, density_weight, (node + 1) / 2, node_weight / 2)
    return PowerExpansion(*(torch.as_tensor(part) for part in parts))


def _fit_h() -> np.ndarray:
    """The weights with which the powers of u add up to h(u)."""
    # 1 - u, densely at both ends
    rest = np.concatenate([np.logspace(-8, np.log10(0.5), 600), 1 - np.logspace(-5, np.log10(0.5), 400)])
    u = 1 - rest
    h = u + rest * np.log(rest)
    # Errors count relative to h itself where u is small, and to 1 - u, by which they are divided, where it is not.
    scale = np.where(u < 0.5, np.maximum(u**2 / 2, 1e-4), np.maximum(rest, 1e-4))
    powers = np.exp(np.log1p(-rest)[:, None] * POWERS)
    return np.linalg.lstsq(powers / scale[:, None], h / scale, rcond=None)[0]


def _fit_powers_of_phi() -> tuple[np.ndarray, np.ndarray]:
    """Centers of the normal densities, and the weights with which they add up to Phi^s - Phi for each power s."""
    from scipy.special import log_ndtr, ndtr  # takes a third of a second to import, and other rules need none of it

    center, t = np.arange(-7.0, 7.5 + SPACING / 2, SPACING), np.linspace(-9.0, 10.0, 2000)
    target = np.exp(log_ndtr(t)[:, None] * POWERS) - ndtr(t)[:, None]
    density = np.exp(-0.5 * ((t[:, None] - center) / WIDTH) ** 2) / (WIDTH * math.sqrt(2 * math.pi))
    return center, np.linalg.lstsq(density, target, rcond=1e-10)[0]
