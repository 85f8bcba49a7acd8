import pytest
import torch
from scipy.special import gammaincinv

from pesky.numerics.quantile import gamma_quantile


@pytest.mark.parametrize("shape", [1.5, 2.5, 7.0])
def test_it_is_scipys(shape: float):
    tails = torch.logspace(-14, -0.31, 300, dtype=torch.float64)
    p = torch.cat([tails, torch.linspace(0.001, 0.999, 999, dtype=torch.float64), 1 - tails])
    torch.testing.assert_close(
        gamma_quantile(shape, p), torch.from_numpy(gammaincinv(shape, p.numpy())), rtol=1e-11, atol=0
    )


def test_at_its_ends_it_is_zero_and_infinite():
    assert gamma_quantile(2.5, torch.tensor([0.0, 1.0], dtype=torch.float64)).tolist() == [0.0, float("inf")]
