"""Our gains on the grid of an oracle."""

from collections.abc import Sequence
from dataclasses import fields, replace

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from benchmarks.oracle import Dataset, KnownRow
from pesky.acquire import RULES, BotorchAcquisition, EntropySearchByEP, PredictiveEntropySearch, Rule
from pesky.model import GaussianProcess, Hyperparameters

COMPARABLE = [name for name, rule in RULES.items() if rule.measures == "each" and rule.in_nats and name != "pes"]
"""The rules that say how much each row tells, so that brute force can be asked whether it is true."""


PESC = {"default": PredictiveEntropySearch(), "ep": EntropySearchByEP(), "paper": EntropySearchByEP.paper()}
"""By joint samples, by expectation propagation, and by that as published."""


def gain_curves(dataset: Dataset, grid: Float[Tensor, "n d"], rule: Rule, seed: int) -> Float[Tensor, "J n"]:
    """The gain of measuring each row at each point of the grid, computed on its device, hyperparameters known."""
    with torch.no_grad():
        return BotorchAcquisition(move(belief_of(dataset.rows), grid.device), rule, seed=seed).gains(grid).mT


def named(name: str, samples: int | None = None) -> Rule:
    """PESC with the options of this name, or else the rule of this name; with so many samples, if not its own.

    "ep, polish 20" are the options "ep" with draws that are minimized by 20 steps.
    """
    name, _, steps = name.partition(", polish ")
    if name in PESC:
        rule = PESC[name] if not steps else replace(PESC[name], polish_steps=int(steps))
        return rule if samples is None or isinstance(rule, PredictiveEntropySearch) else replace(rule, samples=samples)
    return RULES[name]() if samples is None else with_samples(RULES[name](), samples)


def with_samples(rule: Rule, samples: int) -> Rule:
    """The rule with so many samples, of whichever kind it takes."""
    known = [field.name for field in fields(rule)]  # pyright: ignore[reportArgumentType] (every rule is a dataclass)
    if "samples" not in known:
        raise SystemExit(f"the rule {rule.name!r} has no number of samples: leave --samples out")
    return replace(rule, samples=samples)  # pyright: ignore[reportArgumentType, reportCallIssue]


def belief_of(rows: Sequence[KnownRow]) -> GaussianProcess:
    """The belief of someone who knows the hyperparameters."""
    d = rows[0].X.shape[-1]

    def column(values: list[float]) -> Float[Tensor, " J"]:
        return torch.tensor(values, dtype=torch.float64)

    known = Hyperparameters(
        column([row.lengthscale for row in rows])[:, None].expand(-1, d),
        column([row.amplitude for row in rows]),
        column([row.noise for row in rows]),
        torch.zeros(len(rows), dtype=torch.float64),
    )
    return GaussianProcess(
        "se",
        pad_sequence([row.X for row in rows], batch_first=True),
        pad_sequence([row.y for row in rows], batch_first=True),
        pad_sequence([torch.ones(len(row.y), dtype=torch.bool) for row in rows], batch_first=True),
        known,
    )


def move(belief: GaussianProcess, device: torch.device | str) -> GaussianProcess:
    """The same belief on another device."""
    h = Hyperparameters(*(part.to(device) for part in belief.hyperparameters))
    X, y, mask = (part.to(device) for part in (belief.X, belief.y, belief.mask))
    return replace(belief, X=X, y=y, mask=mask, hyperparameters=h)
