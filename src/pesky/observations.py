"""Observations per row, as tensors; inside, always: minimize, c >= 0 is feasible, scaled.

Row 0 is the objective, every other one an outcome with constraints; each has points and values of its own. Values are
scaled to suit a Gaussian process of about unit amplitude: scaled = (direction * value - offset) / scale. A constraint's
offset is its threshold and nothing else, so that feasible stays exactly c >= 0; what else must hold of an outcome with
several constraints, and of a constrained objective, is in `conditions_of`. What is further than `FAR` from there
counts as that far, on its side: it is certainly feasible or certainly not. A known outcome has no data, and its unit is
that of its function's values all over the space.

A row may be warped besides, so that it is more like a Gaussian process: increasingly, and zero stays zero
(`numerics.warp`). `to_user` and `from_user` are the only way between scaled values and those of users.

The values of a yes/no row are +1 where the answer is the wanted one and -1 where it is not: signs of a latent function
that is feasible at zero and above. That function has no unit but its own: offset 0, scale 1, and `to_user` turns it
into the latent function of "yes".
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from pesky.errors import DataError
from pesky.likelihood import Conditions, Likelihoods
from pesky.likelihood.rounding import rounding
from pesky.likelihood.rows import GAUSSIAN, PROBIT
from pesky.numerics.warp import Warp, expectation
from pesky.problem import Constraint, Problem
from pesky.problem.outcome_values import checked_outcomes
from pesky.space import Space
from pesky.space.exact import Exact, exact_outcomes

FAR = 1e4
"""The largest scaled value. No model has an amplitude that reaches back from there, it is a hundred deviations away at
the least; from 1e6 on, expectation propagation gave gains that were no numbers."""
REMOTE = 1e3
"""Units by which one limit of an outcome is too far away to be the zero of its row, where another one is not."""
LARGEST = 1e30
"""The largest distance to a threshold that is a unit, of values that do not vary, and the largest noise in such units:
squares of more overflow, or leave nothing of a variance that is given in the outcome's own units."""


def evenly(mask: Bool[Tensor, "*w J N"], most: int) -> Int[Tensor, "*w J most"]:
    """So many of the data of each row, evenly chosen in their order, the last among them; all of a row with fewer."""
    counts = mask.sum(-1, keepdim=True)
    at = torch.arange(most, device=mask.device)
    spread = ((at + 1) * (counts / most) + 1e-9).floor().long() - 1
    return torch.where(counts > most, spread, at).clamp(max=mask.shape[-1] - 1)


@dataclass(frozen=True)
class Observations:
    """What was measured: J rows, padded with zeros to the N of the longest; `mask` is true where data are.

    `noise` is the given variance of a measurement in scaled units, NaN where it is to be inferred or there is none:
    in rows that are no numbers. `kinds` are the likelihoods of the rows. Leading dimensions w are studies in
    lockstep, see `stack`; and s are the same, or samples of hyperparameters with a warp of its own each.
    """

    X: Float[Tensor, "*w J N d"]
    y: Float[Tensor, "*s J N"]
    mask: Bool[Tensor, "*w J N"]
    noise: Float[Tensor, "*s J"]
    direction: Float[Tensor, "*w J"]
    offset: Float[Tensor, "*w J"]
    scale: Float[Tensor, "*w J"]
    kinds: tuple[str, ...]
    warp: Warp | None = None
    """Of scaled values; None: they stay as they are."""
    relative_noise: Float[Tensor, "*s J N"] | None = None
    """Noise variance of each datum as a multiple of its row's; None: all are alike."""
    range: Float[Tensor, "*w J 2"] | None = None
    """The least and the largest value of each row in the units of its outcome; None: all are without limits."""
    least_noise: Float[Tensor, "*s J"] | None = None
    """Variance that rounding leaves of each row whose noise is to be inferred; None: of none any."""

    @property
    def likelihoods(self) -> Likelihoods:
        """How the values of each row come from its latent function."""
        return Likelihoods(self.kinds)

    def select(self, rows: Bool[Tensor, " J"]) -> "Observations":
        """The observations of these rows."""
        return Observations(
            X=self.X[..., rows, :, :],
            y=self.y[..., rows, :],
            mask=self.mask[..., rows, :],
            noise=self.noise[..., rows],
            direction=self.direction[..., rows],
            offset=self.offset[..., rows],
            scale=self.scale[..., rows],
            kinds=self.likelihoods.select(rows).kinds,
            warp=None if self.warp is None else self.warp.select(rows),
            relative_noise=None if self.relative_noise is None else self.relative_noise[..., rows, :],
            range=None if self.range is None else self.range[..., rows, :],
            least_noise=None if self.least_noise is None else self.least_noise[..., rows],
        )

    def thinned(self, most: int) -> "Observations":
        """No more than so many values of each row, evenly chosen in the order in which they came, the last among them.

        The very same where there are no more.
        """
        if self.mask.shape[-1] <= most:
            return self
        return self.taken(evenly(self.mask, most))

    def taken(self, index: Int[Tensor, "*w J m"]) -> "Observations":
        """These values of each row, by their numbers; nothing where the number is negative."""
        there, index = index >= 0, index.clamp(min=0)

        def take(part: Tensor, missing: float = 0.0) -> Tensor:
            found = torch.gather(part, -1, index.expand(*part.shape[:-1], -1))
            return torch.where(there, found, missing)

        X = torch.gather(self.X, -2, index[..., None].expand(*index.shape, self.X.shape[-1]))
        noise = None if self.relative_noise is None else take(self.relative_noise, 1.0)
        mask = torch.gather(self.mask, -1, index) & there
        return replace(self, X=torch.where(there[..., None], X, 0.0), y=take(self.y), mask=mask, relative_noise=noise)

    def warped(self, warp: Warp, expected: Float[Tensor, "*w J N"] | None = None) -> "Observations":
        """The same observations on other scales; noise is carried over by the slope of the warp at each datum.

        `expected` are the values without their noise, as well as it is known; the slope is that at these.
        """
        assert self.warp is None
        at_data = warp.along_data().slope(self.y if expected is None else expected)
        at_reference = warp.slope(warp.reference)
        return replace(
            self,
            y=torch.where(self.mask, warp.along_data().apply(self.y).clamp(-FAR, FAR), 0.0),
            noise=self.noise * at_reference.square(),
            warp=warp,
            relative_noise=torch.where(self.mask, (at_data / at_reference[..., None]).square(), 1.0),
            least_noise=None if self.least_noise is None else self.least_noise * at_reference.square(),
        )

    def in_units_of(self, other: "Observations") -> "Observations":
        """The same observations, scaled and warped as the other ones: hyperparameters of one then suit both."""
        assert self.warp is None
        turned = self.direction * other.direction  # an outcome with limits on both sides may have its zero at the other
        ratio = (turned * self.scale / other.scale)[:, None]
        shift = ((turned * self.offset - other.offset) / other.scale)[:, None]
        scaled = replace(
            self,
            y=torch.where(self.mask, (self.y * ratio + shift).clamp(-FAR, FAR), 0.0),
            noise=(self.noise.sqrt() * ratio[:, 0]).clamp(max=LARGEST).square(),
            least_noise=None if self.least_noise is None else self.least_noise * ratio[:, 0].square(),
            direction=other.direction,
            offset=other.offset,
            scale=other.scale,
        )
        return scaled if other.warp is None else scaled.warped(other.warp)

    def to_user(self, row: int, values: Float[Tensor, "*#b"]) -> Float[Tensor, "*b"]:
        """Scaled values of a row, in its outcome's own units; quantiles of what is believed map to quantiles.

        Where samples of hyperparameters have warps of their own, they are the last dimension of the values. Of an
        outcome that is maximized or has an upper limit, the low ones map to the high ones. What would leave the
        declared range is at its end.
        """
        values = values if self.warp is None else self.warp.of_row(row).invert(values)
        values = self.direction[..., row] * (values * self.scale[..., row] + self.offset[..., row])
        return values if self.range is None else values.clamp(self.range[..., row, 0], self.range[..., row, 1])

    def deviations_to_user(self, variance: Float[Tensor, "*s J"]) -> Float[Tensor, "*s J"]:
        """The deviation of a measurement of each row in its outcome's own units, where that of scaled values is known.

        Where a row is warped, at the reference of the warp: the noise is constant in the outcome's own units.
        """
        deviation = variance.sqrt() if self.warp is None else variance.sqrt() / self.warp.slope(self.warp.reference)
        return deviation * self.scale

    def mean_to_user(self, row: int, mean: Float[Tensor, "*b"], variance: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        """Expected value in the outcome's own units, where the scaled value is normal with these moments."""
        if self.warp is None and self.range is None:
            return self.to_user(row, mean)
        return expectation(lambda values: self.to_user(row, values), mean, variance)

    def from_user(self, row: int, values: Float[Tensor, "*#b"]) -> Float[Tensor, "*b"]:
        """Values in the units of a row's outcome, scaled."""
        scaled = (self.direction[..., row] * values - self.offset[..., row]) / self.scale[..., row]
        scaled = scaled.clamp(-FAR, FAR)
        return scaled if self.warp is None else self.warp.of_row(row).apply(scaled).clamp(-FAR, FAR)

    def to(self, device: torch.device | str) -> "Observations":
        """The same on another device."""
        moved = {name: part.to(device) for name, part in vars(self).items() if isinstance(part, Tensor)}
        warp = None if self.warp is None else Warp(*(part.to(device) for part in self.warp))
        return replace(self, **moved, warp=warp)


def stack(studies: Sequence[Observations]) -> Observations:
    """The observations of several studies of the same rows as those of one belief, which keeps them apart."""
    most = max(o.X.shape[-2] for o in studies)

    def padded(part: Tensor, dim: int) -> Tensor:
        shape = list(part.shape)
        shape[dim] = most - shape[dim]
        return torch.cat([part, part.new_zeros(shape)], dim)

    noise, direction, offset, scale = (
        torch.stack([getattr(o, name) for o in studies]) for name in ("noise", "direction", "offset", "scale")
    )
    X, y, mask = (torch.stack([padded(getattr(o, name), 1) for o in studies]) for name in ("X", "y", "mask"))
    return Observations(X, y, mask, noise, direction, offset, scale, studies[0].kinds)


def collect(
    problem: Problem,
    space: Space,
    measured: Sequence[tuple[Float[Tensor, " d"], Mapping[str, float]]],
    exact: Mapping[str, Exact] | None = None,
) -> Observations:
    """The observations of each row, from points with any subset of the outcomes each.

    Besides what users tell, a task whose failures are learnt has an outcome "<task> succeeds", 1 or 0. `exact` are the
    known outcomes, for those who have them at hand.
    """
    exact = exact_outcomes(problem, space) if exact is None else exact
    conditions = problem.conditions
    yes_no = {condition.outcome for condition in conditions if condition.is_yes_no}
    expected = tuple(dict.fromkeys((*problem.outcomes, *(name for name in problem.rows if name not in exact))))
    told = [(u, checked_outcomes(outcomes, expected, yes_no, exact)) for u, outcomes in measured]
    for u, _ in told:
        if u.shape != (space.dim,):
            raise DataError(f"a point had the shape {tuple(u.shape)}: expected ({space.dim},), as encode gives.")
    points = [[u for u, outcomes in told if name in outcomes] for name in problem.rows]
    values = [_vector([outcomes[name] for _, outcomes in told if name in outcomes]) for name in problem.rows]
    empty = torch.zeros(0, space.dim, dtype=torch.float64)
    return observe(problem, [torch.stack(us) if us else empty for us in points], values, exact)


def observe(
    problem: Problem,
    points: Sequence[Float[Tensor, "_ d"]],
    values: Sequence[Float[Tensor, " _"]],
    exact: Mapping[str, Exact],
) -> Observations:
    """The observations of rows with these points and values, the latter in the units of the outcomes."""
    seen = [exact[name].spread if name in exact else v for name, v in zip(problem.rows, values, strict=True)]
    constraints = [_lower_limit(problem, *row) for row in zip(problem.rows[1:], seen[1:], strict=True)]
    direction = [problem.sign, *(constraint.direction for constraint in constraints)]
    threshold = [None, *(constraint.threshold for constraint in constraints)]
    is_yes_no = [False, *(constraint.is_yes_no for constraint in constraints)]
    rows = [
        (sign * (2 * v - 1), 0.0, 1.0) if is_answer else _standardize(v, sign, limit)
        for v, sign, limit, is_answer in zip(values, direction, threshold, is_yes_no, strict=True)
    ]
    for j, name in enumerate(problem.rows):
        if name in exact:
            rows[j] = values[j], *_standardize(exact[name].spread, direction[j], threshold[j])[1:]
    scale = _vector([scale for _, _, scale in rows])
    noise = [problem.noise.get(name) for name in problem.rows]
    deviation = _vector([math.nan if given is None else given for given in noise])
    rounded = [rounding(own.tolist()) if given is None else 0.0 for own, given in zip(values, noise, strict=True)]
    return Observations(
        X=pad_sequence(list(points), batch_first=True),
        y=pad_sequence([y for y, _, _ in rows], batch_first=True),
        mask=pad_sequence([torch.ones(len(v), dtype=torch.bool) for v in values], batch_first=True),
        noise=(deviation / scale).clamp(max=LARGEST) ** 2,
        direction=_vector(direction),
        offset=_vector([offset for _, offset, _ in rows]),
        scale=scale,
        kinds=tuple(PROBIT.kind if is_answer else GAUSSIAN.kind for is_answer in is_yes_no),
        range=_range(problem),
        least_noise=(_vector(rounded) / scale).square() if any(rounded) else None,
    )


def conditions_of(problem: Problem, o: Observations, *, always: bool = False) -> Conditions | None:
    """What must hold of the rows; None where each row but the objective's must be zero or above, unless `always`.

    The rows are those of the observations, and the bounds those of the problem, which may have other thresholds than
    the observations were scaled by.
    """
    outcomes = [condition.outcome for condition in problem.conditions]
    if not always and outcomes == list(problem.rows[1:]):
        return None
    rows = [problem.rows.index(outcome) for outcome in outcomes]
    direction = o.direction.reshape(-1, o.direction.shape[-1])[0].tolist()
    bounds = [
        torch.zeros_like(o.scale[..., row])
        if condition.is_yes_no
        else o.from_user(row, torch.as_tensor(condition.threshold, dtype=o.scale.dtype, device=o.scale.device))
        for row, condition in zip(rows, problem.conditions, strict=True)
    ]
    sense = tuple(int(c.direction * direction[row]) for row, c in zip(rows, problem.conditions, strict=True))
    return Conditions(tuple(rows), sense, torch.stack(torch.broadcast_tensors(*bounds), -1), len(problem.rows))


def _lower_limit(problem: Problem, outcome: str, values: Float[Tensor, " n"]) -> Constraint:
    """The constraint whose threshold is the zero of a row: the tightest of those in the direction of the first.

    Unless that is so remote from the values, like -1e9 for none, that they would all be alike from there.
    """
    own = [condition for condition in problem.conditions if condition.outcome == outcome]
    sides = [[each for each in own if each.direction == side] for side in (own[0].direction, -own[0].direction)]
    first, *other = (max(side, key=lambda each: each.direction * each.threshold) for side in sides if side)
    if not other or not len(values):
        return first
    middle, spread = float(values.mean()), float(values.std(correction=0))
    away, from_other = (abs(middle - each.threshold) for each in (first, *other))
    return other[0] if away > REMOTE * max(spread, from_other) else first


def _standardize(
    values: Float[Tensor, " n"], direction: int, threshold: float | None
) -> tuple[Float[Tensor, " n"], float, float]:
    """The scaled values of a row, its offset and its scale; the objective has no threshold."""
    signed = direction * values
    if not len(signed):
        return signed, direction * (threshold or 0.0), 1.0
    # in units of the largest value, because squares overflow above 1e154 and vanish below 1e-162
    size = float(signed.abs().max()) or 1.0
    unit = signed / size
    offset = float(unit.mean()) * size if threshold is None else direction * threshold
    scale = float(unit.std(correction=0)) * size
    if threshold is not None:
        scale = scale or min(float((signed - offset).abs().max()), LARGEST)
    scale = scale or 1.0
    scaled = ((signed - offset) / scale).clamp(-FAR, FAR)
    # A division may round to zero what is just infeasible.
    scaled = torch.where((signed < offset) & (scaled >= 0), -torch.finfo(scaled.dtype).tiny, scaled)
    return scaled, offset, scale


def _range(problem: Problem) -> Float[Tensor, "J 2"] | None:
    """The declared range of each row, infinite where none is."""
    if not problem.ranges:
        return None
    declared = [problem.ranges.get(row) for row in problem.rows]
    low = [-math.inf if each is None or each.low is None else each.low for each in declared]
    high = [math.inf if each is None or each.high is None else each.high for each in declared]
    return torch.stack([_vector(low), _vector(high)], -1)


def _vector(numbers: Sequence[float]) -> Float[Tensor, " n"]:
    return torch.tensor(numbers, dtype=torch.float64)
