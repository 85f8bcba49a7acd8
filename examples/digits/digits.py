"""A network that reads digits, really trained: scikit-learn's MLP on its 1,797 images of 8 by 8 pixels.

Two thirds of the images train it, a third judges it; which is which, and the first weights, differ from call to call,
so that a measurement has noise, as all of machine learning has.
"""

import warnings
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

EPOCHS = 12
_chance = np.random.default_rng()


@cache
def images() -> tuple[np.ndarray, np.ndarray]:
    """Pixels between 0 and 1, and the digits."""
    X, y = (np.asarray(each) for each in load_digits(return_X_y=True))
    return X / 16.0, y


def train(params: dict[str, Any], seed: int | None = None) -> dict[str, float]:
    """The share of images that are read wrongly, of the worst digit's images too, and the size of the weights."""
    seed = int(_chance.integers(2**31)) if seed is None else seed
    X, y = images()
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=seed)
    network: Any = MLPClassifier(
        hidden_layer_sizes=(int(params["units"]),) * int(params["layers"]),
        activation=params["activation"],
        learning_rate_init=params["learning_rate"],
        batch_size=int(params["batch"]),  # pyright: ignore[reportArgumentType]
        max_iter=EPOCHS,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is stopped early on purpose
        network.fit(X_train, y_train)
    is_wrong = network.predict(X_test) != y_test
    weights = sum(each.size for each in (*network.coefs_, *network.intercepts_))
    return {
        "error": float(is_wrong.mean()),
        "worst_digit": float(max(is_wrong[y_test == digit].mean() for digit in range(10))),
        "size_kB": 4 * weights / 1000,
    }


def truth(params: dict[str, Any], repeats: int = 10) -> dict[str, float]:
    """What the measurements are on average."""
    each = [train(params, seed=10_000 + i) for i in range(repeats)]
    return {name: float(np.mean([values[name] for values in each])) for name in each[0]}
