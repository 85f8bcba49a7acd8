"""A network that reads digits, trained, and timed: the two measurements of the study.

Environment variables make them larger: PESKY_MNIST (the full data set, see `images`), PESKY_ITERATIONS (of training,
200; the paper's 5000), PESKY_PREDICTIONS (timed of either network, 200; the paper's 1000) and PESKY_DEVICE ("cuda").
"""

import os
from collections.abc import Mapping
from typing import Any

import torch

from .images import VARIABLE, images
from .network import Network, Settings, trained
from .timing import prediction_times, reference

ITERATIONS, PREDICTIONS = 200, 200
VARIABLES = {
    "data": VARIABLE,
    "iterations": "PESKY_ITERATIONS",
    "predictions": "PESKY_PREDICTIONS",
    "device": "PESKY_DEVICE",
}


def train(params: Mapping[str, Any], seed: int | None = None) -> dict[str, float]:
    """The share of validation images that the trained network reads wrongly; 0.9 or so if its weights overflowed."""
    rng = _rng(seed)
    data = images(rng.device.type)
    network = trained(Settings.of(params), data, int(os.environ.get(VARIABLES["iterations"], ITERATIONS)), rng)
    return {"error": network.error(data.X_validation, data.y_validation)}


def profile(params: Mapping[str, Any], seed: int | None = None) -> dict[str, float]:
    """The prediction time of the network, which need not be trained, over that of the reference; and both in ms."""
    rng = _rng(seed)
    predictions = int(os.environ.get(VARIABLES["predictions"], PREDICTIONS))
    ours, theirs = prediction_times(Network(Settings.of(params), rng), reference(rng), predictions)
    return {"relative_time": ours / theirs, "ms": 1000 * ours, "reference_ms": 1000 * theirs}


def train_and_profile(params: Mapping[str, Any], seed: int | None = None) -> dict[str, float]:
    """Both at once."""
    return train(params, seed) | profile(params, seed)


def _rng(seed: int | None) -> torch.Generator:
    rng = torch.Generator(os.environ.get(VARIABLES["device"], "cpu"))
    rng.manual_seed(seed) if seed is not None else rng.seed()
    return rng
