"""`python -m benchmarks.timing RULE N,K,d [DEVICE]`: what one rule needs at one size, of each data set asked for.

Reads their numbers, one a line, and answers each with one JSON object. In a process of its own, so that its resident
memory can be told.
"""

import json
import resource
import sys
from collections.abc import Callable

import torch

from benchmarks.case import Case, Measured, measure
from pesky.numerics.runtime import now

BATCHES = {"batch": 8, "batch50": 50}
"""Questions that are asked for at once."""


def prepare(rule: str, measured: Measured, seed: int, device: str = "cpu") -> Callable[[], dict[str, float] | None]:
    """One ask of `rule`, ready to be timed. Imports only that rule's libraries: they count in its memory."""
    if rule in ("pesc", "ep"):
        from benchmarks.ask_pesky import prepare_pesc

        return prepare_pesc(measured, seed, "pesc-ep" if rule == "ep" else rule, device=device)
    if rule in BATCHES:
        from benchmarks.ask_pesky import prepare_pesc

        return prepare_pesc(measured, seed, "pesc", BATCHES[rule], device)
    if rule == "recommend":
        from benchmarks.ask_pesky import prepare_recommend

        return prepare_recommend(measured, seed, device)
    if rule == "logei":
        from benchmarks.ask_botorch import prepare_logei

        return prepare_logei(measured, seed)
    if rule == "qlognei":
        from benchmarks.ask_botorch import prepare_qlognei

        return prepare_qlognei(measured, seed)
    if rule == "optuna":
        from benchmarks.ask_optuna import prepare_optuna

        return prepare_optuna(measured, seed)
    raise ValueError(f"unknown rule {rule!r}: choose from pesc, ep, batch, batch50, recommend, logei, qlognei, optuna")


def time_ask(rule: str, case: Case, seed: int, device: str = "cpu") -> dict:
    """The seconds of an ask, those of its parts, and peak memory so far.

    CPU seconds; where an accelerator computes, those of waiting for it.
    """
    there = torch.empty(0, device=device)
    ask = prepare(rule, measure(case, seed), seed, device)
    start = now(there)
    split = ask()
    return {"seconds": now(there) - start, "split": split or {}, "memory_mb": peak_memory()}


def peak_memory() -> float:
    """The largest resident memory of this process so far, in MB (Linux counts in kB, macOS in bytes)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for line in sys.stdin:
        print(json.dumps(time_ask(sys.argv[1], Case.parse(sys.argv[2]), int(line), *sys.argv[3:])), flush=True)
