"""Pesky beside the optimizers that others would use, live, on the same problems from the same points."""

from collections.abc import Callable
from functools import partial

from optuna.samplers import GPSampler, TPESampler

from benchmarks.peers.ax_peer import AxPeer
from benchmarks.peers.base import Peer
from benchmarks.peers.botorch_peer import BotorchPeer, logei, qlognei
from benchmarks.peers.optuna_peer import OptunaPeer
from benchmarks.peers.pesky_peer import PeskyPeer
from benchmarks.peers.scbo import Scbo
from pesky.acquire import RULES
from pesky.problem import Problem


def _optuna(sampler: Callable[..., GPSampler | TPESampler], problem: Problem, seed: int, evaluations: int) -> Peer:
    return OptunaPeer(problem, sampler(seed=seed))


OTHERS: dict[str, Callable[[Problem, int, int], Peer]] = {
    "optuna-gp": partial(_optuna, GPSampler),
    "optuna-tpe": partial(_optuna, TPESampler),
    "botorch-logei": partial(BotorchPeer, name="botorch-logei", build=logei),
    "botorch-qlognei": partial(BotorchPeer, name="botorch-qlognei", build=qlognei),
    "scbo": Scbo,
    "ax": AxPeer,
}
PEERS: dict[str, Callable[[Problem, int, int], Peer]] = {
    **{rule: partial(PeskyPeer, rule=rule) for rule in RULES},
    **{f"{rule}-unconfirmed": partial(PeskyPeer, rule=rule, confirm=0) for rule in RULES},
    **{f"{rule}-undeclared": partial(PeskyPeer, rule=rule, is_declared=False) for rule in RULES},
    **OTHERS,
}
"""By name: what starts an optimizer, given the problem, the seed, and how many points are going to be measured.

A ProblemError where it cannot take the problem, and a PeskyError where it is not installed."""
