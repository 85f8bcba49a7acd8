"""`python -m benchmarks.speed`: CPU seconds and memory of an ask, of PESC and of its peers, on the same data.

One thread; the median of seven data sets, one from 1,000 measurements on, after one that is not counted. Each rule has
a process of its own at each size, and they take turns, lest a busy machine slow down one alone. Asks of PESC are not
the first of their study. `--quick` leaves out the large sizes; by which powers of N, d and K the time grows is printed
below. With `--json` the file is written as it goes.
"""

import argparse
import importlib.util
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from statistics import linear_regression, median
from tempfile import TemporaryFile

from rich.table import Table

from benchmarks.ask_pesky import PARTS
from benchmarks.case import BATCHES, CASES, LARGER, LARGEST, SERIES, Case
from benchmarks.provenance import provenance
from benchmarks.report import build_table, console, progress_bar, write_json

RULES = {
    "pesc": "PESC",
    "ep": "PESC by EP",
    "batch": "PESC, 8 at once",
    "batch50": "PESC, 50 at once",
    "recommend": "PESC's answer",
    "logei": "BoTorch LogEI",
    "qlognei": "BoTorch qLogNEI",
    "optuna": "Optuna GPSampler",
}


DATA_SETS, MANY = 7, 1000
"""Of each size, one from so many data on: how long a search takes differs by half between them."""


@contextmanager
def process_of(rule: str, case: Case, device: str) -> Iterator[Callable[[int], dict]]:
    """What `benchmarks.timing` measures of each data set, in a one-thread process of its own."""
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    command, environment = [sys.executable, "-m", "benchmarks.timing", rule, str(case), device], os.environ | one_thread
    with TemporaryFile("w+") as errors:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": errors}
        with subprocess.Popen(command, env=environment, text=True, **pipes) as process:
            given, answers = process.stdin, process.stdout
            assert given is not None
            assert answers is not None

            def ask(seed: int) -> dict:
                with suppress(BrokenPipeError):  # of one that has failed by now
                    print(seed, file=given, flush=True)
                if answer := answers.readline():
                    return json.loads(answer)
                process.wait()
                errors.seek(0)
                raise RuntimeError(f"{' '.join(command[1:])} failed:\n{errors.read()}")

            yield ask


def time_at(case: Case, rules: Sequence[str], device: str, done: Callable[[], object]) -> list[dict]:
    """The seconds of the asks of each rule at a size, their median, that of each part, and peak memory.

    `done` is called after every ask.
    """
    answers = {rule: [] for rule in rules}
    with ExitStack() as stack:
        ask = {rule: stack.enter_context(process_of(rule, case, device)) for rule in rules}
        for seed in range(asks_at(case)):
            for rule in rules:
                answers[rule].append(ask[rule](seed))
                done()
    return [_summary(rule, case, own[1:], own[-1]["memory_mb"]) for rule, own in answers.items()]


def asks_at(case: Case) -> int:
    """How many asks each rule has; the first pays for lazy imports and is not counted."""
    return 1 + (DATA_SETS if case.N < MANY else 1)


def _summary(rule: str, case: Case, asks: Sequence[dict], memory: float) -> dict:
    each = [ask["seconds"] for ask in asks]
    split = {part: median(ask["split"][part] for ask in asks) for part in asks[0]["split"]}
    return {"rule": rule, "case": str(case), "seconds": median(each), "each": each, "split": split, "memory_mb": memory}


COMPARED = {"optuna": "/ Optuna", "logei": "/ LogEI", "pesc": "/ PESC"}
"""The rules whose time is a unit."""


def ratios(results: Sequence[dict], result: dict) -> list[str]:
    """The time of an ask over that of each of the compared at the same size; empty where it was not measured."""
    unit = {each["rule"]: each["seconds"] for each in results if each["case"] == result["case"]}
    return [f"{result['seconds'] / unit[rule]:.2f}" if rule in unit else "" for rule in COMPARED]


def tabulate(results: Sequence[dict]) -> Table:
    """One line per size and rule: CPU seconds of an ask, their ratio to peers', those of its parts, and peak memory."""
    lines = []
    for result in results:
        parts = (f"{result['split'][part]:.3f}" if part in result["split"] else "" for part in PARTS)
        label = [result["case"], RULES[result["rule"]]]
        seconds = [f"{result['seconds']:.3f}", *ratios(results, result)]
        lines.append([*label, *seconds, *parts, f"{result['memory_mb']:.0f}"])
    title = f"CPU seconds per ask, one thread, median of {DATA_SETS} data sets, all constrained; size (N, K, d)"
    # Optuna's local searches run one after another, at twice the time, where greenlet is not installed.
    is_batched = importlib.util.find_spec("greenlet") is not None
    caption = "" if is_batched else "Optuna ran without greenlet: install it for its faster batched search."
    return build_table(title, ["size", "rule", "ask", *COMPARED.values(), *PARTS, "peak MB"], lines, caption, labels=2)


FEW = ("ep", "batch", "batch50", "qlognei")
"""Rules that are timed at `BATCHES` alone."""
OWN, COMPARABLE = ("pesc", "recommend"), ("pesc", "recommend", "logei", "optuna")
"""Those that are timed at `LARGEST`, and at `LARGER`."""


def jobs(rules: Sequence[str], cases: Sequence[Case] | None, is_quick: bool) -> dict[Case, list[str]]:
    """What is timed: every rule at each case, or at those where it is interesting and takes no more than a minute."""
    if cases:
        return {case: [*rules] for case in cases}
    wanted = {case: [rule for rule in rules if rule not in FEW or case in BATCHES] for case in CASES}
    for more, interesting in ((LARGER, COMPARABLE), (LARGEST, OWN), (SERIES, ("pesc",))):
        if not is_quick:
            wanted |= {case: [rule for rule in rules if rule in interesting] for case in more}
    return {case: own for case, own in wanted.items() if own}


LEAST = {"N": 100, "d": 1, "K": 1}
"""Sizes below which the time is that of what does not grow."""


def growth(results: Sequence[dict], rule: str) -> dict[str, float]:
    """By which power of N, d or K the time grows, by least squares, where three sizes or more differ in that alone."""
    at = {Case.parse(each["case"]): each["seconds"] for each in results if each["rule"] == rule}
    found = {}
    for name, others in {"N": ("K", "d"), "d": ("N", "K"), "K": ("N", "d")}.items():
        for fixed in dict.fromkeys(tuple(getattr(case, other) for other in others) for case in at):
            sizes = {
                getattr(case, name): seconds
                for case, seconds in at.items()
                if tuple(getattr(case, other) for other in others) == fixed and getattr(case, name) >= LEAST[name]
            }
            if len(sizes) > 2:
                slope = linear_regression([math.log(n) for n in sizes], [math.log(t) for t in sizes.values()]).slope
                same = ", ".join(f"{other} = {value}" for other, value in zip(others, fixed, strict=True))
                found[f"{name} from {min(sizes)} to {max(sizes)}, {same}"] = slope
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures and prints; see `--help`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="write the same as data")
    parser.add_argument("--rules", default=",".join(RULES), help="comma-separated, default %(default)s")
    parser.add_argument("--case", type=Case.parse, action="append", metavar="N,K,d", help="only this size")
    parser.add_argument("--device", default="cpu", help="cuda: where PESC computes; its seconds are then of waiting")
    parser.add_argument("--quick", action="store_true", help="without the large sizes")
    given = parser.parse_args(arguments)
    wanted = jobs(given.rules.split(","), given.case, given.quick)
    results, origin = [], provenance("benchmarks.speed")
    with progress_bar() as bar:
        work = bar.add_task("asking", total=sum(asks_at(case) * len(rules) for case, rules in wanted.items()))
        for case, rules in wanted.items():
            bar.update(work, description=str(case))
            results += time_at(case, rules, given.device, lambda: bar.advance(work))
            write_json(given.json, origin | {"results": results, "growth": growth(results, "pesc")})
    console.print(tabulate(results))
    for size, power in growth(results, "pesc").items():
        console.print(f"An ask grows as {size[0]}^{power:.2f}: {size}")


if __name__ == "__main__":
    main()
