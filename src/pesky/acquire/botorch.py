"""Any rule as a BoTorch acquisition function."""

from collections.abc import Mapping

import torch
from botorch.acquisition.acquisition import AcquisitionFunction as BotorchAcquisitionFunction
from botorch.models.model import Model
from botorch.utils.transforms import t_batch_mode_transform
from jaxtyping import Bool, Float
from torch import Tensor

from pesky.acquire.base import AcquisitionFunction, Context, Rule
from pesky.acquire.pesc.rule import PredictiveEntropySearch
from pesky.acquire.registry import SEPARATE, rule_of
from pesky.data.pending import Pending
from pesky.errors import DataError
from pesky.model.belief import Belief
from pesky.model.botorch import BotorchBelief, check_bounds
from pesky.problem import Real
from pesky.space import Space

OUTSIDE = 1e-6
"""How far from the unit cube data may be and still be of it: a rounding error of whoever scaled them."""


class BotorchAcquisition(BotorchAcquisitionFunction):
    """What measuring at x is worth to a rule; all that does not depend on x is done at construction.

    >>> acquisition = BotorchAcquisition(model, "cmes", constraints={1: (None, 0.0)})  # outcome 1 is 0 at most
    >>> optimize_acqf(acquisition, bounds=unit_cube, q=1, num_restarts=5, raw_samples=256)
    """

    def __init__(
        self,
        model: Model | Belief,
        rule: str | Rule = "pesc",
        *,
        objective: int = 0,
        maximize: bool = False,
        constraints: Mapping[int, tuple[float | None, float | None]] | None = None,
        confidence: float = 0.95,
        bounds: Float[Tensor, "..."] | None = None,
        seed: int = 0,
        X_pending: Float[Tensor, "p d"] | None = None,
        X_pending_evaluation_mask: Bool[Tensor, "..."] | None = None,
        X_evaluation_mask: Bool[Tensor, "..."] | None = None,
    ) -> None:
        """Everything that does not depend on x is computed here.

        Args:
            model: A fitted BoTorch model (a `ModelListGP` for decoupled data), or a `Belief` on the unit cube.
            rule: Its name, or the rule itself with options of its own.
            objective: The outcome to minimize, or to maximize if `maximize`.
            maximize: Whether the objective is to be as large as possible.
            constraints: For each constrained outcome its bounds (lower, upper), None where there is none. For a
                `Belief`, whose rows say it all, leave this, `objective` and `maximize` out.
            confidence: The probability with which each constraint must hold at an incumbent.
            bounds: Lower and upper bounds of the inputs; the unit cube if not given.
            seed: The same seed gives the same samples.
            X_pending: Points being measured.
            X_pending_evaluation_mask: Which outcomes are being measured at each of them (all).
            X_evaluation_mask: The outcomes to be measured at the new point (all); `1 x m` as in BoTorch's decoupled
                acquisition functions. Rules that value only all outcomes together refuse anything else.
        """
        super().__init__(model=model)  # pyright: ignore[reportArgumentType]
        if isinstance(model, Model):
            belief = BotorchBelief.of(model, objective, maximize, constraints or {}, bounds)
            self.belief: Belief = belief
            self.outcome_of_row = belief.outcome_of_row
            self.num_outputs = model.num_outputs
        else:
            self.belief = model
            self.num_outputs = model.amplitude.shape[-1]
            self.outcome_of_row = list(range(self.num_outputs))
        points = self.belief.points
        if bounds is None and bool(((points < -OUTSIDE) | (points > 1 + OUTSIDE)).any()):
            low, high = (f"{float(end):.3g}" for end in (points.min(), points.max()))
            raise DataError(
                f"the model has data from {low} to {high}, outside the unit cube, and no bounds were given: give "
                "bounds=, a 2 x d tensor of the lower and the upper bounds of the inputs."
            )
        if bounds is not None:
            check_bounds(bounds, points.shape[-1])
        self.lower, self.upper = (torch.zeros_like(points[0]), torch.ones_like(points[0])) if bounds is None else bounds
        self.rule, self.seed = rule_of(rule), seed
        dim, rows = points.shape[-1], self.belief.amplitude.shape[-1]
        conditions = self.belief.likelihoods.conditions
        count = rows - 1 if conditions is None else len(conditions.row)
        self.rule.check(dim, count)
        self.space = Space({f"x{i}": Real(0.0, 1.0) for i in range(dim)})
        self.confidence = torch.full((count,), confidence, dtype=points.dtype, device=points.device)
        self.X_evaluation_mask = self._checked(X_evaluation_mask, "X_evaluation_mask", 1)
        if self.X_evaluation_mask is not None and self.rule.measures == "together":
            needed = sorted(set(self.outcome_of_row))
            if not bool(self.X_evaluation_mask[0, needed].all()):
                raise DataError(
                    f"X_evaluation_mask was {self.X_evaluation_mask.tolist()}: the rule {self.rule.name!r} values only "
                    f"all outcomes measured together. Leave the mask out, or use one of {SEPARATE}."
                )
        self.set_X_pending(X_pending, X_pending_evaluation_mask)

    def set_X_pending(self, X_pending: Tensor | None = None, X_pending_evaluation_mask: Tensor | None = None) -> None:
        """Tell which points are being measured, and which outcomes at each; everything is computed anew."""
        pending = None
        self.X_pending = None
        if X_pending is not None and X_pending.shape[0] > 0:
            self.X_pending = X_pending.detach().clone()
            mask = self._checked(X_pending_evaluation_mask, "X_pending_evaluation_mask", X_pending.shape[0])
            if mask is None:
                mask = torch.ones(X_pending.shape[0], self.num_outputs, dtype=torch.bool, device=X_pending.device)
            pending = Pending(self._unit(self.X_pending), mask[:, self.outcome_of_row])
        asked = len(self.belief.points) + (0 if pending is None else len(pending.X))
        generator = torch.Generator().manual_seed(self.seed)
        self.acquisition: AcquisitionFunction = self.rule.acquisition(
            Context(self.belief, self.space, self.confidence, generator, pending, asked, self.seed)
        )

    def gains(self, X: Float[Tensor, "*b d"]) -> Float[Tensor, "*b m"]:
        """What measuring each outcome at each point is worth, one column per outcome of the model."""
        if self.rule.measures == "together":
            raise DataError(
                f"the rule {self.rule.name!r} values only all outcomes measured together, none by itself: "
                f"call the acquisition, or use one of {SEPARATE}."
            )
        rows = self.acquisition(self._unit(X.reshape(-1, X.shape[-1])))
        return (rows @ self._shares().to(rows)).view(*X.shape[:-1], self.num_outputs)

    @t_batch_mode_transform(expected_q=1)  # pyright: ignore[reportArgumentType]
    def forward(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, X: Float[Tensor, "*b 1 d"]
    ) -> Float[Tensor, "*b"]:
        """What measuring the outcomes of `X_evaluation_mask` (all) at each point is worth."""
        X = X[..., 0, :]
        if self.rule.measures == "together":
            return self.acquisition(self._unit(X.reshape(-1, X.shape[-1])))[:, 0].view(X.shape[:-1])
        gains = self.gains(X)
        if self.X_evaluation_mask is None:
            return gains.sum(-1)
        return (gains * self.X_evaluation_mask[0].to(gains)).sum(-1)

    def _shares(self) -> Float[Tensor, "j m"]:
        """Row to outcome."""
        shares = torch.zeros(len(self.outcome_of_row), self.num_outputs, dtype=torch.float64)
        for row, outcome in enumerate(self.outcome_of_row):
            shares[row, outcome] = 1.0
        return shares

    def _unit(self, X: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        return (X - self.lower) / (self.upper - self.lower)

    def _checked(self, mask: Tensor | None, name: str, rows: int) -> Tensor | None:
        if mask is not None and mask.shape != (rows, self.num_outputs):
            raise DataError(
                f"{name} has shape {tuple(mask.shape)}; expected ({rows}, {self.num_outputs}): "
                "one row per point and one column per outcome of the model."
            )
        return mask


class PESC(BotorchAcquisition):
    """Predictive entropy search with constraints (Hernandez-Lobato et al., ICML 2015).

    The value is the expected information, in nats, that measuring the chosen outcomes at x gives about the location
    of the constrained minimizer.

    >>> acquisition = PESC(model, constraints={1: (None, 0.0)})          # minimize outcome 0, outcome 1 <= 0
    >>> optimize_acqf(acquisition, bounds=unit_cube, q=1, num_restarts=5, raw_samples=256)
    """

    def __init__(
        self,
        model: Model | Belief,
        *,
        rule: Rule = PredictiveEntropySearch(),  # noqa: B008
        objective: int = 0,
        maximize: bool = False,
        constraints: Mapping[int, tuple[float | None, float | None]] | None = None,
        confidence: float = 0.95,
        bounds: Float[Tensor, "..."] | None = None,
        seed: int = 0,
        X_pending: Float[Tensor, "p d"] | None = None,
        X_pending_evaluation_mask: Bool[Tensor, "..."] | None = None,
        X_evaluation_mask: Bool[Tensor, "..."] | None = None,
    ) -> None:
        """Everything that does not depend on x is computed here.

        Args:
            model: A fitted BoTorch model (a `ModelListGP` for decoupled data), or a `Belief` on the unit cube.
            rule: `PredictiveEntropySearch()`, with options of your own, or `EntropySearchByEP.paper()`. After 3, 8, 15
                .. points without noise the default looks coarsely, and so is this; with `coarse=None` it never does.
            objective: The outcome to minimize, or to maximize if `maximize`.
            maximize: Whether the objective is to be as large as possible.
            constraints: For each constrained outcome its bounds (lower, upper), None where there is none. For a
                `Belief`, whose rows say it all, leave this, `objective` and `maximize` out.
            confidence: The probability with which each constraint must hold at an incumbent.
            bounds: Lower and upper bounds of the inputs, 2 x d; the unit cube if not given.
            seed: The same seed gives the same samples.
            X_pending: Points being measured.
            X_pending_evaluation_mask: Which outcomes are being measured at each of them (all).
            X_evaluation_mask: The outcomes to be measured at the new point (all); `1 x m` as in BoTorch's decoupled
                acquisition functions.
        """
        super().__init__(
            model,
            rule,
            objective=objective,
            maximize=maximize,
            constraints=constraints,
            confidence=confidence,
            bounds=bounds,
            seed=seed,
            X_pending=X_pending,
            X_pending_evaluation_mask=X_pending_evaluation_mask,
            X_evaluation_mask=X_evaluation_mask,
        )
