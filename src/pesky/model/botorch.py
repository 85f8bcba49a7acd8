"""A user's own fitted BoTorch model as a belief."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from botorch.models import ModelListGP
from botorch.models.gpytorch import BatchedMultiOutputGPyTorchModel
from botorch.models.model import Model
from botorch.sampling.pathwise import draw_matheron_paths
from jaxtyping import Float, Int
from torch import Tensor

from pesky.errors import DataError
from pesky.model.belief import Seen, View, distinct

Bounds = tuple[float | None, float | None]


class Row(NamedTuple):
    """Row value = sign * outcome - offset, of one outcome of the model."""

    outcome: int
    sign: float
    offset: float


@dataclass(frozen=True)
class BotorchBelief:
    """The posterior of a `ModelListGP`, row 0 to be minimized and the others feasible at zero and above.

    Points of the unit cube are stretched to `lower .. upper`, where the model lives.
    """

    models: tuple[Model, ...]
    rows: tuple[Row, ...]
    lower: Float[Tensor, " d"]
    upper: Float[Tensor, " d"]

    @classmethod
    def of(
        cls,
        model: Model,
        objective: int,
        maximize: bool,
        constraints: Mapping[int, Bounds],
        bounds: Float[Tensor, "2 d"] | None = None,
    ) -> BotorchBelief:
        """The belief of a model whose outcomes are to be minimized (or maximized) and kept within bounds."""
        if not isinstance(model, ModelListGP):
            if not isinstance(model, BatchedMultiOutputGPyTorchModel):
                raise DataError(
                    f"the model is a {type(model).__name__}; expected a ModelListGP or SingleTaskGP: one "
                    "independent Gaussian process per outcome."
                )
            model = ModelListGP(*(model.subset_output([i]) for i in range(model.num_outputs)))
        models = tuple(model.models)
        sign = -1.0 if maximize else 1.0
        rows = [Row(objective, sign, 0.0)]
        for outcome, (low, high) in constraints.items():
            rows += [Row(outcome, 1.0, low)] if low is not None else []
            rows += [Row(outcome, -1.0, -high)] if high is not None else []
        for row in rows:
            if not 0 <= row.outcome < len(models):
                raise DataError(f"outcome {row.outcome} was named; the model has outcomes 0 to {len(models) - 1}.")
        inputs = _inputs(models[0])
        if bounds is None:
            bounds = torch.stack([torch.zeros_like(inputs[0]), torch.ones_like(inputs[0])])
        model.eval()
        return cls(models, tuple(rows), bounds[0], bounds[1])

    @property
    def outcome_of_row(self) -> list[int]:
        return [row.outcome for row in self.rows]

    def _raw(self, X: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        return self.lower + (self.upper - self.lower) * X

    @cached_property
    def points(self) -> Float[Tensor, "n d"]:
        inputs = torch.cat([_inputs(self.models[row.outcome]) for row in self.rows])
        return distinct((inputs - self.lower) / (self.upper - self.lower))

    @cached_property
    def amplitude(self) -> Float[Tensor, " j"]:
        return torch.stack([_amplitude(self.models[row.outcome]) for row in self.rows])

    @cached_property
    def lengthscale(self) -> Float[Tensor, "j d"]:
        width = self.upper - self.lower
        return torch.stack([_lengthscale(self.models[row.outcome], self.lower) / width for row in self.rows])

    @cached_property
    def noise(self) -> Float[Tensor, " j"]:
        with torch.no_grad():
            middle = self._raw(torch.full_like(self.lower, 0.5))[None]
            noisy = [
                self.models[row.outcome].posterior(middle, observation_noise=True).variance
                - self.models[row.outcome].posterior(middle).variance
                for row in self.rows
            ]
        return torch.stack([value.reshape(()) for value in noisy]).clamp(min=0.0)

    def mean(self, X: Float[Tensor, "x d"]) -> Float[Tensor, "j x"]:
        raw = self._raw(X)
        return torch.stack([r.sign * self.models[r.outcome].posterior(raw).mean[..., 0] - r.offset for r in self.rows])

    def variance(self, X: Float[Tensor, "x d"]) -> Float[Tensor, "j x"]:
        raw = self._raw(X)
        floor = 1e-10 * self.amplitude[:, None]
        variances = [self.models[r.outcome].posterior(raw[:, None]).variance[..., 0, 0] for r in self.rows]
        return torch.maximum(torch.stack(variances), floor)

    def covariance(self, X: Float[Tensor, "x d"], Z: Float[Tensor, "z d"]) -> Float[Tensor, "j x z"]:
        n, both = X.shape[0], self._raw(torch.cat([X, Z]))
        blocks = [self.models[r.outcome].posterior(both).distribution.covariance_matrix for r in self.rows]
        return torch.stack([block[:n, n:] for block in blocks])

    def view(self, P: Float[Tensor, "p d"]) -> View:
        def look(X: Float[Tensor, "x d"]) -> Seen:
            return Seen(self.mean(X), self.variance(X), self.covariance(P, X))

        return look

    def paths(self, count: int, generator: torch.Generator) -> BotorchPaths:
        seed = int(torch.randint(2**31, (1,), generator=generator))
        with torch.random.fork_rng(), torch.no_grad():
            torch.manual_seed(seed)
            drawn = [draw_matheron_paths(self.models[r.outcome], torch.Size([count])) for r in self.rows]
        return BotorchPaths(self, tuple(drawn), count, torch.arange(count, device=self.lower.device))


@dataclass(frozen=True)
class BotorchPaths:
    """Some of `count` pathwise draws of every row."""

    belief: BotorchBelief
    drawn: tuple[torch.nn.Module, ...]
    count: int
    index: Int[Tensor, " m"]

    def values(self, X: Float[Tensor, "x d"]) -> Float[Tensor, "j m x"]:
        raw = self.belief._raw(X)
        with torch.no_grad():
            rows = [r.sign * path(raw) - r.offset for r, path in zip(self.belief.rows, self.drawn, strict=True)]
        return torch.stack(rows)[:, self.index]

    def at(self, X: Float[Tensor, "m d"]) -> tuple[Float[Tensor, "j m"], Float[Tensor, "j m d"]]:
        X = X.detach().requires_grad_()
        placed = torch.zeros(self.count, 1, X.shape[-1], dtype=X.dtype, device=X.device)
        raw = self.belief._raw(placed.index_put((self.index, torch.zeros_like(self.index)), X))
        values, gradients = [], []
        for row, path in zip(self.belief.rows, self.drawn, strict=True):
            value = (row.sign * path(raw)[:, 0] - row.offset)[self.index]
            gradients.append(torch.autograd.grad(value.sum(), X, retain_graph=True)[0])
            values.append(value.detach())
        return torch.stack(values), torch.stack(gradients)

    def select(self, index: Int[Tensor, " r"]) -> BotorchPaths:
        return BotorchPaths(self.belief, self.drawn, self.count, self.index[index])


def _inputs(model: Model) -> Float[Tensor, "n d"]:
    """The inputs the model was given, before any input transform."""
    original = getattr(model, "_original_train_inputs", None)
    inputs = model.train_inputs[0] if original is None or model.training else original
    if inputs.dim() != 2:
        raise DataError(
            f"a model of the list has inputs of shape {tuple(inputs.shape)}; expected n x d: one fitted model "
            "per outcome, not a batch or an ensemble."
        )
    return inputs.detach()


def _amplitude(model: Model) -> Float[Tensor, ""]:
    """Prior variance of the outcome in its own units."""
    with torch.no_grad():
        diagonal = model.covar_module(model.train_inputs[0][:1], diag=True).reshape(-1)[0]
        transform = getattr(model, "outcome_transform", None)
        stdvs = getattr(transform, "stdvs", None)
        return diagonal if stdvs is None else diagonal * stdvs.reshape(-1)[0].square()


def _lengthscale(model: Model, like: Float[Tensor, " d"]) -> Float[Tensor, " d"]:
    """The kernel's lengthscales in the units of the inputs; a quarter of the range where it has none."""
    found = [m.lengthscale for m in model.covar_module.modules() if getattr(m, "has_lengthscale", False)]
    if not found:
        return torch.full_like(like, 0.25)
    lengthscale = found[0].detach().reshape(-1).expand_as(like)
    coefficient = getattr(getattr(model, "input_transform", None), "coefficient", None)
    return lengthscale if coefficient is None else lengthscale * coefficient.reshape(-1)
