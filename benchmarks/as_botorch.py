"""Our Gaussian process beliefs as BoTorch models: the same posterior, for BoTorch's own rules."""

from botorch.models import ModelListGP, SingleTaskGP
from gpytorch.constraints import Positive
from gpytorch.kernels import MaternKernel, RBFKernel, ScaleKernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.means import ConstantMean
from torch import Tensor

from pesky.model import GaussianProcess


def as_botorch(belief: GaussianProcess) -> ModelListGP:
    """One `SingleTaskGP` per row, with exactly the belief's data and hyperparameters.

    In the belief's units: row 0 is minimized, every other row is feasible when >= 0.
    """
    samples = belief.amplitude.shape[:-1].numel()
    if samples != 1:
        raise ValueError(f"the belief has {samples} hyperparameter samples: BoTorch's rules need one")
    d = belief.X.shape[-1]
    lengthscale = belief.lengthscale.reshape(-1, d)
    amplitude, noise, mean = (t.reshape(-1) for t in (belief.amplitude, belief.noise, belief.prior_mean))
    return ModelListGP(
        *(
            single_row(
                belief.X[j][mask],
                belief.y[j][mask],
                belief.kernel,
                lengthscale[j],
                amplitude[j],
                noise[j],
                mean[j],
            )
            for j, mask in enumerate(belief.mask)
        )
    ).eval()


def single_row(
    X: Tensor, y: Tensor, kernel: str, lengthscale: Tensor, amplitude: Tensor, noise: Tensor, mean: Tensor
) -> SingleTaskGP:
    """The GP of one row."""
    # Positive, not BoTorch's floor of 1e-4: noise-free rows have a noise far below it.
    likelihood = GaussianLikelihood(noise_constraint=Positive())
    d = X.shape[-1]
    base = RBFKernel(ard_num_dims=d) if kernel == "se" else MaternKernel(nu=2.5, ard_num_dims=d)
    model = SingleTaskGP(
        X,
        y.unsqueeze(-1),
        likelihood=likelihood,
        mean_module=ConstantMean(),
        covar_module=ScaleKernel(base),
        outcome_transform=None,
    ).to(X)
    likelihood.noise = noise
    base.lengthscale = lengthscale
    model.covar_module.outputscale = amplitude
    model.mean_module.initialize(constant=mean)
    return model.requires_grad_(False)
