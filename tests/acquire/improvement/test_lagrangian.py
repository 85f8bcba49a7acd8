"""The augmented Lagrangian: its expected penalty against quadrature, its updates against a plain loop."""

import pytest
import torch
from torch import Tensor

from pesky.acquire.improvement.al import AugmentedLagrangian
from pesky.acquire.improvement.lagrangian import Lagrangian


@pytest.mark.parametrize("u", [-40.0, -3.0, 0.0, 3.0, 40.0])
def test_the_mean_of_a_squared_violation_is_that_of_quadrature(u: float):
    of = Lagrangian(torch.ones(()), torch.ones(1), torch.zeros(1), torch.tensor(0.5))
    c = torch.linspace(-12, 12, 200_001)
    density = torch.exp(-0.5 * c**2) / (2 * torch.pi) ** 0.5
    squared = torch.trapezoid((u + c).clamp(max=0.0) ** 2 * density, c)
    expected = of.expected_penalty(torch.tensor([[2 * u]]), torch.tensor([[2.0]]))
    torch.testing.assert_close(expected[0], 4 * squared, rtol=1e-8, atol=1e-12)


def told_one_by_one(values: Tensor, initial: int, start: float, patience: int, reduction: float, tolerance: float):
    """The outer loop, written for lists; units and first rho as documented."""
    f, c = values[0].tolist(), values[1:].mT.tolist()
    constraints = range(len(c[0]))
    unit_f = max(f[:initial]) - min(f[:initial])
    unit = [(sum(c[i][k] ** 2 for i in range(initial)) / initial) ** 0.5 for k in constraints]
    violations = [sum(min(0.0, c[i][k] / unit[k]) ** 2 for k in constraints) for i in range(initial)]
    rho = min([v for v in violations if v > 0], default=1.0) / 2
    lam = [start for _ in constraints]

    def L(i: int) -> float:
        terms = [-lam[k] * c[i][k] / unit[k] + min(0.0, c[i][k] / unit[k]) ** 2 / (2 * rho) for k in constraints]
        return f[i] + unit_f * sum(terms)

    stalled, lowest = 0, min(L(i) for i in range(initial))
    for n in range(initial + 1, len(f) + 1):
        best = min(range(n), key=L)
        stalled = 0 if L(best) < lowest else stalled + 1
        lowest = L(best)
        if stalled >= patience:
            scaled = [c[best][k] / unit[k] for k in constraints]
            lam = [max(0.0, lam[k] - scaled[k] / rho) for k in constraints]
            if min(scaled) < -tolerance:
                rho = rho * reduction
            stalled, lowest = 0, min(L(i) for i in range(n))
    return lam, rho


@pytest.mark.parametrize("offset", [-1.0, 0.0, 3.0])
@pytest.mark.parametrize(("patience", "start", "reduction", "tolerance"), [(0, 0.0, 0.5, 1e-2), (2, 1.0, 0.3, 0.0)])
def test_multipliers_and_penalty_are_those_of_the_plain_loop(offset, patience, start, reduction, tolerance):
    g = torch.Generator().manual_seed(4)
    rule = AugmentedLagrangian(
        initial=4, patience=patience, multiplier=start, reduction=reduction, tolerance=tolerance
    )  # fmt: skip
    values = torch.randn(5, 3, 25, generator=g) + torch.tensor([5.0, offset, offset])[:, None]
    batched = rule.replay(values, torch.ones(5, 3))
    for b in range(5):
        lam, rho = told_one_by_one(values[b], 4, start, patience, reduction, tolerance)
        torch.testing.assert_close(batched.multiplier[b], torch.tensor(lam), rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(batched.rho[b], torch.tensor(rho), rtol=1e-9, atol=0)
    assert bool((batched.multiplier > 0).any()) == (offset < 0.0)
