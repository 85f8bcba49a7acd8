"""Products in single precision: the same numbers, whichever library makes them."""

import pytest
import torch

from pesky.numerics.product import LEAST, product


@pytest.mark.parametrize("batch", [(), (3,), (2, 3)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_it_is_the_product(batch, dtype):
    generator = torch.Generator().manual_seed(0)
    A = torch.randn(*batch, 600, 200, dtype=torch.float64, generator=generator)
    B = torch.randn(200, 400, dtype=torch.float64, generator=generator).expand(*batch, 200, 400)
    assert A.numel() * B.shape[-1] > LEAST
    found = product(A.to(dtype), B.to(dtype))
    assert found.dtype == dtype
    torch.testing.assert_close(found.double(), A @ B, rtol=0, atol=3e-4 if dtype == torch.float32 else 1e-12)


def test_of_transposed_and_of_small_matrices():
    A, B = torch.randn(400, 300, dtype=torch.float32), torch.randn(300, 400, dtype=torch.float32)
    torch.testing.assert_close(product(B.mT, A.mT), (A @ B).mT, rtol=0, atol=5e-4)
    torch.testing.assert_close(product(A[:2], B[:, :3]), A[:2] @ B[:, :3])


def test_it_can_be_differentiated():
    A, B = torch.randn(400, 300, dtype=torch.float32), torch.randn(2, 300, 400, dtype=torch.float32, requires_grad=True)
    product(A.expand(2, 400, 300), B).sum().backward()
    torch.testing.assert_close(B.grad, A.sum(0)[:, None].expand(2, 300, 400), rtol=1e-4, atol=1e-3)
