"""Small Gaussian process beliefs for the tests: data drawn from their own prior."""

import torch
from torch import Tensor

from pesky.model import GaussianProcess, Hyperparameters
from pesky.model.hyper import padded_gram
from pesky.model.kernel import Kernel


def hyperparameters(
    rows: int, d: int, lengthscale: float = 0.3, amplitude: float = 1.0, noise: float = 1e-2, mean: float = 0.0
) -> Hyperparameters:
    """Every row a little different, so that no row can stand in for another."""
    step = torch.linspace(1.0, 1.2, rows)
    tilt = torch.linspace(1.0, 1.3, d)
    return Hyperparameters(
        lengthscale * step[:, None] * tilt, amplitude * step, noise * step, mean + 0.1 * torch.arange(rows)
    )


def make_belief(
    rows: int = 2,
    n: int = 6,
    d: int = 2,
    seed: int = 0,
    kernel: Kernel = "se",
    mask: Tensor | None = None,
    offsets: tuple[float, ...] = (),
    **given: float,
) -> GaussianProcess:
    """A belief on n points per row; `offsets` are added to the constraints' data and means."""
    g = torch.Generator().manual_seed(seed)
    h = hyperparameters(rows, d, **given)
    X = torch.rand(n, d, generator=g).expand(rows, n, d).contiguous()
    mask = torch.ones(rows, n, dtype=torch.bool) if mask is None else mask
    gram = padded_gram(kernel, X, torch.ones_like(mask), h)
    y = h.mean[:, None] + (torch.linalg.cholesky(gram) @ torch.randn(rows, n, 1, generator=g))[..., 0]
    shift = torch.zeros(rows)
    shift[1 : 1 + len(offsets)] = torch.tensor(offsets)
    y = torch.where(mask, y + shift[:, None], 0.0)
    return GaussianProcess(kernel, torch.where(mask[..., None], X, 0.0), y, mask, h._replace(mean=h.mean + shift))


def difference_quotient(function, x: Tensor, step: float = 1e-5) -> Tensor:
    """Central differences of a function (n, d) -> (n, ...) that treats each point by itself: (n, ..., d)."""
    columns = []
    for i in range(x.shape[-1]):
        move = torch.zeros(x.shape[-1])
        move[i] = step
        columns.append((function(x + move) - function(x - move)) / (2 * step))
    return torch.stack(columns, -1)
