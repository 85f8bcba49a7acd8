"""The paper's synthetic problems: objective and constraints drawn from Gaussian process priors (section 4.1).

As in Hennig & Schuler (2012): a function is drawn at 1000 points of a Halton sequence and is, elsewhere, the
posterior mean given that draw. So it is known exactly and is as smooth as the model believes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Float
from scipy.stats import qmc
from torch import Tensor

from pesky.problem import Constraint, Problem, Real
from pesky.test_functions.base import Benchmark
from pesky.test_functions.minimum import find_minimum

# Relative to the amplitude, on the covariance of the draw: 1000 points are many more than a smooth function
# has degrees of freedom, so without it the Cholesky factorization fails in one and two dimensions.
JITTER = 1e-8
CANDIDATES = 2**14


@dataclass(frozen=True)
class DrawnFunctions:
    """J functions drawn from one squared-exponential prior: sums of kernels around the points of the draw.

    The kernel is k(x, z) = amplitude exp(-|x - z|^2 / (2 lengthscale^2)). Leading dimensions w are draws of their own.
    """

    centers: Float[Tensor, "N d"]
    weights: Float[Tensor, "*w N J"]
    lengthscale: float
    amplitude: float

    def __call__(self, U: Float[Tensor, "*w n d"]) -> Float[Tensor, "*w n J"]:
        """The values of all functions at `U`."""
        return kernel(U, self.centers, self.lengthscale, self.amplitude) @ self.weights

    def gradient(self, u: Float[Tensor, " d"]) -> Float[Tensor, "J d"]:
        """The gradients of all functions at `u`: dk(u, z)/du = k(u, z) (z - u) / l^2."""
        k = kernel(u.unsqueeze(0), self.centers, self.lengthscale, self.amplitude).squeeze(0)
        slopes = k.unsqueeze(-1) * (self.centers - u) / self.lengthscale**2
        return self.weights.mT @ slopes


def kernel(
    X: Float[Tensor, "*w n d"], Z: Float[Tensor, "m d"], lengthscale: float, amplitude: float
) -> Float[Tensor, "*w n m"]:
    """The squared-exponential covariance between two sets of points."""
    # Differences, not |x|^2 + |z|^2 - 2 x.z, whose rounding the weights of a draw would amplify.
    square = torch.cdist(X / lengthscale, Z / lengthscale, compute_mode="donot_use_mm_for_euclid_dist") ** 2
    return amplitude * torch.exp(-0.5 * square)


def draw_functions(
    dim: int, count: int, generator: torch.Generator, lengthscale: float, amplitude: float, points: int
) -> DrawnFunctions:
    """`count` independent functions, each the posterior mean of a draw at `points` Halton points.

    With L L' = K there and e ~ N(0, I), the draw is L e and the weights of its mean are K^-1 L e = L'^-1 e.
    """
    centers, factor = _factorize(dim, lengthscale, amplitude, points)
    normal = torch.randn(points, count, generator=generator, dtype=torch.float64)
    weights = torch.linalg.solve_triangular(factor.mT, normal, upper=True)
    return DrawnFunctions(centers, weights, lengthscale, amplitude)


@lru_cache(maxsize=4)
def _factorize(
    dim: int, lengthscale: float, amplitude: float, points: int
) -> tuple[Float[Tensor, "N d"], Float[Tensor, "N N"]]:
    """The points of a draw, and the Cholesky factor of their covariance: the same for every draw."""
    centers = torch.as_tensor(qmc.Halton(dim, scramble=False).random(points), dtype=torch.float64)
    covariance = kernel(centers, centers, lengthscale, amplitude)
    covariance.diagonal().add_(JITTER * amplitude)
    return centers, torch.linalg.cholesky(covariance)


def gp_sample(
    dim: int,
    generator: torch.Generator,
    constraints: int = 1,
    lengthscale: float = 0.1,
    amplitude: float = 1.0,
    noise: float = 0.01,
    confidence: float = 0.95,
    points: int = 1000,
) -> Benchmark:
    """A random problem on [0, 1]^dim with known optimum and known hyperparameters; `noise` is a variance.

    Draws without a feasible point are drawn again.
    """
    names = ["f", *(f"c{k}" for k in range(1, constraints + 1))]
    apart = 0.5 * lengthscale
    while True:
        functions = draw_functions(dim, len(names), generator, lengthscale, amplitude, points)
        sobol = torch.as_tensor(qmc.Sobol(dim, scramble=False).random(CANDIDATES), dtype=torch.float64)
        U = torch.cat([sobol, functions.centers])
        rows = torch.cat([functions(chunk) for chunk in U.split(2048)])
        optimum = find_minimum(functions, U, rows, apart)
        if optimum is not None:
            break
    highest = find_minimum(negated_objective(functions), U, -rows[:, :1], apart)
    assert highest is not None  # without constraints every point is feasible
    hyperparameters = {
        "lengthscale": (lengthscale,) * dim,
        "amplitude": amplitude,
        "noise": noise,
        "mean": 0.0,
    }
    return Benchmark(
        problem=gp_problem(dim, names, noise, confidence),
        truth=functions,
        optimum=optimum,
        optimum_value=functions(optimum.unsqueeze(0))[0, 0].item(),
        worst_value=functions(highest.unsqueeze(0))[0, 0].item(),
        noise=noise**0.5,
        hyperparameters=dict.fromkeys(names, hyperparameters),
    )


def gp_problem(dim: int, names: Sequence[str], noise: float, confidence: float) -> Problem:
    """What a study of drawn functions is given: the first is minimized where the others are 0 or above."""
    return Problem(
        parameters={f"x{i + 1}": Real(0.0, 1.0) for i in range(dim)},
        minimize=names[0],
        constraints=[Constraint(name, ">=", 0.0, confidence) for name in names[1:]],
        noise=noise**0.5,
    )


def negated_objective(functions: DrawnFunctions) -> DrawnFunctions:
    """The negated objective alone, whose minimum is where the objective is highest."""
    return DrawnFunctions(functions.centers, -functions.weights[:, :1], functions.lengthscale, functions.amplitude)
