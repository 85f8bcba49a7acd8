"""The distribution function of two correlated standard normal variables, batched and differentiable."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

NODES = (
    0.07652652113349734, 0.22778585114164508, 0.37370608871541955, 0.5108670019508271, 0.636053680726515,
    0.7463319064601508, 0.8391169718222188, 0.9122344282513259, 0.9639719272779138, 0.9931285991850949,
)  # fmt: skip
WEIGHTS = (
    0.15275338713072585, 0.14917298647260374, 0.14209610931838204, 0.13168863844917664, 0.11819453196151841,
    0.10193011981724044, 0.08327674157670475, 0.06267204833410907, 0.04060142980038694, 0.01761400713915212,
)  # fmt: skip
"""Of the Gauss-Legendre rule of 20 points on (-1, 1): the positive nodes."""
RULE = [(1 + side * node, weight) for node, weight in zip(NODES, WEIGHTS, strict=True) for side in (-1, 1)]
"""Nodes on (0, 2), and weights."""
CERTAIN = 40.0
"""Deviations beyond which a normal variable is taken to be certain: Phi(-38) is the smallest number there is."""
STRONG = 0.925
"""Correlations beyond this are integrated from +-1, not from 0."""


def cdf(a: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """Standard normal distribution function, to full relative precision in the lower tail (torch's own has none)."""
    return 0.5 * torch.special.erfc(-math.sqrt(0.5) * a)


def bivariate_cdf(a: Float[Tensor, "*b"], b: Float[Tensor, "*b"], r: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """P(Z_1 <= a, Z_2 <= b) of standard normal variables with correlation r, -1 <= r <= 1.

    Absolute error about 1e-15. In the tails it keeps within 0 .. min(Phi(a), Phi(b)); its derivatives, in closed form,
    are finite for every r. Genz (2004), after Drezner and Wesolowsky (1990): the derivative by r is the density, whose
    integral over r is smooth in asin(r), and near r = +-1 after two terms of a series are taken out.
    """
    return _Bivariate.apply(a, b, r)  # pyright: ignore[reportReturnType]


class _Bivariate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a: Tensor, b: Tensor, r: Tensor) -> Tensor:
        ctx.save_for_backward(a, b, r)
        strong = r.abs() > STRONG
        value = torch.empty_like(a)
        for where, compute in ((~strong, _from_independent), (strong, _from_equal)):
            value[where] = compute(*(t[where] for t in (a.clamp(-CERTAIN, CERTAIN), b.clamp(-CERTAIN, CERTAIN), r)))
        most = torch.minimum(cdf(a), cdf(b))
        return torch.minimum(value.clamp(min=0.0), most)

    @staticmethod
    def backward(ctx, *upstream: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        a, b, r = ctx.saved_tensors
        # At r = +-1 the density has no limit where a = +-b: the floor leaves a large number.
        rest = ((1 - r) * (1 + r)).clamp(min=1e-16)
        by_a = _density(a) * cdf((b - r * a) / rest.sqrt())
        by_b = _density(b) * cdf((a - r * b) / rest.sqrt())
        exponent = -0.5 * (a * a + (b - r * a).square() / rest)
        by_r = exponent.exp() / (2 * math.pi * rest.sqrt())
        return upstream[0] * by_a, upstream[0] * by_b, upstream[0] * by_r


def _density(a: Tensor) -> Tensor:
    return torch.exp(-0.5 * a * a) / math.sqrt(2 * math.pi)


def _from_independent(a: Tensor, b: Tensor, r: Tensor) -> Tensor:
    """Phi(a) Phi(b), and the integral of the density over the correlation from 0 to r, in asin(r)."""
    half_angle, product, squares = 0.5 * torch.asin(r), a * b, 0.5 * (a * a + b * b)
    total = torch.zeros_like(a)
    # One node after the other: what all of them take at once does not stay in the cache, at twice the time.
    for node, weight in RULE:
        sine = torch.sin(node * half_angle)
        total += weight * ((sine * product - squares) / (1 - sine * sine)).exp()
    return cdf(a) * cdf(b) + half_angle / (2 * math.pi) * total


def _from_equal(a: Tensor, b: Tensor, r: Tensor) -> Tensor:
    """The value at r = +-1, less the integral from r to there."""
    sign = torch.where(r < 0, -1.0, 1.0).to(r)
    # P(Z_1 <= a, Z_2 <= b; r) = P(Z_1 <= a) - P(Z_1 <= a, -Z_2 <= -b; -r)
    b = sign * b
    product, apart = a * b, (a - b).abs()
    square = apart * apart
    rest = ((1 - r) * (1 + r)).clamp(min=1e-40)  # not zero: nodes divide by it
    c, d = (4 - product) / 8, (12 - product) / 16
    root = rest.sqrt()
    taken = root * torch.exp(-0.5 * (square / rest + product))
    taken = taken * (1 - c * (square - rest) * (1 - d * square / 5) / 3 + c * d * rest * rest / 5)
    # In one exponential: exp(-product / 2) alone overflows where its factor vanishes.
    outside = torch.exp(-0.5 * product + torch.special.log_ndtr(-apart / root)) * math.sqrt(2 * math.pi)
    taken = taken - outside * apart * (1 - c * square * (1 - d * square / 5) / 3)
    for node, weight in RULE:
        x2 = (0.5 * node * root).square()
        y = (1 - x2).sqrt()
        smooth = torch.exp(-product * (1 - y) / (2 * (1 + y))) / y - (1 + c * x2 * (1 + d * x2))
        taken += 0.5 * weight * root * torch.exp(-0.5 * (square / x2 + product)) * smooth
    equal = cdf(torch.minimum(a, b)) - taken / (2 * math.pi)
    return torch.where(sign > 0, equal, cdf(a) - equal)
