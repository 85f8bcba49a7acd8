"""A user's own fitted BoTorch model as a belief."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import torch
from botorch.models import ModelListGP
from botorch.models.gpytorch import BatchedMultiOutputGPyTorchModel
from botorch.models.model import Model
from botorch.sampling.pathwise import draw_matheron_paths
from jaxtyping import Float, Int
from torch import Tensor

from pesky.errors import DataError
from pesky.likelihood import Conditions, Likelihoods
from pesky.likelihood.gaussian import GaussianLikelihood
from pesky.model.belief import Evaluator, PosteriorMoments, distinct
from pesky.numerics.rng import Source, draw_seed

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

    models: tuple[Any, ...]
    """One single-outcome model per row; `Any`, because what BoTorch's models have is not in their types."""
    rows: tuple[Row, ...]
    lower: Float[Tensor, " d"]
    upper: Float[Tensor, " d"]
    points: Float[Tensor, "n d"]
    amplitude: Float[Tensor, " j"]
    lengthscale: Float[Tensor, "j d"]
    noise: Float[Tensor, " j"]
    snap: Callable[[Tensor], Tensor] | None = None
    """Rounds points of the cube to what can be measured."""
    conditions: Conditions | None = None
    """What must hold, where it is more than that every row but the first is zero or above."""

    @classmethod
    def of(
        cls,
        model: Model,
        objective: int,
        maximize: bool,
        constraints: Mapping[int, Bounds],
        bounds: Float[Tensor, ...] | None = None,
        snap: Callable[[Tensor], Tensor] | None = None,
    ) -> BotorchBelief:
        """The belief of a model whose outcomes are to be minimized (or maximized) and kept within bounds.

        `bounds` are those of the inputs, lower and upper; the unit cube if not given.
        """
        if not isinstance(model, ModelListGP):
            if not isinstance(model, BatchedMultiOutputGPyTorchModel):
                raise DataError(
                    f"the model is a {type(model).__name__}; expected a ModelListGP or SingleTaskGP: one "
                    "independent Gaussian process per outcome."
                )
            model = ModelListGP(*(model.subset_output([i]) for i in range(model.num_outputs)))
        model.eval()
        outcomes: list[Any] = list(model.models)
        rows = [Row(objective, -1.0 if maximize else 1.0, 0.0)]
        for outcome, (low, high) in checked_constraints(constraints).items():
            if low is not None and high is not None and low > high:
                raise DataError(f"outcome {outcome} is to be at least {low} and at most {high}: nothing can be both.")
            if outcome != objective and low is not None:
                rows.append(Row(outcome, 1.0, low))
            elif outcome != objective and high is not None:
                rows.append(Row(outcome, -1.0, -high))
        for row in rows:
            if not 0 <= row.outcome < len(outcomes):
                raise DataError(f"outcome {row.outcome} was named; the model has outcomes 0 to {len(outcomes) - 1}.")
        models = tuple(outcomes[row.outcome] for row in rows)
        inputs = [_inputs(m) for m in models]
        if bounds is None:
            bounds = torch.stack([torch.zeros_like(inputs[0][0]), torch.ones_like(inputs[0][0])])
        check_bounds(bounds, inputs[0].shape[-1])
        lower, upper = bounds.to(inputs[0])
        return cls(
            models,
            tuple(rows),
            lower,
            upper,
            points=distinct((torch.cat(inputs) - lower) / (upper - lower)),
            amplitude=torch.stack([_amplitude(m) for m in models]),
            lengthscale=torch.stack([_lengthscale(m, lower, upper) for m in models]),
            noise=torch.stack([_noise(m, (lower + upper) / 2) for m in models]),
            snap=snap,
            conditions=_conditions(rows, constraints, lower),
        )

    @property
    def likelihoods(self) -> Likelihoods:
        return self._likelihoods

    @cached_property
    def _likelihoods(self) -> Likelihoods:
        return Likelihoods((GaussianLikelihood.kind,) * len(self.rows), self.conditions)

    @property
    def outcome_of_row(self) -> list[int]:
        return [row.outcome for row in self.rows]

    def _raw(self, X: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        return self.lower + (self.upper - self.lower) * (self.snap(X) if self.snap else X)

    def mean(self, X: Float[Tensor, "x d"]) -> Float[Tensor, "j x"]:
        raw = self._raw(X)
        means = [model.posterior(raw).mean[..., 0] for model in self.models]
        return torch.stack([r.sign * mean - r.offset for r, mean in zip(self.rows, means, strict=True)])

    def variance(self, X: Float[Tensor, "x d"]) -> Float[Tensor, "j x"]:
        raw = self._raw(X)
        floor = 1e-10 * self.amplitude[:, None]
        variances = [model.posterior(raw[:, None]).variance[..., 0, 0] for model in self.models]
        return torch.maximum(torch.stack(variances), floor)

    def covariance(self, X: Float[Tensor, "x d"], Z: Float[Tensor, "z d"]) -> Float[Tensor, "j x z"]:
        n, both = X.shape[0], self._raw(torch.cat([X, Z]))
        blocks = [model.posterior(both).distribution.covariance_matrix for model in self.models]
        return torch.stack([block[:n, n:] for block in blocks])

    def evaluator(self, P: Float[Tensor, "p d"]) -> Evaluator:
        def evaluate(X: Float[Tensor, "x d"]) -> PosteriorMoments:
            return PosteriorMoments(self.mean(X), self.variance(X), self.covariance(P, X))

        return evaluate

    def paths(self, count: int, source: Source) -> BotorchPaths:
        seed = draw_seed(source)
        assert isinstance(seed, int)  # a user's model is of one study
        with torch.random.fork_rng(), torch.no_grad():
            torch.manual_seed(seed)
            drawn = [draw_matheron_paths(model, torch.Size([count])) for model in self.models]
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


def check_bounds(bounds: object, dim: int) -> None:
    """Nothing, or a DataError if they are none of so many inputs."""
    is_tensor = isinstance(bounds, Tensor)
    if not is_tensor or bounds.shape != (2, dim) or not bool((bounds[0] < bounds[1]).all()):
        raise DataError(
            f"bounds were {bounds.tolist() if is_tensor else bounds!r}: expected a tensor of 2 x {dim} numbers, the "
            "lower bound of every input and then the upper ones, each above its lower one."
        )


def checked_constraints(constraints: object) -> dict[int, Bounds]:
    """The bounds by outcome; a DataError if they are not like {1: (None, 0.5)}."""
    expected = "the bounds of each constrained outcome, lower and upper, None where there is none: {1: (None, 0.5)}"
    if not isinstance(constraints, Mapping):
        raise DataError(f"constraints were {constraints!r}: expected {expected}.")
    found: dict[int, Bounds] = {}
    for outcome, given in constraints.items():
        try:
            low, high = (None if end is None else float(end) for end in given)
        except (TypeError, ValueError):
            low = high = math.nan
        if not all(end is None or math.isfinite(end) for end in (low, high)):
            raise DataError(f"constraints were {dict(constraints)!r}: expected {expected}.")
        found[outcome] = low, high
    return found


def _conditions(rows: list[Row], constraints: Mapping[int, Bounds], like: Tensor) -> Conditions | None:
    """The bounds of the outcomes as those of rows; None where each row but the first has the one at zero."""
    row_of = {row.outcome: i for i, row in enumerate(rows)}
    bounds = [
        (row_of[outcome], int(sense * rows[row_of[outcome]].sign), bound)
        for outcome, both in constraints.items()
        for sense, bound in zip((1, -1), both, strict=True)
        if bound is not None
    ]
    if [row for row, _, _ in bounds] == list(range(1, len(rows))):
        return None
    row, sense, bound = zip(*bounds, strict=True)
    scaled = [rows[i].sign * value - rows[i].offset for i, value in zip(row, bound, strict=True)]
    return Conditions(row, sense, torch.tensor(scaled, dtype=like.dtype, device=like.device), len(rows))


def _inputs(model: Any) -> Float[Tensor, "n d"]:
    """The inputs the model was given, before any input transform."""
    original = getattr(model, "_original_train_inputs", None)
    inputs = model.train_inputs[0] if original is None or model.training else original
    if inputs.dim() != 2:
        raise DataError(
            f"a model of the list has inputs of shape {tuple(inputs.shape)}; expected n x d: one fitted model "
            "per outcome, not a batch or an ensemble."
        )
    if inputs.dtype != torch.float64:
        raise DataError(
            f"a model has inputs of {inputs.dtype}; expected torch.float64, as BoTorch advises: fit it to "
            "train_X.double() and train_Y.double()."
        )
    return inputs.detach()


def _amplitude(model: Any) -> Float[Tensor, ""]:
    """Prior variance of the outcome in its own units."""
    with torch.no_grad():
        diagonal = model.covar_module(model.train_inputs[0][:1], diag=True).reshape(-1)[0]
        stdvs = getattr(getattr(model, "outcome_transform", None), "stdvs", None)
        return diagonal if stdvs is None else diagonal * stdvs.reshape(-1)[0].square()


def _lengthscale(model: Any, lower: Float[Tensor, " d"], upper: Float[Tensor, " d"]) -> Float[Tensor, " d"]:
    """The kernel's lengthscales in the unit cube; a quarter where it has none."""
    found = [m.lengthscale for m in model.covar_module.modules() if getattr(m, "has_lengthscale", False)]
    if not found:
        return torch.full_like(lower, 0.25)
    lengthscale = found[0].detach().reshape(-1).expand_as(lower)
    coefficient = getattr(getattr(model, "input_transform", None), "coefficient", None)
    raw = lengthscale if coefficient is None else lengthscale * coefficient.reshape(-1)
    return raw / (upper - lower)


def _noise(model: Any, x: Float[Tensor, " d"]) -> Float[Tensor, ""]:
    """Variance of the noise of one measurement at x."""
    with torch.no_grad():
        noisy = model.posterior(x[None], observation_noise=True).variance
        return (noisy - model.posterior(x[None]).variance).reshape(()).clamp(min=0.0)
