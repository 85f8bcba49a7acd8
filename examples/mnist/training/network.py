"""A network of three hidden layers, its training by stochastic gradient descent with momentum, and its error."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from .images import Images

PIXELS, DIGITS, BATCH = 784, 10, 100
WARM_UP = 0.5
"""The share of the training during which the momentum goes from its first to its last value."""


@dataclass(frozen=True)
class Settings:
    """The twelve parameters of the paper."""

    learning_rate: float
    decay: float
    """The learning rate is divided by 1 + decay * iteration."""
    initial_momentum: float
    final_momentum: float
    input_dropout: float
    dropout: float
    weight_decay: float
    largest_norm: float
    """Of the weights that lead into one unit."""
    units1: int
    units2: int
    units3: int
    activation: str

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> "Settings":
        """The settings that a study asks for."""
        return cls(**{name: params[name] for name in cls.__dataclass_fields__})

    @property
    def sizes(self) -> tuple[int, ...]:
        """Units of all layers, from the pixels to the digits."""
        return PIXELS, int(self.units1), int(self.units2), int(self.units3), DIGITS


class Network:
    """Weights and biases; `logits` are what it makes of images."""

    def __init__(self, settings: Settings, rng: torch.Generator) -> None:
        self.settings = settings
        self.activate = {"relu": torch.relu, "sigmoid": torch.sigmoid}[settings.activation]
        # He et al. (2015); and Glorot and Bengio (2010): a sigmoid, four times as flat as tanh, needs 4 squared
        gain = 2.0 if settings.activation == "relu" else 16.0
        pairs = list(zip(settings.sizes[:-1], settings.sizes[1:], strict=True))
        kind = {"device": rng.device, "dtype": torch.float32}  # whatever the default is: networks need no more
        self.weights = [
            torch.randn(n, m, generator=rng, **kind).mul_((gain / n) ** 0.5).requires_grad_() for n, m in pairs
        ]
        self.biases = [torch.zeros(m, **kind, requires_grad=True) for _, m in pairs]
        self.parameters = [*self.weights, *self.biases]
        self.velocities = [torch.zeros_like(each) for each in self.parameters]

    def logits(self, X: Tensor, rng: torch.Generator | None = None) -> Tensor:
        """(n, 784) -> (n, 10); with random numbers, units are dropped as in training."""
        h = self._dropped(X, self.settings.input_dropout, rng)
        for W, b in zip(self.weights[:-1], self.biases[:-1], strict=True):
            h = self._dropped(self.activate(torch.addmm(b, h, W)), self.settings.dropout, rng)
        return torch.addmm(self.biases[-1], h, self.weights[-1])

    @staticmethod
    def _dropped(h: Tensor, share: float, rng: torch.Generator | None) -> Tensor:
        if rng is None or share == 0:
            return h
        return h * (torch.rand(h.shape, generator=rng, device=h.device, dtype=h.dtype) >= share) / (1 - share)

    def step(self, X: Tensor, y: Tensor, progress: float, iteration: int, rng: torch.Generator | None = None) -> None:
        """One step on a batch: velocity = momentum * velocity - rate * gradient, with the decay of weights in it.

        `progress` is the share of the training that is over. Weights longer than the largest norm are then shortened.
        """
        s = self.settings
        momentum = s.initial_momentum + min(1.0, progress / WARM_UP) * (s.final_momentum - s.initial_momentum)
        rate = s.learning_rate / (1 + s.decay * iteration)
        loss = functional.cross_entropy(self.logits(X, rng), y)
        gradients = torch.autograd.grad(loss, self.parameters)
        with torch.no_grad():
            for n, (each, v, g) in enumerate(zip(self.parameters, self.velocities, gradients, strict=True)):
                is_weight = n < len(self.weights)
                v.mul_(momentum).sub_(g + s.weight_decay * each if is_weight else g, alpha=rate)
                each.add_(v)
                if is_weight:
                    each.mul_((s.largest_norm / each.norm(dim=0).clamp(min=1e-12)).clamp(max=1.0))

    def error(self, X: Tensor, y: Tensor) -> float:
        """The share of images that it reads wrongly."""
        with torch.no_grad():
            return float((self.logits(X).argmax(1) != y).float().mean())


def trained(settings: Settings, images: Images, iterations: int, rng: torch.Generator) -> Network:
    """The network after so many steps, each on a batch of 100 that is drawn with replacement."""
    network = Network(settings, rng)
    for i in range(iterations):
        batch = torch.randint(len(images.y), (BATCH,), generator=rng, device=rng.device)
        network.step(images.X[batch], images.y[batch], i / iterations, i, rng)
    return network
