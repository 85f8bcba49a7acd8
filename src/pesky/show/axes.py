"""A parameter as an axis: where its values are along it, and which values to look at."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from pesky.problem import Choice, Integer, Option, Parameter
from pesky.show.labels import label, value
from pesky.space import columns

SEPARATE = 24
"""Whole numbers up to this many are drawn each by itself."""


def is_separate(parameter: Parameter) -> bool:
    """Whether its values are few and drawn each by itself, without a line between them."""
    return isinstance(parameter, Choice) or (isinstance(parameter, Integer) and columns.size(parameter) <= SEPARATE)


def coordinate(parameter: Parameter, given: Option) -> float | None:
    """Where a value is along the axis: itself, or the number of an option; None of an option that there is not."""
    if isinstance(parameter, Choice):
        return float(parameter.options.index(given)) if given in parameter.options else None
    return float(given) if not isinstance(given, str) and (not parameter.log or given > 0) else None


def grid(parameter: Parameter, most: int) -> Float[Tensor, "n w"]:
    """Columns of the unit cube along the parameter: all of its values, or as many evenly over them."""
    if isinstance(parameter, Choice) or (isinstance(parameter, Integer) and columns.size(parameter) <= most):
        return columns.lattice(parameter)
    line = torch.linspace(0, 1, most, dtype=torch.float64)[:, None]
    return torch.unique(columns.snap(parameter, line), dim=0)


def coordinates(parameter: Parameter, U: Float[Tensor, "n w"]) -> np.ndarray:
    """Where these columns are along the axis."""
    found = [coordinate(parameter, each) for each in columns.from_units(parameter, U).tolist()]
    return np.array(found, dtype=float)


OPTION = 12
"""Characters of an option; plotly turns those that have no room beside each other."""


def axis(name: str, parameter: Parameter) -> dict[str, Any]:
    """Plotly's axis of the parameter, with its bounds, its scale and its options."""
    if isinstance(parameter, Choice):
        places, texts = list(range(len(parameter.options))), [value(each, OPTION) for each in parameter.options]
        return {
            "title": {"text": label(name)},
            "type": "linear",
            "tickmode": "array",
            "tickfont": {"size": 11},
            "tickvals": places,
            "ticktext": texts,
            "range": [-0.5, len(places) - 0.5],
        }
    low, high = float(parameter.low), float(parameter.high)
    if is_separate(parameter) and not parameter.log:
        half = getattr(parameter, "step", 1) / 2
        low, high = low - half, high + half
    ends = [float(np.log10(low)), float(np.log10(high))] if parameter.log else [low, high]
    found: dict[str, Any] = {"title": {"text": label(name)}, "type": "log" if parameter.log else "linear"}
    found["range"] = ends
    # 1e-5, 1e-4 ..; digits in between would run into each other in a small panel, and plotly writes powers larger
    return {**found, "dtick": max(1, round((ends[1] - ends[0]) / 4)), "exponentformat": "e"} if parameter.log else found
