"""Brute-force gains: data sets, their hyperparameters and gains on a grid; and files of them in one dimension."""

import json
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class KnownRow:
    """The observations of one row, which may be none, and the zero-mean GP that it was drawn from."""

    X: Float[Tensor, "N d"]
    y: Float[Tensor, " N"]
    lengthscale: float
    amplitude: float
    noise: float


@dataclass(frozen=True)
class Dataset:
    """One data set: its rows, row 0 the objective, and what a measurement of each is worth."""

    name: str
    rows: tuple[KnownRow, ...]
    gains: Float[Tensor, "J n"]
    errors: Float[Tensor, "J n"] | None = None
    """Standard errors of the gains, where they are known."""
    points: Float[Tensor, "n d"] | None = None
    """Where the gains are given; None: on the grid of the oracle."""


@dataclass(frozen=True)
class Oracle:
    """Data sets and the grid, in the unit cube, on which their gains are given, in nats."""

    grid: Float[Tensor, "n d"]
    datasets: tuple[Dataset, ...]


def read_oracle(path: str | Path) -> Oracle:
    """The contents of a file of the format of `rs_oracle.json`, its domain mapped to the unit interval."""
    content = json.loads(Path(path).read_text())
    if content["kernel"] != "squared exponential":
        raise ValueError(f"{path}: the kernel is {content['kernel']!r}, expected 'squared exponential'")
    low, high = content["domain"]
    width = high - low

    def errors(given: dict) -> Float[Tensor, "J n"] | None:
        known = given.get("rs_se_per_task")
        return None if known is None else torch.tensor(known, dtype=torch.float64)

    def to_unit(x: list[float]) -> Float[Tensor, "n 1"]:
        return (torch.tensor(x, dtype=torch.float64).unsqueeze(-1) - low) / width

    datasets = tuple(
        Dataset(
            name=f"{given['seed']} (K={given['K']}{', decoupled' if given['decoupled'] else ''})",
            rows=tuple(
                KnownRow(
                    X=to_unit(row["x"]),
                    y=torch.tensor(row["y"], dtype=torch.float64),
                    lengthscale=row["ls"] / width,
                    amplitude=row["amp"],
                    noise=row["noise"],
                )
                for row in given["tasks"]
            ),
            gains=torch.tensor(given["rs_acq_per_task"], dtype=torch.float64),
            errors=errors(given),
        )
        for given in content["datasets"]
    )
    return Oracle(to_unit(content["grid"]), datasets)
