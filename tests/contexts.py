"""Contexts for rules: a belief, and all else that a rule may look at."""

from dataclasses import replace

import torch
from small_beliefs import make_belief
from torch import Tensor

from pesky.acquire import Context
from pesky.data.pending import Pending
from pesky.model import GaussianProcess
from pesky.model.belief import Belief
from pesky.problem import Real
from pesky.space import Space


def context(belief: Belief, pending: Pending | None = None, seed: int = 3, confidence: float = 0.95) -> Context:
    space = Space({f"x{i}": Real(0.0, 1.0) for i in range(belief.points.shape[-1])})
    conditions = belief.likelihoods.conditions
    level = torch.full((belief.amplitude.shape[-1] - 1 if conditions is None else len(conditions.row),), confidence)
    return Context(belief, space, level, torch.Generator().manual_seed(seed), pending)


def points(n: int = 20, d: int = 2, seed: int = 8) -> Tensor:
    return torch.rand(n, d, generator=torch.Generator().manual_seed(seed))


def feasible(rows: int = 3, **given) -> GaussianProcess:
    return make_belief(rows=rows, n=8, seed=1, offsets=(2.0,) * (rows - 1), **given)


def infeasible(rows: int = 3, **given) -> GaussianProcess:
    return make_belief(rows=rows, n=8, seed=1, offsets=(-2.0,) * (rows - 1), **given)


def answer_noise(belief: Belief) -> Tensor:
    """Of each constraint, the variance that a yes or a no adds to its latent function."""
    return torch.tensor([float(kind == "probit") for kind in belief.likelihoods.kinds[1:]])


def samples_of(belief: GaussianProcess, count: int) -> GaussianProcess:
    """Hyperparameter samples that differ from each other."""
    scale = torch.linspace(0.8, 1.3, count)[:, None]
    h = belief.hyperparameters
    several = h._replace(
        lengthscale=h.lengthscale * scale[..., None], amplitude=h.amplitude * scale, noise=h.noise * scale,
        mean=h.mean.expand(count, -1),
    )  # fmt: skip
    return replace(belief, hyperparameters=several, y=belief.y.expand(count, *belief.y.shape))


def sample_of(several: GaussianProcess, i: int) -> GaussianProcess:
    """One of the hyperparameter samples."""
    h = several.hyperparameters
    return replace(several, hyperparameters=type(h)(*(t[i] for t in h)), y=several.y[i])
