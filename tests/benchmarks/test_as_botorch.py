import pytest
import torch

from benchmarks.as_botorch import as_botorch
from pesky.model import GaussianProcess, Hyperparameters


def belief_with(kernel, noise: float, samples: int = 1) -> GaussianProcess:
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(2, 7, 3, generator=generator)
    mask = torch.ones(2, 7, dtype=torch.bool)
    mask[1, 4:] = False  # decoupled: the second row has fewer observations
    y = torch.randn(2, 7, generator=generator) * mask
    hyperparameters = Hyperparameters(
        lengthscale=torch.tensor([[0.3, 0.5, 0.9], [0.7, 0.2, 0.4]]).expand(samples, 2, 3),
        amplitude=torch.tensor([1.5, 0.4]).expand(samples, 2),
        noise=torch.tensor([noise, 2 * noise]).expand(samples, 2),
        mean=torch.tensor([0.2, -1.0]).expand(samples, 2),
    )
    return GaussianProcess(kernel, X, y, mask, hyperparameters)


@pytest.mark.parametrize("kernel", ["se", "matern52"])
@pytest.mark.parametrize("noise", [1e-2, 1e-10])
def test_posterior_is_ours(kernel, noise):
    belief = belief_with(kernel, noise)
    X = torch.rand(20, 3, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        posterior = as_botorch(belief).posterior(X)
    assert torch.allclose(posterior.mean.mT, belief.mean(X[None])[0], atol=1e-8)
    assert torch.allclose(posterior.variance.mT, belief.variance(X[None])[0], atol=1e-8)


def test_refuses_several_hyperparameter_samples():
    with pytest.raises(ValueError, match="2 hyperparameter samples"):
        as_botorch(belief_with("se", 1e-2, samples=2))
